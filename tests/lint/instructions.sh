#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How many instructions of its own a start takes, and one election over 100,000 jobs, as valgrind's callgrind counts them:
# unlike times they are the same on a busy machine. What they are to be stands in the file beside this one.
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath -m "${BUILD:-build}")
record=tests/lint/instructions
bad=0

known() { awk -v name="$1" '$1 == name { print $2 }' $record; }
none() { echo "ok instructions of a start and of an election # SKIP $1"; exit 0; }
command -v valgrind >/dev/null || none "no valgrind here"
compiler=$(gcc -dumpfullversion 2>/dev/null)
[ "$compiler" = "$(known compiler)" ] || none "the record is of gcc $(known compiler), and this is ${compiler:-none}"
for program in shared/pgpu tests/unit/elect; do
	[ -x "$build/$program" ] || none "$program is not built"
done

box=$(mktemp -d /tmp/pgpu-count.XXXXXX) || exit 1
trap 'rm -rf "$box"' EXIT
mkdir -p "$box/state" "$box/run" "$box/config/pgpu" && chmod 700 "$box/run" && echo 'cells = "off"' >"$box/config/pgpu/pgpu.conf"
boxed()
{
	env -i PATH=/usr/bin:/bin HOME="$box" XDG_STATE_HOME="$box/state" XDG_RUNTIME_DIR="$box/run" \
		XDG_CONFIG_HOME="$box/config" "$@"
}

# count NAME COMMAND…: the instructions in COMMAND's own file, against the record.
count()
{
	local name=$1 found
	shift
	boxed valgrind -q --tool=callgrind --callgrind-out-file="$box/$name" "$@" >"$box/said" 2>&1 ||
		{ echo "not ok $name under callgrind"; sed 's/^/# /' "$box/said"; bad=1; return; }
	found=$(callgrind_annotate --threshold=100 "$box/$name" |
		awk -v file="/${1##*/}]" 'substr($0, length($0) - length(file) + 1) == file { gsub(",", "", $1); n += $1 } END { print n + 0 }')
	{ [ "$found" -gt 0 ] && [ "$found" -le $(($(known "$name") * 105 / 100)) ]; } || { printf 'not '; bad=1; }
	echo "ok $name: $found instructions, $(known "$name") on record"
}

# The one that is linked with libc: what is counted is our own.
boxed "$build/shared/pgpu" run -q -- /bin/true
count start "$build/shared/pgpu" run -q -- /bin/true
count election "$build/tests/unit/elect" long
exit $bad
