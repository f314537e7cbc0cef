#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A job that fails for want of the card's memory is told from others: by what it wrote, or by the card that was full.
. "$(dirname "$0")/lib.sh"

tree=$SANDBOX/tree
card=$tree/sys/class/drm/card0/device
mkdir -p "$card" "$tree/proc"
printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n' >"$card/uevent"
G=$((1 << 30))
echo $((16 * G)) >"$card/mem_info_vram_total"
echo $((15900 << 20)) >"$card/mem_info_vram_used"
export PGPU_PROCFS=$tree/proc PGPU_SYSFS=$tree/sys
conf $'lanes = 2\nvram-settle = "0"'
of() { python3 -c "import json, sys; s = json.load(sys.stdin); print($1)"; }
outcome_of() { pgpu show --json "$1" | of "s['state'], s['exit_code']"; }
row_of() { awk -F '\t' -v id="$1" '$2 == id { print $14, $15 }' "$XDG_STATE_HOME"/pgpu/*/log.tsv; }

# says CODE OPTIONS… -- COMMAND…: a spooled job that ends with CODE; its id is in $id.
says()
{
	local wanted=$1
	shift
	id=$(pgpu submit -q "$@")
	exits "$wanted" "a job ends with $wanted" pgpu wait "$id"
}

# --- what it wrote ---
says 1 -o said.out -- sh -c 'echo frame 1; echo "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 9 GiB" >&2; exit 1'
equals "its own words make it a gpu-oom, and its code stays" "gpu-oom 1" "$(outcome_of "$id")"
matches "they are the evidence" "^why +job $id ran out of the card's memory: its output says 'torch.OutOfMemoryError'" "$(pgpu show "$id" | grep ^why)"
equals "the log has it" "1 gpu-oom" "$(row_of "$id")"
matches "lists have letters for it" " $id OOM " "$(pgpu queue --all)"
matches "and find it by its word" " $id OOM " "$(pgpu queue --all --state gpu-oom)"
equals "it is not tried again" 0 "$(pgpu show --json "$id" | of "s['restarts']")"
says 134 -o out -e err -- sh -c 'echo VK_ERROR_OUT_OF_DEVICE_MEMORY >&2; kill -ABRT $$'
equals "in the error file alone, and ended by a signal" "gpu-oom 134" "$(outcome_of "$id")"
says 0 -- sh -c 'echo CUDA out of memory, trying a smaller one; exit 0'
equals "one that got over it has completed" "completed 0" "$(outcome_of "$id")"
says 1 -o said.out -- sh -c 'echo another reason; exit 1'
equals "what an earlier job wrote to the same file is not its own" "failed 1" "$(outcome_of "$id")"
says 1 -- sh -c 'echo CUDA out of memory; head -c 9000 /dev/zero; exit 1'
equals "nor does it count long before the end" "failed 1" "$(outcome_of "$id")"
says 1 -- sh -c 'head -c 9000 /dev/zero; echo CUDA out of memory; exit 1'
equals "behind much else it does" "gpu-oom 1" "$(outcome_of "$id")"
echo CUDA out of memory >foreign
says 1 -o turned.out -- sh -c 'echo fine; rm turned.out; ln -s foreign turned.out; exit 1'
equals "a name that was turned elsewhere is not followed" "failed 1" "$(outcome_of "$id")"
id=$(pgpu submit -q -- sh -c "echo CUDA out of memory; $(gate cancelled)")
reached cancelled
pgpu cancel "$id" >"$out"
equals "a cancelled one is cancelled" "cancelled 143" "$(outcome_of "$id")"
says 124 -t 1s -- sh -c 'echo CUDA out of memory; exec sleep 600'
equals "one past its limit is past its limit" "timeout 124" "$(outcome_of "$id")"
mkfifo pipe
says 1 -o pipe -- sh -c 'exit 1' &
cat pipe >"$SANDBOX/from-pipe"
wait $!
ok "an output that is no file is not read"

# --- a card that was full ---
# has NAME MIB: the job has so much, and its watcher has seen it.
has()
{
	job=$(main_of "$1")
	mkdir -p "$tree/proc/$job/fdinfo"
	echo python3 >"$tree/proc/$job/comm"
	printf '%s (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n' "$job" >"$tree/proc/$job/stat"
	printf 'drm-driver:\tamdgpu\ndrm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t%s MiB\n' "$2" >"$tree/proc/$job/fdinfo/3"
	until_true grep -q '^looked' "$XDG_STATE_HOME"/pgpu/*/boot-*/lane-0
}
# fails NAME MIB CODE: a run that has so much when it ends with CODE.
fails()
{
	pgpu run -J "$1" -- sh -c "$(gate "$1"); rm -r $tree/proc/\$\$; exit $3" 2>"$err" & waiter=$!
	reached "$1"
	has "$1" "$2"
	open_gate "$1"
	wait $waiter
	equals "$1: the code is its own" "$3" $?
	found=$(tail -n 1 "$XDG_STATE_HOME"/pgpu/*/log.tsv | cut -f 15)
}
fails room 15000 3
equals "with 484 MiB free it has failed" failed "$found"
echo $((16300 << 20)) >"$card/mem_info_vram_used"
fails full 15000 3
equals "with 84 MiB free it is a gpu-oom" gpu-oom "$found"
matches "one line says why" "^pgpu: job [0-9]+ failed with the card's memory full: it had 15G, and 84M of 16G were free when last seen\$" "$(cat "$err")"
fails other 200 3
equals "one that had little of it has failed" failed "$found"
fails fine 15000 0
equals "one that did not fail has completed" completed "$found"
fails broken-off 15000 130
equals "Ctrl-C's code is no sign of it" failed "$found"
finish
