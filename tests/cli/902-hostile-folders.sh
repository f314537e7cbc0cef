#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Links, FIFOs, folders and other users' files where pgpu keeps or writes its own are refused or set aside: never
# followed, never written to, never waited for.
. "$(dirname "$0")/lib.sh"
echo precious >"$SANDBOX/victim"
cp "$SANDBOX/victim" "$SANDBOX/victim.was"
mkdir "$SANDBOX/elsewhere"
root=
[ "$(id -u)" = 0 ] && as_user true 2>"$err" && root=yes

# --- the queue, file by file ----------------------------------------------------------------------------------------
conf $'lanes = 1\npause-after-failures = 9'
pgpu submit -q -- true >"$out" && pgpu wait 2
pgpu submit -q -p clip -- false >"$out"
pgpu wait 3
pgpu submit -q --hold --dedupe key -- true >"$out"
pgpu submit -q --hold -a 1-3 -- true >"$out"
pgpu submit -q -d afterok:4 -- true >"$out"
pgpu drain
queue=$(echo "$XDG_STATE_HOME"/pgpu/*)
cp -a "$queue" "$SANDBOX/good"
# A lane and a role are written by nobody but pgpu, and never by hand.
mapfile -t files < <(cd "$queue" && find . -type f ! -path '*/boot-*/standby' ! -path '*/boot-*/second')
mapfile -t folders < <(cd "$queue" && find . -mindepth 1 -type d ! -path './after/*')
matches "the queue has files to put others in place of" '/lock .*/counter ' "$(printf '%s \n' "${files[@]}" | sort -r | tr -d '\n')"
calls=("queue" "submit -q -- true" "cancel 4" "rescue")

# survives WHAT: after each call nothing was waited for, followed, read or written.
survives()
{
	local call code
	for call in "${calls[@]}"; do
		code=0
		# shellcheck disable=SC2086 # a list of words
		timeout -k 1 30 pgpu $call >"$out" 2>"$err" || code=$?
		case $code in 124 | 13[0-9]) bad+="$1, $call: exit code $code"$'\n' ;; esac
		grep -qs precious "$out" "$err" && bad+="$1, $call: it was read"$'\n'
	done
	cmp -s "$SANDBOX/victim" "$SANDBOX/victim.was" || bad+="$1: it was written to"$'\n'
	[ -z "$(ls -A "$SANDBOX/elsewhere")" ] || bad+="$1: $(ls "$SANDBOX/elsewhere") made"$'\n'
	cp "$SANDBOX/victim.was" "$SANDBOX/victim"
	rm -rf "$queue"
	cp -a "$SANDBOX/good" "$queue"
}
# planted NAME COMMAND-ON-$path KIND…
planted()
{
	local name=$1 act=$2 path bad='' one
	shift 2
	for one; do
		path=$queue/$one
		rm -rf "$path"
		eval "$act"
		survives "$one"
	done
	equals "$name" '' "$bad"
}
# shellcheck disable=SC2016 # planted expands it
{
	planted "a link in place of any file" 'ln -s "$SANDBOX/victim" "$path"' "${files[@]}"
	planted "a link to nothing yet" 'ln -s "$SANDBOX/elsewhere/made" "$path"' counter lock log.tsv conf drained
	planted "a FIFO" 'mkfifo "$path"' "${files[@]}" orders/4.cancel
	planted "a link in place of a folder" 'ln -s "$SANDBOX/elsewhere" "$path"' "${folders[@]}"
	if [ -n "$root" ]; then
		planted "another user's file" 'cp "$SANDBOX/victim" "$path"; chown 61234 "$path"; chmod 666 "$path"' counter conf drained served dedupe/key
		planted "another user's folder" 'mkdir -m 777 "$path"; chown 61234 "$path"' "${folders[@]}"
	else
		skip "another user's files" "not root"
	fi
}
for folder in "$XDG_STATE_HOME/pgpu" "$queue" "$queue/pending"; do
	shown=$folder
	[ "${folder##*/}" != pending ] || shown=pending
	chmod o+w "$folder"
	exits 1 "a folder that others may write to is refused: ${folder#"$SANDBOX"/}" pgpu submit -- true
	equals "with what to do about it" "pgpu: cannot use $shown: other users may write to it (chmod go-w)" "$(cat "$err")"
	chmod go-w "$folder"
done
exits 0 "when it is closed again all is well" pgpu submit -q -- true

# --- the configuration ----------------------------------------------------------------------------------------------
file=$XDG_CONFIG_HOME/pgpu/pgpu.conf
chmod 666 "$file"
exits 2 "a configuration that all may write to" pgpu run -- true
matches "is not used" 'pgpu.conf: cannot use it: other users may write to it \(chmod go-w\)' "$(cat "$err")"
chmod 660 "$file"
touch "$file"
exits 0 "the user's own group may" pgpu queue
equals "without a word" '' "$(cat "$err")"
if [ -n "$root" ]; then
	chgrp 61234 "$file"
	exits 2 "another group may not" pgpu run -- true
	chown 61234:0 "$file" && chmod 644 "$file"
	exits 2 "nor is another user's configuration used" pgpu run -- true
	matches "as it says" 'belongs to user 61234' "$(cat "$err")"
fi
rm -f "$file"
conf 'lanes = 1'

# --- the runtime folder ---------------------------------------------------------------------------------------------
pgpu undrain
# told: where a job's supervisor listens
told() { pgpu run -q -- printenv GPU_QUEUE_TURN; }
rm -rf "$XDG_RUNTIME_DIR/pgpu"
ln -s "$SANDBOX/elsewhere" "$XDG_RUNTIME_DIR/pgpu"
lacks "a link in place of the runtime folder is not followed" "$SANDBOX/(elsewhere|run)" "$(told)"
equals "nothing is made behind it" '' "$(ls -A "$SANDBOX/elsewhere")"
rm "$XDG_RUNTIME_DIR/pgpu"
mkdir "$XDG_RUNTIME_DIR/pgpu" && chmod 777 "$XDG_RUNTIME_DIR/pgpu"
lacks "one that all may write to is not used" "$XDG_RUNTIME_DIR" "$(told)"
if [ -n "$root" ]; then
	chown 61234 "$XDG_RUNTIME_DIR/pgpu"
	lacks "nor one that another user made before" "$XDG_RUNTIME_DIR" "$(told)"
	equals "nothing is made in it" '' "$(ls -A "$XDG_RUNTIME_DIR/pgpu")"
fi
rmdir "$XDG_RUNTIME_DIR/pgpu"
matches "without it all is as before" "^$XDG_RUNTIME_DIR/pgpu/" "$(told)"

# --- output files ---------------------------------------------------------------------------------------------------
# ends CODE NAME OUTPUT: a job whose output goes there.
ends()
{
	local id
	id=$(pgpu submit -q -o "$3" -- echo text)
	exits "$1" "$2" timeout -k 1 60 pgpu wait "$id"
	why=$(pgpu show "$id")
}
ln -s "$SANDBOX/victim" link
ends 127 "an output that is a link" link
same_bytes "is not written through" "$SANDBOX/victim.was" "$SANDBOX/victim"
ln -s "$SANDBOX/elsewhere/made" dangling
ends 127 "nor one to nothing" dangling
equals "which makes nothing" '' "$(ls -A "$SANDBOX/elsewhere")"
mkfifo fifo
ends 127 "a FIFO that nobody reads holds no worker" fifo
exec 9<>fifo
ends 0 "one that is read is written to" fifo
read -r line <&9
exec 9>&-
equals "whole" text "$line"
ends 0 "a device is one" /dev/null
mkdir -m 1777 shared && chmod 1777 shared
ends 0 "in a folder that all share a new file is the job's own" shared/new
ends 0 "and is there the next time" shared/new
equals "appended to" 2 "$(wc -l <shared/new)"
if [ -n "$root" ]; then
	touch shared/planted && chown 61235 shared/planted && chmod 666 shared/planted
	mkfifo shared/pipe && chown 61235 shared/pipe && chmod 666 shared/pipe
	ends 127 "one that another user has put there before is refused" shared/planted
	equals "and gets nothing" 0 "$(stat -c %s shared/planted)"
	matches "as show says" 'another user put it into a folder that all may write to' "$why"
	exec 9<>shared/pipe
	ends 127 "a FIFO of his, too" shared/pipe
	exec 9>&-
	mkdir team && chown 61235 team && touch team/log && chown 61235 team/log
	ends 0 "a folder that one user shares with us is his to fill" team/log
fi

# --- job files ------------------------------------------------------------------------------------------------------
mkfifo job
printf '#!/bin/sh\nexit 3\n' >script
cat script >job &
exits 0 "a job file may be a pipe" pgpu submit -q job
exits 0 "a process substitution is one" pgpu submit -q <(cat script)
exits 3 "and what it said runs" pgpu wait "$(cat "$out")"
exits 0 "so is /dev/stdin" sh -c 'pgpu submit -q /dev/stdin <script'
exits 2 "a device without an end is too long" pgpu submit /dev/zero
exits 2 "one that is empty is no job" pgpu submit /dev/null
exits 2 "a folder is none" pgpu submit "$SANDBOX/elsewhere"
finish
