#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `make demo` renders the strip, names what it made, and leaves nothing running, also when it is broken off.
. "$(dirname "$0")/lib.sh"
if ! command -v povray >/dev/null; then
	skip "the demo renders the strip" "no povray here"
	finish
fi

export TMPDIR=$SANDBOX/tmp
mkdir "$TMPDIR"

# shellcheck disable=SC2317 # until_true calls it
# Fails while there is a process of a demo's sandbox, or the sandbox itself.
nothing_left() { ! grep -qsF "$TMPDIR/pgpu-demo." /proc/[0-9]*/environ && [ -z "$(ls "$TMPDIR")" ]; }

mkdir build && ln -s "$BUILD/pgpu" build/pgpu
exits 0 "the demo runs" env BUILD="$PWD/build" "$REPO/examples/demo.sh"
matches "shows the queue" 'PD' "$(cat "$out")"
matches "tells how far it is" '24 of 24 frames' "$(cat "$out")"
lacks "without control codes where there is no terminal" $'[\r\e]' "$(cat "$out")"
equals "has rendered all" 24 "$(find build/demo/frames -name 'strip*.png' -size +1k | wc -l)"
equals "and the preview" 1 "$(find build/demo -name 'preview12.png' -size +1k | wc -l)"
matches "names the pictures" "$PWD/build/demo/frames/strip01.png" "$(cat "$out")"
matches "names the log" "$PWD/build/demo/log.tsv, 9 jobs" "$(cat "$out")"
equals "the log has a line for each job" 9 "$(grep -c completed build/demo/log.tsv)"
until_true nothing_left && ok "and nothing of it is left"

mkfifo words
BUILD="$PWD/build" "${typed[@]}" setsid "$REPO/examples/demo.sh" >words 2>&1 &
exec 9<words
grep -m 1 '^8 of 24' <&9
kill -INT -- -$!
wait $!
equals "broken off by Ctrl-C it says so" 130 $?
until_true nothing_left && ok "and nothing of it is left either"
finish
