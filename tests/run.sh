#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/run.sh [unit|cli|model|lint|fuzz|sanitize|crash|torture|vm|FILE]…: runs the tests, all kinds by default, two files
# at a time, and ends with the line "N passed, N failed, N skipped". A test file is a program that prints "ok NAME", "not ok NAME" or
# "ok NAME # SKIP reason" a check (TAP, whose numbers and plan may be missing); "# " lines explain. One that exits
# non-zero without a "not ok", says nothing, or is still there after LIMIT seconds (vm: three times that) has failed. What a
# file printed is kept in build/tests/log/.
set -u
cd "$(dirname "$0")/.." || exit 1

build=$(realpath -m "${BUILD:-build}")
export BUILD=$build LIMIT=${LIMIT:-900} JOBS=${JOBS:-2} CMOCKA_MESSAGE_OUTPUT=TAP
log=$build/tests/log

files_of()
{
	case $1 in
	unit) for source in tests/unit/*.c; do echo "$build/${source%.c}"; done ;;
	cli) ls tests/cli/[0-9]*.sh ;;
	model | crash | torture | vm | fuzz | sanitize) ls tests/"$1"/run.sh ;;
	lint) ls tests/lint/*.sh ;;
	*) echo "$1" ;;
	esac 2>/dev/null
}

# shellcheck disable=SC2317 # xargs calls it
# Runs the file $1; leaves what it printed and a line "# exit CODE" in the log, and prints the verdict.
run_file()
{
	local file=${1#"$build/"} started=$SECONDS code
	local kept=$log/${file//\//-} limit=$LIMIT
	[[ $1 != tests/vm/* ]] || limit=$((3 * LIMIT)) # one file for all scenes

	{ timeout -k 20 "$limit" "$1" </dev/null; } >"$kept" 2>&1
	code=$?
	[ "$code" -ne 124 ] || echo "not ok $file is still there after $limit s" >>"$kept"
	echo "# exit $code after $((SECONDS - started)) s" >>"$kept"
	awk -v file="$file" -v code="$code" -f tests/count.awk "$kept"
}
export -f run_file
export build log

rm -rf "$log"
mkdir -p "$log"
[ $# -gt 0 ] || set -- unit lint model fuzz sanitize cli crash torture vm
for kind; do files_of "$kind"; done |
	xargs -r -d '\n' -I FILE -P "$JOBS" bash -c "run_file 'FILE'" | tee "$log/summary" | sed -u '/^COUNT /d'

awk '/^COUNT / { passed += $2; failed += $3; skipped += $4 }
     END {
	if (!passed && !failed)
		failed = 1
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0
     }' "$log/summary" | tee "$log/verdict"
exit "${PIPESTATUS[0]}"
