#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `pgpu run` exits with.
. "$(dirname "$0")/lib.sh"

exits 0 "success is success" pgpu run -- true
exits 1 "a failure is the job's own" pgpu run -- false
for code in 2 7 75 124 125 126 137 255; do
	exits $code "the job's own $code comes through" pgpu run -- sh -c "exit $code"
done

exits 127 "a command that is not there" pgpu run -- no-such-command-anywhere
matches "it is named" 'pgpu: .*no-such-command-anywhere' "$(cat "$err")"
exits 127 "a path that is not there" pgpu run -- ./not/here
printf 'echo hi\n' >plain && chmod 644 plain
exits 127 "a file that may not be executed" pgpu run -- ./plain
exits 127 "a folder as a command" pgpu run -- "$SANDBOX"
printf '#!/no/such/interpreter\n' >lost && chmod 755 lost
if [ "$sanitizer" = valgrind ]; then
	skip "a script without its interpreter" "valgrind does not return from an execve(2) without one"
else
	exits 127 "a script without its interpreter" pgpu run -- ./lost
fi
exits 127 "an empty command name" pgpu run -- ''
equals "one line tells why" 1 "$(wc -l <"$err")"

# C053: 128+n, real-time signals too.
while read -r number name; do
	exits $((128 + number)) "C053 ended by SIG$name is 128+$number" pgpu run -- sh -c "ulimit -c 0; kill -$number \$\$"
done <<-'END'
	1 HUP
	2 INT
	3 QUIT
	6 ABRT
	9 KILL
	11 SEGV
	13 PIPE
	14 ALRM
	15 TERM
	34 RTMIN
	64 RTMAX
END

# C151, C105: what the caller ignores or blocks.
exits 7 "C151 SIGCHLD ignored by the caller" sh -c 'trap "" CHLD; exec pgpu run -- sh -c "exit 7"'
python3 - >"$out" 2>"$err" <<-'END'
	import signal, subprocess, sys
	signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM])
	sys.exit(subprocess.call(["pgpu", "run", "--", "sh", "-c", "exit 9"]))
END
equals "C151 SIGCHLD blocked by the caller" 9 $?

# C055: what a job leaves behind is ended, the code stays its own.
exits 0 "C055 a double-forked left-over keeps the code" \
	pgpu run -- sh -c 'exec >/dev/null 2>&1; (setsid sh -c "echo \$\$ > left; exec sleep 600" &); until [ -s left ]; do :; done'
matches "C055 and is mentioned once" '^pgpu: 1 process(es)? of the job' "$(cat "$err")"
if alive "$(cat left)"; then not_ok "C055 and is gone"; else ok "C055 and is gone"; fi

# A nested run is its command.
exits 5 "a run inside a job runs its command" pgpu run -- pgpu run -- sh -c 'exit 5'
exits 143 "and its signals" pgpu run -- pgpu run -- sh -c 'kill -TERM $$'

exits 75 "no lane in time" sh -c "
	pgpu run -- sh -c '$(gate a)' & pgpu run -- sh -c '$(gate b)' &
	cat '$SANDBOX/a.here' '$SANDBOX/b.here' >/dev/null
	pgpu run --no-wait -- touch ran; code=\$?
	pgpu run --max-wait 1s -- touch ran; other=\$?
	echo go > '$SANDBOX/a.open'; echo go > '$SANDBOX/b.open'; wait
	[ \$code = \$other ] && exit \$code"
check "and the command never ran" test ! -e ran

finish
