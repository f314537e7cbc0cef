#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A job has its caller's capabilities, never those of pgpu's file; a class may take some away.
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" != 0 ] || ! as_user true 2>"$err"; then
	skip "a job's capabilities" "not root"
	finish
fi

none=0000000000000000 sys_nice=0000000000800000
sets=(grep -E '^(Cap|NoNewPrivs)' /proc/self/status) # what a process has
# of FIELD: from such a list on stdin
of() { sed -n "s/^$1:[[:space:]]*//p"; }
# five: the five sets of such a list, in one line
five() { sed -n 's/^Cap.*:[[:space:]]*//p' | paste -sd ' '; }

# A sandbox of the other user's, and pgpu for him with a file capability and without.
mkdir "$SANDBOX/other" "$SANDBOX/bin"
mkdir -m 700 "$SANDBOX/other/"{home,config,state,run,work}
chmod 711 "$SANDBOX" && chown -R 65534:65534 "$SANDBOX/other"
cp "$BUILD/pgpu" "$SANDBOX/bin/plain"
cp "$BUILD/pgpu" "$SANDBOX/bin/given"
cp "$(command -v grep)" "$SANDBOX/bin/grep"
# "${them[@]}" [SETPRIV-OPTION…] -- CMD…: as the other user, in his sandbox.
them=(env --chdir="$SANDBOX/other/work" HOME="$SANDBOX/other/home" XDG_CONFIG_HOME="$SANDBOX/other/config"
	XDG_STATE_HOME="$SANDBOX/other/state" XDG_RUNTIME_DIR="$SANDBOX/other/run"
	setpriv --reuid 65534 --regid 65534 --clear-groups)
their_conf()
{
	mkdir -p "$SANDBOX/other/config/pgpu"
	printf '%s\n' "$1" >"$SANDBOX/other/config/pgpu/pgpu.conf"
}
two='+net_raw,+sys_nice'
ambient=(--inh-caps "$two" --ambient-caps "$two")

# --- what the caller had --------------------------------------------------------------------------------------------
"${sets[@]}" >wanted
pgpu run -- "${sets[@]}" >found
same_bytes "root's job has what root has" wanted found
setpriv --bounding-set -net_raw --inh-caps +sys_nice,+kill -- "${sets[@]}" >wanted
setpriv --bounding-set -net_raw --inh-caps +sys_nice,+kill -- pgpu run -- "${sets[@]}" >found
same_bytes "also where that is less" wanted found
"${them[@]}" -- "${sets[@]}" >wanted
"${them[@]}" -- "$SANDBOX/bin/plain" run -q -- "${sets[@]}" >found
same_bytes "an ordinary user's job has what he has" wanted found
"${them[@]}" "${ambient[@]}" -- "${sets[@]}" >wanted
"${them[@]}" "${ambient[@]}" -- "$SANDBOX/bin/plain" run -q -- "${sets[@]}" >found
same_bytes "an ambient set reaches the job" wanted found
equals "and is one" 0000000000802000 "$(of CapAmb <found)"
"${them[@]}" "${ambient[@]}" -- "$SANDBOX/bin/plain" submit -q -o "$SANDBOX/other/work/spooled" -- "${sets[@]}" >id
"${them[@]}" -- "$SANDBOX/bin/plain" wait "$(cat id)"
equals "a spooled job has no caller: none" "$none $none $none $(of CapBnd <wanted) $none" "$(five <"$SANDBOX/other/work/spooled")"

# --- what pgpu's file has -------------------------------------------------------------------------------------------
if setcap cap_sys_ptrace,cap_sys_nice=ep "$SANDBOX/bin/given" 2>"$err" && setcap cap_sys_ptrace=ep "$SANDBOX/bin/grep" 2>"$err" &&
	[ "$("${them[@]}" -- "$SANDBOX/bin/grep" ^CapEff /proc/self/status 2>"$err" | of CapEff)" = 0000000000080000 ]; then
	given=("$SANDBOX/bin/given")
	"${them[@]}" -- "${sets[@]}" >wanted
	"${them[@]}" -- "${given[@]}" run -q -- "${sets[@]}" >found
	same_bytes "nothing of a file capability reaches the job" wanted found
	equals "it has none" "$none $none $none $(of CapBnd <wanted) $none" "$(five <found)"
	"${them[@]}" --inh-caps +net_raw -- "${sets[@]}" >wanted
	"${them[@]}" --inh-caps +net_raw -- "${given[@]}" run -q -- "${sets[@]}" >found
	same_bytes "the caller's inheritable set stays" wanted found
	equals "an ambient set ends at a file with capabilities" "$none" \
		"$("${them[@]}" "${ambient[@]}" -- "${given[@]}" run -q -- "${sets[@]}" | of CapAmb)"
	# shellcheck disable=SC2016 # for the job's shell
	equals "pgpu itself has given them back beside the job" "$none $none $none $(of CapBnd <wanted) $none" \
		"$("${them[@]}" -- "${given[@]}" run -q -- sh -c 'grep ^Cap /proc/$GPU_QUEUE_PID/status' | five)"
	# shellcheck disable=SC2016
	# env: only what an exec began without is gained
	equals "its files in /proc are its user's" 65534 "$("${them[@]}" -- env "${given[@]}" run -q -- sh -c 'stat -c %u /proc/$GPU_QUEUE_PID/fd')"
	# shellcheck disable=SC2016
	"${them[@]}" -- "${given[@]}" submit -q -o "$SANDBOX/other/work/worker" -- sh -c 'cat /proc/self/status; grep ^Cap /proc/$GPU_QUEUE_PID/status' >id
	"${them[@]}" -- "${given[@]}" wait "$(cat id)"
	equals "a spooled job and its worker have none either" \
		"$none $none $none $(of CapBnd <wanted) $none $none $none $none $(of CapBnd <wanted) $none" \
		"$(five <"$SANDBOX/other/work/worker")"

	their_conf 'lanes = 1'
	mkfifo -m 666 "$SANDBOX/a.here" "$SANDBOX/a.open"
	"${them[@]}" -- "${given[@]}" run -q -- sh -c "$(gate a)" & holder=$!
	reached a
	"${them[@]}" -- "${given[@]}" run -q --name waiter -- true & waiter=$!
	# shellcheck disable=SC2317 # until_true calls it
	their_line() { "${them[@]}" -- "${given[@]}" queue | grep -q waiter; }
	until_true their_line
	equals "nor has a call that waits in line" "$none $none $none" "$(five <"/proc/$waiter/status" | cut -d ' ' -f 1-3)"
	open_gate a
	wait $holder $waiter
	their_conf 'lanes = 2'

	export TMPDIR=$SANDBOX/other/work LD_LIBRARY_PATH=/nowhere LD_PRELOAD=libc.so.6 MALLOC_ARENA_MAX=2 EMPTY='' ODD=$'two\nlines\xff'
	mine='^(GPU_QUEUE|GPU_QUEUE_PID|GPU_QUEUE_TURN|GPU_QUEUE_FROZEN|AMD_PRIORITY|PGPU_JOB_ID|PGPU_PROGRESS|_)='
	"${them[@]}" -- env -0 | grep -azvE "$mine" | sort -z >wanted
	"${them[@]}" -- "${given[@]}" run -q -- env -0 | grep -azvE "$mine" | sort -z >found
	unset TMPDIR LD_LIBRARY_PATH LD_PRELOAD MALLOC_ARENA_MAX EMPTY ODD
	same_bytes "the environment is the caller's, with what libc hides from such a program" wanted found
	check "TMPDIR is in it" grep -qz ^TMPDIR= found
	check "and LD_PRELOAD" grep -qz ^LD_PRELOAD= found
	equals "the job's program starts as any other: no AT_SECURE" 0 \
		"$("${them[@]}" -- "${given[@]}" run -q -- env LD_SHOW_AUXV=1 true | sed -n 's/^AT_SECURE: *//p')"
else
	given=()
	skip "nothing of a file capability reaches the job" "no file capabilities here"
fi

# --- what a class takes away ----------------------------------------------------------------------------------------
classes='class "locked" { rank = 1 budget = 1m capabilities = {} }
class "nice" { rank = 1 budget = 1m capabilities = { "sys_nice" } }
class "sealed" { rank = 1 budget = 1m no-new-privileges = true }'
conf "$classes"
their_conf "$classes"
callers=(setpriv "${ambient[@]}" --)

"${callers[@]}" pgpu run -q -p locked -- "${sets[@]}" >found
equals "capabilities = {}: root's job has none and can gain none" "$none $none $none $none $none 0" "$(five <found) $(of NoNewPrivs <found)"
"${callers[@]}" pgpu run -q -p nice -- "${sets[@]}" >found
equals "a list: those alone" "$sys_nice $sys_nice $sys_nice $sys_nice $sys_nice" "$(five <found)"
"${callers[@]}" "${sets[@]}" | grep -v NoNewPrivs >wanted
"${callers[@]}" pgpu run -q -p sealed -- "${sets[@]}" >found
equals "no-new-privileges is set" 1 "$(of NoNewPrivs <found)"
same_bytes "and takes no capability" wanted <(grep -v NoNewPrivs found)
"${sets[@]}" >wanted
# shellcheck disable=SC2016
pgpu run -p locked -- sh -c 'grep -E "^(Cap|NoNewPrivs)" /proc/$GPU_QUEUE_PID/status' >found
same_bytes "the wrapper loses nothing" wanted found
setpriv --bounding-set -setpcap -- pgpu run -q -p locked -- "${sets[@]}" >found
equals "a bounding set that cannot shrink: none all the same, and no-new-privileges" "$none $none $none $none 1" \
	"$(five <found | cut -d ' ' -f 1-3,5) $(of NoNewPrivs <found)"
setpriv --bounding-set -all -- pgpu run -q -p locked -- "${sets[@]}" >found
equals "an empty one needs no more" "$none 0" "$(of CapBnd <found) $(of NoNewPrivs <found)"

for class in locked nice sealed; do
	pgpu submit -q -p $class -o "$SANDBOX/$class" -- "${sets[@]}" >id
	pgpu wait "$(cat id)"
done
equals "spooled: none" "$none $none $none $none $none" "$(five <"$SANDBOX/locked")"
equals "spooled: those alone" "$none $sys_nice $sys_nice $sys_nice $none" "$(five <"$SANDBOX/nice")"
equals "spooled: no new privileges, and root's capabilities" "1 $(of CapEff <wanted)" \
	"$(of NoNewPrivs <"$SANDBOX/sealed") $(of CapEff <"$SANDBOX/sealed")"

"${them[@]}" "${ambient[@]}" -- "$SANDBOX/bin/plain" run -q -p locked -- "${sets[@]}" >found
equals "an ordinary user's job has none and can gain none" "$none $none $none $none 1" \
	"$(five <found | cut -d ' ' -f 1-3,5) $(of NoNewPrivs <found)"
"${them[@]}" "${ambient[@]}" -- "$SANDBOX/bin/plain" run -q -p nice -- "${sets[@]}" >found
equals "or what is listed of those he has" "$sys_nice $sys_nice $sys_nice $sys_nice 1" \
	"$(five <found | cut -d ' ' -f 1-3,5) $(of NoNewPrivs <found)"
if [ ${#given[@]} -gt 0 ]; then
	equals "a program with file capabilities gives it nothing" "$none" \
		"$("${them[@]}" -- "${given[@]}" run -q -p locked -- "$SANDBOX/bin/grep" ^CapEff /proc/self/status | of CapEff)"
fi

# The row counts as it is when the job starts.
conf 'lanes = 1'
pgpu run -- sh -c "$(gate b)" & holder=$!
reached b
pgpu submit -q -p clip -o "$SANDBOX/later" -- "${sets[@]}" >id
conf $'lanes = 1\nclass "clip" { capabilities = {} }'
pgpu queue >"$out"
open_gate b
wait $holder
pgpu wait "$(cat id)"
equals "a row that changed while its job waited" "$none" "$(of CapBnd <"$SANDBOX/later")"

# Restricted or not at all.
conf "$classes"
for call in capset prctl; do
	if strace -qq -o "$SANDBOX/trace" true 2>"$err"; then
		exits 125 "where $call is refused the job does not start" \
			strace -f -qq -o "$SANDBOX/trace" -e trace=$call -e inject=$call:error=EPERM pgpu run -q -p locked -- touch ran
		equals "and one line says so" "pgpu: cannot restrict the job as its class says: Operation not permitted" "$(cat "$err")"
	else
		skip "where $call is refused the job does not start" "no strace here"
	fi
done
check "nothing ran" test ! -e ran
conf $'\nclass "clip" { capabilities = { "sys_nic" } }'
exits 2 "an unknown capability is an error" pgpu run -- touch ran
matches "with its line and the nearest name" "pgpu.conf:2: capabilities: unknown capability 'sys_nic', did you mean 'sys_nice'" "$(cat "$err")"
finish
