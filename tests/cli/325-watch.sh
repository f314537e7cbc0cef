#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# queue --watch: what is on the page, what keys do, and that the terminal is as it was on every way out.
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"
. "$REPO/tests/cli/terminal.sh"
unset COLUMNS
conf 'lanes = 1'

# shown REGEX, marked REGEX: on the page, of the chosen line; $answer is the first group.
shown()
{
	ask page "$1"
	[[ $answer = yes* ]] || { not_ok "the page shows $1" "${answer//\\n/$'\n'}"; finish; }
	answer=${answer#yes }
}
marked()
{
	ask chosen "$1"
	[[ $answer = yes* ]] || { not_ok "the chosen line is $1" "$answer"; finish; }
}
# An output is followed.
follows()
{
	local file
	# shellcheck disable=SC2013 # paths below /proc
	for file in $(grep -slzx -- output /proc/[0-9]*/cmdline); do
		grep -qsF "$SANDBOX/" "${file%cmdline}environ" && return 0
	done
	return 1
}
up='\x1b[A' down='\x1b[B'

# --- what is no terminal ---
exits 1 "without a terminal there is nothing to watch" pgpu queue --watch
equals "which is said in one line" 'pgpu: cannot watch the queue: standard output is no terminal' "$(cat "$err")"
exits 1 "nor without keys" python3 "$REPO/tests/cli/wide.py" 80 sh -c 'pgpu queue --watch </dev/null'
matches "that is said" 'standard input is no terminal' "$(cat "$out")"
exits 1 "nor on a terminal that is none" env TERM=dumb python3 "$REPO/tests/cli/wide.py" 80 pgpu queue --watch
exits 2 "--watch and --json" pgpu queue --watch --json
exits 2 "--every alone" pgpu queue --every 5s
exits 2 "--every 10ms" pgpu queue --watch --every 0.01s

# --- the page follows the queue ---
open_terminal
ask size 12 100
types "stty -a | cksum; export TERM=xterm"
sees '^([0-9]+ [0-9]+)'
mode=$answer
types "pgpu queue --watch --every 1h$code"
shown '^nothing runs, and nothing waits$'
shown '^arrows choose .* q quit$'
ok "an empty queue says so, and the last line names the keys"
pgpu submit -q -J first -- sh -c "$(gate a)" >ids
first=$(cat ids)
reached a
shown "^ *$first R .* first .* on lane 0"
ok "a job that starts is there at once"
second=$(pgpu submit -q -J second -- true)
third=$(pgpu submit -q -J third -- true)
shown "^ *$third PD .* third "
marked "^ *$first R "
ok "the first is chosen"
ask key "$down"
marked "^ *$second PD "
ask key "$up"
ask key "$up"
marked "^ *$first R "
ok "arrows choose another, and stop at the ends"
# It draws anew after a change that shows nowhere: wakes, waits a little for more, and sleeps again.
pid=
# shellcheck disable=SC2013 # paths below /proc
for file in $(grep -slzx -- --watch /proc/[0-9]*/cmdline); do
	grep -qsF "$SANDBOX/" "${file%cmdline}environ" && pid=$(basename "${file%/cmdline}")
done
switches() { awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$pid/status"; }
has_drawn() { [ "$(switches)" -ge $((before + 2)) ] && grep -q '^State:.S' "/proc/$pid/status"; }
ask bytes
before=$(switches)
pending=$(echo "$XDG_STATE_HOME"/pgpu/*/pending)
touch "$pending/.nothing" && rm "$pending/.nothing"
until_true has_drawn
ask bytes
equals "when nothing changes nothing is written" 0 "$answer"

# --- keys ---
ask key "$down"
marked "^ *$second PD "
ask key h
shown "^job $second is held$"
matches "h holds" '"reason":"held"' "$(pgpu show --json "$second")"
shown "^ *$second PD .*pgpu release $second lets it go"
marked "^ *$second PD "
ok "the chosen job stays chosen where it moves"
ask key r
shown "^job $second is released$"
matches "r releases" '"reason":"lane"' "$(pgpu show --json "$second")"
ask key h
shown "^job $second is held$"
pgpu release "$second"
ask key r
shown "^pgpu: cannot release job $second: .*|^job $second is released"
ok "what came of it is the last line"
shown "^ *$second PD .*lanes busy.*\n *$third PD "
ask key '\x1b[F'
marked "^ *$third PD "
ask key c
shown "^cancel job $third\\? y: yes, any other key: no$"
ask key n
shown "^job $third is left as it is$"
equals "c asks first" pending "$(state_of third)"
ask key c
shown "^cancel job $third\\?"
ask key y
shown "^job $third is cancelled$"
equals "and then cancels" cancelled "$(state_of third)"
marked "^ *$second PD "
ok "the one beside it is chosen then"

# --- sizes ---
ask size 6 40
shown "^ *$first R .*(\n.*)*\njob $third is cancelled\$"
marked "^ *$second PD"
ok "another size is another page"
mapfile -t many < <(for n in $(seq 1 20); do pgpu submit -q -H -J "many$n" -- true; done)
ask size 40 100
shown ' many20 '
ask size 6 40
shown "^job $third is cancelled\$"
ask key '\x1b[F'
marked "^ *${many[19]} PD"
lacks "longer than the screen, it scrolls" " $first R" "$(ask page . ; echo "$answer")"
ask key '\x1b[H'
marked "^ *$first R"
ask size 24 100
shown " many5 "

# --- output ---
ask key o
shown 'Enter: back|^$'
press "$Ctrl_C"
shown '\[Enter: back to the queue\]'
ask size 20 90
ask size 24 100
ask key '\n'
marked "^ *$first R"
ok "o shows the output, Ctrl-C and Enter lead back"

# --- ways out ---
# same_mode NAME: at the shell's prompt.
same_mode()
{
	types "stty -a | cksum"
	sees '^([0-9]+ [0-9]+)'
	equals "$1: the terminal's mode is as it was" "$mode" "$answer"
}
ask key q
ends 0 "q leaves"
shown 'code=0'
lacks "and the page is gone" ' many5 ' "$(ask page . ; echo "$answer")"
ask size 12 100
same_mode "q"
# An interactive shell would mend the mode itself: below another one that does not.
for pair in "INT 130" "QUIT 131" "TERM 143" "HUP 129"; do
	read -r signal wanted <<<"$pair"
	types "sh -c 'trap : INT; pgpu queue --watch; echo code=\$?; stty -a | cksum'"
	shown '^arrows choose'
	if [ "$signal" = INT ]; then press "$Ctrl_C"; else kill -"$signal" "$(wrapper --watch | head -n 1)"; fi
	ends "$wanted" "SIG$signal ends it"
	sees '^([0-9]+ [0-9]+)'
	equals "SIG$signal: the terminal's mode is as it was" "$mode" "$answer"
done
types "sh -c 'pgpu queue --watch; echo code=\$?; stty -a | cksum'"
shown '^arrows choose'
ask key o
until_true follows
kill -TERM "$(wrapper --watch | head -n 1)"
ends 143 "SIGTERM ends it below an output that is followed"
sees '^([0-9]+ [0-9]+)'
equals "the terminal's mode is as it was then, too" "$mode" "$answer"
types "pgpu queue --watch$code"
shown '^arrows choose'
ask key o
until_true follows
press "$Ctrl_Z"
sees 'Stopped'
same_mode "Ctrl-Z while an output is followed"
types "fg$code"
until_true follows
press "$Ctrl_C"
shown 'Enter: back'
ask key '\n'
marked "^ *$first R"
ask key q
ends 0 "fg goes on with it"
types "pgpu queue --watch$code"
shown '^arrows choose'
press "$Ctrl_Z"
sees 'Stopped'
same_mode "Ctrl-Z"
types "fg$code"
shown '^arrows choose'
shown "^ *$first R "
ok "fg brings the page back"
ask key q
sees 'ready>'
enters "stty -a | cksum"
sees '^([0-9]+ [0-9]+)'
equals "and then q: the mode is as it was" "$mode" "$answer"

# --- an error on the way ---
types "pgpu queue --watch$code"
shown '^arrows choose'
conf 'lanes = x'
ask key "$down"
pgpu submit -q -J another -- true >"$out" 2>&1
conf 'lanes = 1'
pgpu submit -q -J another -p test -- true >"$out" 2>&1
shown ' another '
ok "what is said meanwhile is no part of the page"
ask key q
ends 0 "and it goes on"
open_gate a
pgpu cancel --all >"$out" 2>&1
hang_up
finish
