#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The job sees its caller's surroundings: environment, signals, folder, umask, limits, process group.
. "$(dirname "$0")/lib.sh"

# C107: the environment differs only by what is documented.
export POSIXLY_CORRECT=1 MALLOC_ARENA_MAX=2 LC_TIME=C EMPTY='' ODD=$'two\nlines\xff' TMPDIR=$SANDBOX/work
mine='^(GPU_QUEUE|GPU_QUEUE_PID|GPU_QUEUE_TURN|GPU_QUEUE_FROZEN|AMD_PRIORITY|PGPU_JOB_ID|PGPU_PROGRESS)='
env -0 | grep -azv '^_=' | sort -z >before
pgpu run -- env -0 | grep -azv '^_=' | sort -z >during
grep -azvE "$mine" during >rest
same_bytes "C107 the caller's variables, byte for byte" before rest
equals "C107 and the seven documented ones" 'AMD_PRIORITY GPU_QUEUE GPU_QUEUE_FROZEN GPU_QUEUE_PID GPU_QUEUE_TURN PGPU_JOB_ID PGPU_PROGRESS' \
	"$(comm -z13 before during | tr '\0' '\n' | cut -d= -f1 | tr '\n' ' ' | sed 's/ $//')"
unset POSIXLY_CORRECT
equals "GPU_QUEUE is 1" 1 "$(pgpu run -- printenv GPU_QUEUE)"
equals "AMD_PRIORITY is -512" -512 "$(pgpu run -- printenv AMD_PRIORITY)"
equals "not with PRIORITY=normal" '' "$(PRIORITY=normal pgpu run -- printenv AMD_PRIORITY)"
equals "the caller's own then stays" 5 "$(AMD_PRIORITY=5 PRIORITY=normal pgpu run -- printenv AMD_PRIORITY)"
conf $'lanes = 2\namd-priority = "off"'
equals "nor with amd-priority off" '' "$(pgpu run -- printenv AMD_PRIORITY)"
conf 'lanes = 2'
pgpu run -- sh -c 'echo $PPID $GPU_QUEUE_PID; echo ${#GPU_QUEUE_TURN}; test -S "$GPU_QUEUE_TURN" && echo socket' >seen
read -r parent wrapper <seen
equals "GPU_QUEUE_PID is the wrapper" "$parent" "$wrapper"
check "GPU_QUEUE_TURN is a socket of at most 107 bytes" test "$(sed -n 2p seen)" -le 107 -a "$(sed -n 3p seen)" = socket

# C105: signals.
for trapped in 'true' 'trap "" PIPE' 'trap "" HUP' 'trap "" INT QUIT' 'trap "" TSTP TTOU TTIN' 'trap "" USR1 USR2 CHLD'; do
	sh -c "$trapped; exec grep ^Sig /proc/self/status" | grep -E 'SigBlk|SigIgn' >before
	sh -c "$trapped; exec pgpu run -- grep ^Sig /proc/self/status" | grep -E 'SigBlk|SigIgn' >during
	same_bytes "C105 ignored and blocked signals are the caller's: $trapped" before during
done
python3 - >during <<-'END'
	import signal, subprocess
	signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM, 40])
	subprocess.call(["pgpu", "run", "--", "grep", "^SigBlk", "/proc/self/status"])
END
equals "C105 a blocked mask too" 'SigBlk:	0000008000004200' "$(cat during)"
equals "C105 a broken pipe ends yes with 141" 141 "$(pgpu run -- bash -c 'yes | head -n 1 >/dev/null; echo ${PIPESTATUS[0]}')"

# Folder, umask, limits, niceness, group.
mkdir inner && equals "the folder" "$PWD/inner" "$(cd inner && pgpu run -- pwd)"
equals "the umask" 0027 "$(umask 027; pgpu run -- sh -c umask)"
spooled=$(ulimit -Sn 3000 -Sc 0; pgpu submit -q -H -- sh -c 'ulimit -Sn; ulimit -Sc')
pgpu release "$spooled" # with a worker that has other limits
pgpu wait "$spooled"
exits 0 "or the hard ones, where those are lower by now" prlimit --nofile=2000:2000 pgpu submit -q -W -o lower -- true
if [ "$sanitizer" = valgrind ]; then
	skip "the limits" "valgrind keeps a limit of descriptors of its own"
else
	equals "a spooled job has the limits of its submit, whoever started its worker" $'3000\n0' "$(pgpu output "$spooled")"
	equals "the limits" 4096 "$(ulimit -Sn 4096; pgpu run -- sh -c 'ulimit -Sn')"
fi
equals "the niceness" "$(nice -n 5 nice)" "$(nice -n 5 pgpu run -- nice)"
set -m
pgpu run -- sh -c 'ps -o pgid= -p $$' >group & pid=$!
wait $pid
set +m
if [ "$(pgpu status --json | tr -d ' \n' | grep -c '"available":true')" = 1 ]; then
	equals "the process group it was called in" "$pid" "$(tr -d ' ' <group)"
else
	skip "the process group it was called in" "no cells here"
fi

# C019: the folder is gone.
mkdir gone
exits 0 "C019 run from a removed folder" sh -c 'cd gone && rmdir ../gone && exec pgpu run -- true'
mkdir gone
exits 0 "C019 queue from a removed folder" sh -c 'cd gone && rmdir ../gone && exec pgpu queue'

# A session named by the folder that holds .git, else by the folder.
mkdir -p 'tree/.git' tree/deep/er 'odd na:me'
session() { pgpu run -- sh -c 'pgpu show "$PGPU_JOB_ID" --json' | python3 -c 'import json, sys; print(json.load(sys.stdin)["session"])'; }
equals "the session is the folder that holds .git" tree "$(cd tree/deep/er && session)"
equals "else the working folder, made clean" odd_na_me "$(cd 'odd na:me' && session)"

# Whole programs that read a terminal's settings see none here.
exits 1 "no terminal is made up" pgpu run -- test -t 0

# Leaked marks: a variable alone does not make a job.
equals "a leaked GPU_QUEUE does not bypass the line" lane "$(GPU_QUEUE=1 GPU_QUEUE_PID=1 PGPU_JOB_ID=1 pgpu run -- sh -c '
	[ "$GPU_QUEUE_PID" != 1 ] && [ "$PGPU_JOB_ID" != 1 ] && echo lane')"
finish
