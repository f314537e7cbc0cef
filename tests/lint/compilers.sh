#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gcc's analyser and its warnings at -O2 find nothing in the sources, and the stripped binary stays small. The bar of 400 kB,
# which it was under before cards had lanes and services stood by, is the benchmark's; here it must not grow unseen.
# What clang says is in analysers.sh.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
bad=0

# malloc-leak takes a list that owns its texts, and a struct that is handed over, for leaks; LeakSanitizer looks for those.
if ! command -v gcc >/dev/null; then
	echo "ok no warning under gcc # SKIP no gcc here"
elif text=$(make -s -k -j2 CC=gcc BUILD="$build/by-gcc" CFLAGS="-O2 -fanalyzer -Wno-analyzer-malloc-leak" all 2>&1); then
	echo "ok no warning under gcc, and its analyser finds nothing"
else
	echo "not ok no warning under gcc, and its analyser finds nothing"
	printf '%s\n' "$text" | grep -E 'error|warning|undefined|\*\*\*' | head -n 20 | sed 's/^/# /'
	bad=1
fi

# Without libc: what is counted is our own.
if [ -x "$build/shared/pgpu" ]; then
	strip -o "$build/pgpu.stripped" "$build/shared/pgpu"
	size=$(stat -c %s "$build/pgpu.stripped")
	# Who makes it larger says so, by a line of that file in the same change. What it is to be is a row of the benchmark.
	known=$(sed '/^#/d' tests/lint/binary-size)
	[ "$size" -le $((known + known / 50)) ] || { printf 'not '; bad=1; }
	echo "ok the stripped binary is not larger than on record: $size bytes, $known on record"
fi
exit $bad
