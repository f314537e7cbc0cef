#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Folders and files that somebody exchanges for links, time after time, while pgpu is at work: what it has checked is what
# it uses, and no job is lost.
. "$(dirname "$0")/lib.sh"
echo precious >"$SANDBOX/victim"
cp "$SANDBOX/victim" "$SANDBOX/victim.was"
mkdir -m 700 "$SANDBOX/elsewhere"

cat >"$SANDBOX/exchange.py" <<'EOF'
# exchange.py UID STOP READY PATH OTHER…: PATH and each OTHER in turn, atomically, until STOP is there; at last as it was.
import ctypes, os, sys
stop, ready, path, *others = map(os.fsencode, sys.argv[2:])
libc = ctypes.CDLL(None, use_errno=True)
uid = int(sys.argv[1])
if uid != os.geteuid():
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
def exchange(other):
    if libc.renameat2(-100, path, -100, other, 2) < 0:  # AT_FDCWD, RENAME_EXCHANGE
        sys.exit(os.strerror(ctypes.get_errno()))
exchange(others[0])
exchange(others[0])
open(ready, "w").close()
while not os.path.exists(stop):
    for other in others:
        exchange(other)
        exchange(other)
EOF
# exchanging UID PATH OTHER… begins it, exchanged ends it.
exchanging()
{
	local uid=$1
	shift
	rm -f "$SANDBOX/stop" "$SANDBOX/ready"
	python3 "$SANDBOX/exchange.py" "$uid" "$SANDBOX/stop" "$SANDBOX/ready" "$@" 2>"$SANDBOX/why" &
	exchanger=$!
	until_true eval '[ -e "$SANDBOX/ready" ] || ! alive $exchanger'
	[ -e "$SANDBOX/ready" ]
}
exchanged()
{
	touch "$SANDBOX/stop"
	wait "$exchanger"
}

conf $'lanes = 2\nlost-limit = 0'
pgpu submit -q -- true >"$out"
pgpu wait 1
queue=$(echo "$XDG_STATE_HOME"/pgpu/*)
if ! exchanging "$UID" "$queue" "$SANDBOX/elsewhere"; then
	skip "names are exchanged while pgpu is at work" "no RENAME_EXCHANGE here: $(cat "$SANDBOX/why")"
	finish
fi
exchanged

# --- the queue's folders --------------------------------------------------------------------------------------------
ln -s "$SANDBOX/elsewhere" "$SANDBOX/link"
: >"$SANDBOX/ids"
bad=''
# call CMD…: it ends by itself, with yes or with one reason.
call()
{
	local code=0
	timeout -k 1 60 pgpu "$@" >"$out" 2>"$err" || code=$?
	case $code in
	0 | 1) ;;
	*) bad+="$*: exit code $code: $(cat "$err")"$'\n' ;;
	esac
	[ $code -eq 0 ]
}
for folder in "$queue" "$queue"/{pending,running,ended,env,boot-*,boot-*/tickets}; do
	exchanging "$UID" "$folder" "$SANDBOX/link" || bad+="$folder: $(cat "$SANDBOX/why")"$'\n'
	for _ in {1..12}; do
		call submit -q -- sh -c 'echo $PGPU_JOB_ID >>marks' && cat "$out" >>"$SANDBOX/ids"
		call queue
		call rescue
	done
	exchanged
	call rescue
done
equals "each call ends by itself, with yes or a reason" '' "$bad"
equals "nothing is made behind a link" '' "$(ls -A "$SANDBOX/elsewhere")"
mapfile -t ids <"$SANDBOX/ids"
timeout 300 pgpu wait "${ids[@]}" >"$out" 2>"$err" || [ $? -eq 127 ] || not_ok "what was submitted ends" "$(pgpu queue)"
# A worker that comes to a link gives up, and its job goes back in line; one whose environment is behind a link cannot start.
pgpu queue --all --json "${ids[@]}" >"$out"
equals "each job is there, has ended, and ran as often as its record says" '' "$(python3 - "$out" marks "${ids[@]}" 2>&1 <<'EOF'
import collections, json, sys
marks = collections.Counter(open(sys.argv[2]).read().split())
jobs = {job["id"]: job for job in json.load(open(sys.argv[1]))}
for number in sys.argv[3:]:
    job = jobs.get(number)
    began = marks[number]
    if not job:
        print(number, "is gone")
    elif job["state"] == "completed" and 1 <= began <= job["restarts"] + 1:
        pass
    elif not (job["state"] == "failed" and job["exit_code"] == 127 and not began and job["reason"]):
        print(number, job["state"], job["exit_code"], job["restarts"], job["reason"], began)
EOF
)"
equals "nothing was set aside" '' "$(ls "$queue/bad" 2>/dev/null)"

# --- an output in a folder that all share ---------------------------------------------------------------------------
if [ "$(id -u)" != 0 ] || ! as_user true 2>"$err"; then
	skip "an output that another user exchanges" "not root"
	finish
fi
chmod 711 "$SANDBOX"
chmod 755 "$SANDBOX/work"
mkdir -m 1777 shared && chmod 1777 shared
setpriv --reuid 61235 --regid 61235 --clear-groups -- sh -c 'touch shared/out && ln -s "$1/victim" shared/link && mkfifo shared/pipe && chmod 666 shared/out shared/pipe' sh "$SANDBOX"
chmod 777 "$SANDBOX"
exchanging 61235 shared/out shared/link shared/pipe || not_ok "another user exchanges an output" "$(cat "$SANDBOX/why")"
ids=()
for _ in {1..25}; do
	ids+=("$(pgpu submit -q -o shared/out -- echo secret)")
done
pgpu wait "${ids[@]}" >"$out"
exchanged
chmod 711 "$SANDBOX"
equals "jobs whose output another user exchanges do not start" "127" "$(pgpu queue --all --json "${ids[@]}" | python3 -c 'import json, sys
print(*{job["exit_code"] for job in json.load(sys.stdin)})')"
same_bytes "nothing is written behind his link" "$SANDBOX/victim.was" "$SANDBOX/victim"
equals "nor into his file" 0 "$(stat -c %s shared/out)"
finish
