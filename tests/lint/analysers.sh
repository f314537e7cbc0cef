#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/lint/analysers.sh [all]: clang's warnings, clang-tidy (.clang-tidy says which checks) and cppcheck find nothing.
# With `all`, for `make analyse`, also clang's static analyser, which takes minutes; gcc's is in compilers.sh.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
bad=0
shipped=(conf/base/*.c conf/*.c submit/*.c runner/*.c runner/*/*.c)
tests=(tests/unit/*.c tests/fuzz/*.c tests/sanitize/*.c tests/bench/*.c)
flags=(-std=c17 -D_GNU_SOURCE -I. -Wall -Wextra)
mkdir -p "$build"

# verdict NAME CODE FILE: FILE holds what the tool printed.
verdict()
{
	if [ "$2" -eq 0 ]; then
		echo "ok $1"
	else
		echo "not ok $1"
		grep -E 'error|warning' "$3" | sort -u | head -n 20 | sed 's/^/# /'
		bad=1
	fi
}

if command -v clang >/dev/null; then
	printf '%s\n' "${tests[@]}" | xargs -P 2 -n 12 clang -fsyntax-only "${flags[@]}" -DREPORTS='""' -DREAL='""' -Werror >"$build/clang.log" 2>&1
	verdict "no warning under clang in the tests' sources" $? "$build/clang.log"
else
	echo "ok no warning under clang # SKIP no clang here"
fi

if command -v clang-tidy >/dev/null; then
	less=(--checks='-clang-analyzer-*')
	[ "${1:-}" != all ] || less=()
	printf '%s\n' "${shipped[@]}" | xargs -P 2 -I FILE clang-tidy --quiet "${less[@]}" FILE -- "${flags[@]}" >"$build/tidy.log" 2>/dev/null
	verdict "clang-tidy and clang's warnings find nothing" $? "$build/tidy.log"
else
	echo "ok clang-tidy finds nothing # SKIP no clang-tidy here"
fi

# memleak knows no cleanup by scope (conf/base/scope.h), and LeakSanitizer looks for leaks; the next two take a number that
# fmt_read() sets, and a text that a loop fills, for ones that nobody did.
if command -v cppcheck >/dev/null; then
	cppcheck -j 2 -q --std=c11 -D_GNU_SOURCE -I. --inline-suppr --enable=warning,performance,portability --error-exitcode=1 \
		--template='{file}:{line}: {severity}: {id}: {message}' --suppress=memleak --suppress=uninitvar \
		--suppress=legacyUninitvar conf submit runner >"$build/cppcheck.log" 2>&1
	verdict "cppcheck finds nothing" $? "$build/cppcheck.log"
else
	echo "ok cppcheck finds nothing # SKIP no cppcheck here"
fi
exit $bad
