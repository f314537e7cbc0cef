#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Another user on the machine reads nothing of a queue, changes nothing in it, and cannot stand in for it.
. "$(dirname "$0")/lib.sh"
if [ "$(id -u)" != 0 ] || ! as_user true 2>"$err"; then
	skip "another user" "not root"
	finish
fi

# Two accounts without a name, each with its own sandbox; the queue is ada's, and bob is the stranger.
chmod 711 "$SANDBOX"
cp "$BUILD/pgpu" "$SANDBOX/pgpu"
for user in ada:61234 bob:61235; do
	mkdir -m 755 "$SANDBOX/${user%:*}" # others may get as far as pgpu's own folders
	mkdir -m 755 "$SANDBOX/${user%:*}/"{home,config,state,run,work,config/pgpu}
	chmod 700 "$SANDBOX/${user%:*}/run"
	echo 'lanes = 1' >"$SANDBOX/${user%:*}/config/pgpu/pgpu.conf"
	chown -R "${user#*:}:${user#*:}" "$SANDBOX/${user%:*}"
done
# as UID FOLDERS-OF CMD…
as()
{
	local uid=$1 base=$SANDBOX/$2
	shift 2
	env --chdir="$base/work" HOME="$base/home" XDG_CONFIG_HOME="$base/config" XDG_STATE_HOME="$base/state" \
		XDG_RUNTIME_DIR="$base/run" PATH="$SANDBOX:/usr/local/bin:/usr/bin:/bin" setpriv --reuid "$uid" --regid "$uid" --clear-groups -- "$@"
}
ada() { as 61234 ada "$@"; }
bob() { as 61235 bob "$@"; }
# bob, with all folders said to be ada's
intruder() { as 61235 ada "$@"; }
mkfifo -m 666 "$SANDBOX/a.here" "$SANDBOX/a.open"
printf '#!/bin/sh\necho "$TOKEN"\necho "$GPU_QUEUE_PID $GPU_QUEUE_TURN" >told\n%s\n' "$(gate a)" >"$SANDBOX/ada/work/job.sh"
chmod 600 "$SANDBOX/ada/work/job.sh" && chown 61234 "$SANDBOX/ada/work/job.sh"
export TOKEN=secret-of-ada
first=$(cd / && umask 077 && ada pgpu submit -q job.sh)
reached a
next=$(ada pgpu submit -q -- true)
unset TOKEN
queue=$(echo "$SANDBOX"/ada/state/pgpu/*)
read -r worker socket <"$SANDBOX/ada/work/told"

# --- reads ----------------------------------------------------------------------------------------------------------
equals "ada's queue holds the secret" yes "$(ada grep -rqs secret-of-ada "$queue" && echo yes)"
exits 1 "nobody else finds a byte of it there" as 61235 bob sh -c "cat '$queue'/*/* '$SANDBOX'/ada/run/pgpu/* '$queue'/boot-*/* 2>/dev/null | grep -q ."
exits 2 "nor lists what is in it" bob ls "$queue"
exits 1 "nor reads the environment or memory of who holds its jobs" bob sh -c "cat /proc/$worker/environ /proc/$worker/mem >/dev/null"
exits 2 "nor what the job has open" bob ls "/proc/$worker/fd"
check "the output file is as closed as the umask of its submit says" [ "$(stat -c %a "$SANDBOX/ada/work/pgpu-$first.out")" = 600 ]
for words in "queue --all" "show $first" "log" "status" "output $first" "wait $first"; do
	# shellcheck disable=SC2086 # a list of words
	intruder pgpu $words >"$out" 2>"$err"
	equals "$words with her folders: refused, in one line" "1 1 0" "$? $(wc -l <"$err") $(wc -c <"$out")"
	lacks "and without her secret" 'secret|work' "$(sed "s,$SANDBOX/ada/[a-z]*,,g" "$err")"
done
bob pgpu queue --all >"$out"
equals "his own queue knows nothing of hers" 0 "$(wc -l <"$out")"

# --- orders ---------------------------------------------------------------------------------------------------------
for words in "cancel $first" "hold $next" "update $next name=x" "requeue $first" "drain" "undrain" "rescue"; do
	# shellcheck disable=SC2086
	exits 1 "$words with her folders" intruder pgpu $words
done
exits 125 "run with her folders" intruder pgpu run -- touch "$SANDBOX/bob/work/ran"
exits 1 "submit with her folders" intruder pgpu submit -- touch "$SANDBOX/bob/work/ran"
exits 1 "no signal reaches her worker" bob kill -s STOP "$worker"
cat >"$SANDBOX/ask.py" <<'END'
import os, socket, sys
# PATH MESSAGE: what the socket answers.
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
    s.settimeout(10)
    try:
        s.connect(sys.argv[1]); s.send(sys.argv[2].encode()); print(s.recv(255).decode() or "EOF")
    except OSError as e:
        print(type(e).__name__)
END
equals "her socket is out of reach" PermissionError "$(bob python3 "$SANDBOX/ask.py" "$socket" "cancel $first")"
# Though the folders were opened to all, and the socket.
chmod 755 "$SANDBOX/ada/run" "$SANDBOX/ada/run/pgpu" && chmod 777 "$socket"
for message in "cancel $first" "signal 9 $first" "end $first" turn "id 1" look; do
	# Closed before or after he had said it.
	matches "and deaf to him when it is not: $message" '^(EOF|BrokenPipeError|ConnectionResetError)$' \
		"$(bob python3 "$SANDBOX/ask.py" "$socket" "$message")"
done
for _ in 1 2 3 4 5; do
	bob python3 -c 'import socket, sys
held = []
for _ in range(200):
	s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	s.setblocking(False)
	try:
		s.connect(sys.argv[1])
		held.append(s)
	except OSError:
		break' "$socket"
done
matches "she is heard behind a flood of his calls" '^id [0-9]+$' "$(ada python3 "$SANDBOX/ask.py" "$socket" "id 1")"
chmod 700 "$SANDBOX/ada/run" "$SANDBOX/ada/run/pgpu"
check "her job runs as before" alive "$worker"
equals "and nothing was ordered, held or counted" "R PD" "$(ada pgpu queue | awk 'NR > 1 { print $2 }' | paste -sd ' ')"

# --- in her place ---------------------------------------------------------------------------------------------------
# A socket of his under the name that a job of hers was told.
cat >"$SANDBOX/squat.py" <<'END'
import os, socket, sys
# PATH HEARD: answers "ok 0" to whoever calls, and writes down what was said.
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777); s.listen(5)
open(sys.argv[2] + ".there", "w").close()
while True:
    c, _ = s.accept()
    said = c.recv(255)
    if said:
        with open(sys.argv[2], "a") as f: f.write(said.decode() + "\n")
        c.send(b"ok 0")
    c.close()
END
bob python3 "$SANDBOX/squat.py" "$SANDBOX/bob/work/socket" "$SANDBOX/bob/work/heard" & squatter=$!
until_true test -e "$SANDBOX/bob/work/heard.there"
exits 0 "a turn at a socket of his" ada env GPU_QUEUE=1 GPU_QUEUE_TURN="$SANDBOX/bob/work/socket" pgpu turn
equals "is not asked of him" '' "$(cat "$SANDBOX/bob/work/heard" 2>"$err")"
equals "though he is heard by himself" "ok 0 turn" \
	"$(bob python3 "$SANDBOX/ask.py" "$SANDBOX/bob/work/socket" turn) $(cat "$SANDBOX/bob/work/heard")"
kill $squatter

open_gate a
exits 0 "her job ends as she wanted it" ada pgpu wait "$first"
exits 0 "and the next" ada pgpu wait "$next"
equals "with her secret in her file" secret-of-ada "$(head -n 1 "$SANDBOX/ada/work/pgpu-$first.out")"
check "nothing of his ran" test ! -e "$SANDBOX/bob/work/ran"
finish
