#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A job that hangs before its exec, on a file system that does not answer, keeps no lock of a wrapper that is killed.
# Without a cell it has no mark yet by which it would be found: it is killed with its wrapper.
. "$(dirname "$0")/lib.sh"

mkdir "$SANDBOX/hung"
mkfifo "$SANDBOX/said" "$SANDBOX/end"
python3 "$REPO/tests/cli/hang.py" "$SANDBOX/hung" <"$SANDBOX/end" >"$SANDBOX/said" 2>"$SANDBOX/why" &
exec 9>"$SANDBOX/end"
if ! timeout 30 grep -q hung "$SANDBOX/said"; then
	skip "a wrapper is killed while its child hangs before exec" "no file system can be mounted: $(cat "$SANDBOX/why")"
	finish
fi

# is_held PID: its only child has not become the command.
# shellcheck disable=SC2317 # until_true calls it
is_held() { local child; child=$(pgrep -P "$1") && [ "$(cat "/proc/$child/comm")" = pgpu ]; }

# kill_wrapper: of a job that hangs, which is $child.
kill_wrapper()
{
	local wrapper
	pgpu run -q -- "$SANDBOX/hung/command" 9>&- &
	wrapper=$!
	until_true is_held $wrapper
	child=$(pgrep -P $wrapper)
	kill -KILL $wrapper
	wait $wrapper 2>/dev/null
	exits 0 "$1: the lane of a wrapper that was killed is free, though its child hangs" timeout 60 pgpu run -q -- true
	equals "$1: no lane is held" "$(printf '0 null\n')" \
		"$(pgpu status --json | python3 -c 'import json, sys; [print(lane["lane"], lane["job"] or "null") for lane in json.load(sys.stdin)["lanes"]]')"
}

conf $'lanes = 1\ncells = "off"'
kill_wrapper "no cell"
until_true eval "! alive $child"
ok "no cell: the child is gone with its wrapper, and begins nothing later"

conf 'lanes = 1'
kill_wrapper "a cell"
exec 9>&-
until_true eval "! alive $child"
ok "a cell: the child is gone when the file system is"
finish
