#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Limits of the caller's that leave pgpu too little: it does its work all the same, or says in one line that it cannot.
. "$(dirname "$0")/lib.sh"

if [ -n "$sanitizer" ]; then
	skip "scant limits" "$sanitizer needs descriptors and files of its own"
	finish
fi
queue=$(echo "$XDG_STATE_HOME"/pgpu/*)

# The limit is the job's files': the log may well be longer.
row=$(tail -n 1 "$queue/log.tsv")
for _ in {1..200}; do printf '%s\n' "$row"; done >>"$queue/log.tsv"
exits 3 "a log longer than files may be does not end a run" prlimit --fsize=8192 pgpu run -- sh -c 'exit 3'
matches "it is said that the row is missing" '^pgpu: cannot write log.tsv: File too large$' "$(cat "$err")"
exits 153 "a job is still ended by its own" prlimit --fsize=8192 pgpu run -q -- dd if=/dev/zero of=long bs=9000 count=1
exits 153 "and a spooled one" prlimit --fsize=8192 pgpu submit -q -W -- dd if=/dev/zero of=long bs=9000 count=2
exits 153 "a run inside a job too" prlimit --fsize=8192 pgpu run -q -- pgpu run -- dd if=/dev/zero of=long bs=9000 count=2
for trapped in true 'trap "" XFSZ'; do
	sh -c "$trapped; exec grep ^SigIgn /proc/self/status" >before
	sh -c "$trapped; exec pgpu run -- grep ^SigIgn /proc/self/status" >during
	same_bytes "a run's job has it as the caller: $trapped" before during
done
exits 125 "no room in a lane's file" prlimit --fsize=100 pgpu run -q -- true
matches "is told for what it is" '^pgpu: cannot write lane or ticket: No space left on device$' "$(cat "$err")"
exits 0 "and is nobody else's" pgpu run -q -- true

# Each number of descriptors: an end, and one line at least where it is not done.
for ((files = 4; files <= 16; files++)); do
	code=0
	prlimit --nofile=$files:$files timeout 20 pgpu submit -q -H -- true >"$out" 2>"$err" || code=$?
	case $code in
	0) matches "a submit with $files descriptors says its id" '^[0-9]+$' "$(cat "$out")" ;;
	*) matches "a submit with $files descriptors says what is wrong" '^[12] pgpu: .*Too many open files$' "$code $(cat "$err")" ;;
	esac
done
finish
