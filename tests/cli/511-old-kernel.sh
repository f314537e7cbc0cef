#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A kernel, or a container's filter, that refuses clone3(2): a job starts all the same, in its cell. And cells whose
# kernel lacks cgroup.kill (before 5.14), cgroup.freeze (before 5.2) or memory.peak (before 5.19): strace hides them.
. "$(dirname "$0")/lib.sh"
if ! strace -o /dev/null -e trace=clone3 -e inject=clone3:error=ENOSYS true 2>/dev/null; then
	skip "a job starts without clone3" "strace cannot make it fail here"
	skip "a cell ends without cgroup.kill" "strace cannot hide it here"
	skip "a peak is known without memory.peak" "strace cannot hide it here"
	finish
fi
wanted=$(pgpu run -q -- sed -n 's/^0:://p' /proc/self/cgroup | sed 's/[0-9-]*$//')
for why in ENOSYS EPERM EINVAL; do
	refused=(strace -o trace -e trace=clone3 -e "inject=clone3:error=$why")
	exits 3 "$why: a job starts without clone3" "${refused[@]}" pgpu run -q -- sh -c 'exit 3'
	matches "$why: it was refused" "$why" "$(cat trace)"
	exits 127 "$why: a command that is not there is told" "${refused[@]}" pgpu run -q -- "$SANDBOX/none"
	equals "$why: the job is where it would be" "$wanted" \
		"$("${refused[@]}" pgpu run -q -- sed -n 's/^0:://p' /proc/self/cgroup | sed 's/[0-9-]*$//')"
done

# hide FILE…: makes "${hidden[@]}" the words before a pgpu that does not find them. Not before its job: no -f.
hide()
{
	hidden=(strace -qq -o trace -e 'trace=openat,newfstatat' -e 'inject=openat,newfstatat:error=ENOENT')
	for file; do hidden+=(-P "$file"); done
}

status=$(pgpu status --json)
if [[ $status != *'"cells":{"available":true'* ]]; then
	skip "a cell ends without cgroup.kill" "no cells here"
	skip "a peak is known without memory.peak" "no cells here"
	finish
fi
tree=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
cells_left() { find "$tree" -type d -name "pgpu-$(printf %x "$(stat -c %i "$XDG_STATE_HOME"/pgpu/*)")-*" 2>/dev/null; }

conf 'grace = "0"'
mkfifo ready
for lacking in cgroup.kill 'cgroup.kill cgroup.freeze'; do
	# shellcheck disable=SC2086 # a list of words
	hide $lacking
	exits 3 "without $lacking: a job ends" timeout -s KILL 60 "${hidden[@]}" pgpu run -q -- sh -c '
		setsid sh -c "trap \"\" TERM; sleep 1000 & echo \$\$ \$! >ready; wait" & read -r pids <ready; echo $pids >pids; exit 3'
	for file in $lacking; do matches "without $lacking: there was no $file" "\"$file\".*INJECTED" "$(cat trace)"; done
	read -r daemon child <pids
	check "without $lacking: what held out against SIGTERM is gone" eval "! alive $daemon && ! alive $child"
	equals "without $lacking: no cgroup is left" "" "$(cells_left)"
done

if [[ $status = *'"processes":true'* ]]; then
	# C143: frozen, nothing forks.
	conf $'grace = "1h"\nprocesses = 64'
	hide cgroup.kill
	# shellcheck disable=SC2016 # bash reads it
	"${hidden[@]}" pgpu run -q -- bash -c 'f() { f & f & }; sed -n s/^0:://p /proc/self/cgroup >bomb; f; exec sleep 1000' 2>/dev/null &
	bomb=$!
	# shellcheck disable=SC2317 # until_true calls it
	full() { [ "$(cat "$tree$(cat bomb)/pids.current")" -ge 60 ]; }
	until_true full
	exits 0 "C143 a fork bomb is cancelled without cgroup.kill" timeout 120 pgpu cancel --all
	wait $bomb
	equals "C143 with 143" 143 $?
	matches "C143 without it indeed" '"cgroup.kill".*INJECTED' "$(cat trace)"
	equals "C143 and nothing is left" "" "$(cells_left)"
else
	skip "C143 a fork bomb is cancelled without cgroup.kill" "no pids controller here"
fi

conf 'lanes = 2'
if [[ $status = *'"memory":true'* ]]; then
	hide memory.peak
	# shellcheck disable=SC2016 # the job's shell reads it
	"${hidden[@]}" pgpu run -q -m 100M -- sh -c 'echo $GPU_QUEUE_PID >supervisor; exec python3 -c "
kept = bytearray(50 << 20)
kept[::4096] = bytes(len(kept[::4096]))
open(\"$0\", \"w\").write(\"here\")
open(\"$1\").read()"' "$SANDBOX/peak.here" "$SANDBOX/peak.open" & run=$!
	reached peak
	reads() { sed -n 's/^syscr: //p' "/proc/$(cat supervisor)/io"; }
	enough=$(($(reads) + 6)) # it looks once a second
	# shellcheck disable=SC2317 # until_true calls it
	looked() { [ "$(reads)" -ge "$enough" ]; }
	until_true looked
	open_gate peak
	wait $run
	matches "without memory.peak the peak is what was seen" '^[5-9][0-9]{7}$' \
		"$(pgpu log --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[-1]["peak_memory_bytes"])')"
	exits 137 "a job above its ceiling ends without memory.peak" "${hidden[@]}" pgpu run -m 60M -- \
		python3 -c 'kept = bytearray(120 << 20); kept[::4096] = bytes(len(kept[::4096]))'
	matches "there was no memory.peak" '"memory.peak".*INJECTED' "$(cat trace)"
	matches "its line says that it reached its ceiling" 'at its memory ceiling of 60M \(peak 60M\)$' "$(cat "$err")"
else
	skip "a peak is known without memory.peak" "no memory controller here"
fi
finish
