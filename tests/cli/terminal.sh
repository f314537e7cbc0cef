# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# More words, for tests of `pgpu run` in a terminal, in front of an interactive shell; terminal.py is the terminal.
# shellcheck disable=SC2034 # the tests use them

open_terminal()
{
	coproc TERMINAL { exec python3 "$REPO/tests/cli/terminal.py"; }
	terminal_in=${TERMINAL[1]} terminal_out=${TERMINAL[0]} terminal=$TERMINAL_PID
}

ask()
{
	printf '%s\n' "$*" >&"$terminal_in"
	answer=no
	IFS= read -r answer <&"$terminal_out"
}

# types COMMAND, at the shell's next prompt; enters LINE, for the job.
types() { sees 'ready> ' && enters "$*"; }
enters() { ask type "$*"; }
press() { ask key "$1"; }
Ctrl_C='\x03' Ctrl_Z='\x1a' Ctrl_Backslash='\x1c'

# sees REGEX: what the terminal shows next; $answer is its first group.
sees()
{
	ask show "$1"
	# After that nothing would make sense.
	[[ $answer = yes* ]] || { not_ok "the terminal shows $1" "$answer"$'\n'"$(pgpu queue 2>&1)"; finish; }
	answer=${answer#yes }
}

# ends CODE NAME: the command that was typed with `; code` ends with it.
code='; echo code=$?'
ends()
{
	sees 'code=(\d+)' || answer=
	equals "$2" "$1" "$answer"
}

hang_up()
{
	ask hangup
	eval "exec $terminal_in>&-"
	wait "$terminal"
}

# The wrapper of the job with that name, and its state letter in /proc.
wrapper()
{
	local file
	# shellcheck disable=SC2013 # paths below /proc
	for file in $(grep -slzx -- "$1" /proc/[0-9]*/cmdline); do
		grep -qsF "$SANDBOX/" "${file%cmdline}environ" || continue # another run of this test
		[ "$(cat "${file%cmdline}comm" 2>/dev/null)" = pgpu ] && file=${file#/proc/} && echo "${file%/*}"
	done
}
process_state() { sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null; }
in_state() { [ "$(process_state "$1")" = "$2" ]; }
state_of() { pgpu queue --all --json | python3 -c 'import json, sys
print(*[job["state"] for job in sorted(json.load(sys.stdin), key=lambda job: int(job["id"])) if job["name"] == sys.argv[1]][-1:])' "$1"; }
shows_state() { [ "$(state_of "$1")" = "$2" ]; }
names_in_line() { pgpu queue --json | python3 -c 'import json, sys
print(*[job["name"] for job in json.load(sys.stdin) if job["state"] == "pending"])'; }

id_of() { pgpu queue --json | python3 -c 'import json, sys
print(*[job["id"] for job in json.load(sys.stdin) if job["name"] == sys.argv[1]])' "$1"; }

# rows NAME: the outcomes of its holds and their exit codes, in order.
rows() { find "$XDG_STATE_HOME" -name log.tsv -exec awk -F '\t' -v name="$1" '$6 == name { print $15 ":" $14 }' {} + | paste -sd ' '; }
has_rows() { [ "$(rows "$1")" = "$2" ]; }

# hold_lane NAME: takes the only lane from outside of the terminal; let_go NAME gives it up.
hold_lane()
{
	pgpu run -q --name "$1" -- sh -c "$(gate "$1")" & held=$!
	reached "$1"
}
let_go() { open_gate "$1"; wait "$held"; }

# A job that counts: `step` asks it for the next number, `step end` for its last. Open for both ends and on our side too, so
# that nobody meets an end of file and nothing that was written is lost.
mkfifo ask said
exec 7<>ask 8<>said
counts="exec 3<>$PWD/ask 4<>$PWD/said; n=0; echo begun; while read -r w <&3; do n=\$((n + 1)); echo \$n >&4; [ \"\$w\" != end ] || exit \$((50 + n)); done"
step()
{
	local said
	echo "${1:-on}" >&7
	IFS= read -r -t 60 said <&8
	echo "$said"
}
