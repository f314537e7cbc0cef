#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/crash/run.sh [SCENE…]: each operation of the queue, killed at its system calls, and given the errors they can have;
# README.md is the manual. EVERY=1 tries each point, the default a part of them that fits into the suite; two scenes at a
# time where JOBS=2.
# shellcheck disable=SC2317 # xargs calls play
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath -m "${BUILD:-build}")
export build EVERY=${EVERY:-43}

if ! strace -o /dev/null true 2>/dev/null; then
	echo "ok operations are broken off at their system calls # SKIP strace cannot trace here"
	exit 0
fi

# An error is tried at fewer calls than a kill: a call has three of them.
play()
{
	local mode=$1 scene=$2 every=$EVERY
	[ "$mode" = kill ] || every=$((EVERY * 2 - 1))
	python3 tests/crash/crash.py --mode "$mode" --every "$every" "$build" "$scene"
}
export -f play

[ $# -gt 0 ] || mapfile -t all < <(python3 tests/crash/crash.py --list "$build")
for mode in kill error; do
	printf "$mode %s\n" "${@:-${all[@]}}"
done | xargs -P "${JOBS_CRASH:-1}" -L 1 bash -c 'play "$0" "$1"'
