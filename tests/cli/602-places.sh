#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where pgpu keeps its files, whatever the environment says (C045, C063).
. "$(dirname "$0")/lib.sh"

exits 0 "a first run" pgpu run -- true
state=$(echo "$XDG_STATE_HOME"/pgpu/*)
check "makes one folder a machine" test -d "$state"
equals "closed to others" '700 700 700' "$(stat -c %a "$XDG_STATE_HOME/pgpu" "$state" "$XDG_RUNTIME_DIR/pgpu" | tr '\n' ' ' | sed 's/ $//')"
equals "with nothing in it for others" '' "$(find "$XDG_STATE_HOME/pgpu" "$XDG_RUNTIME_DIR/pgpu" ! -type l -perm /077 ! -type s)"
equals "and writes nowhere else" '' "$(find "$HOME" "$SANDBOX/work" -mindepth 1)"
exits 0 "XDG_STATE_HOME unset" env -u XDG_STATE_HOME pgpu run -- true
check "means ~/.local/state" test -d "$HOME/.local/state/pgpu"
rm -rf "$HOME/.local"
for value in '' rel/dir ./x; do
	exits 0 "C045 XDG_STATE_HOME='$value'" env XDG_STATE_HOME="$value" pgpu run -- true
	check "C045 means the same" test -d "$HOME/.local/state/pgpu"
	equals "C045 and no relative folder is made" '' "$(ls -A)"
	rm -rf "$HOME/.local"
done

# One queue, whatever the runtime folder is called.
conf 'lanes = 1'
pgpu run -- sh -c "$(gate a)" &
reached a
for change in '-u XDG_RUNTIME_DIR' 'XDG_RUNTIME_DIR=' 'XDG_RUNTIME_DIR=rel/dir' 'XDG_RUNTIME_DIR=/no/such/folder' '-u HOME' '-u HOME -u XDG_RUNTIME_DIR' \
	'HOME=' 'HOME=rel'; do
	# shellcheck disable=SC2086 # words for env
	exits 0 "C045 env $change pgpu queue" env $change pgpu queue
	matches "C045 shows the one queue" ' R ' "$(cat "$out")"
	# shellcheck disable=SC2086
	exits 75 "C045 env $change pgpu run does not get a second lane" env $change pgpu run --no-wait -- true
done
equals "C045 and no relative folder is made" '' "$(ls -A)"

# Accounts that are in no file: nsswitch.conf(5) has other places, and getent(1) knows them.
mkdir account
: >nobody.passwd
printf '#!/bin/sh\n[ "$*" = "passwd 0" ] && echo "ada:x:0:0:::/bin/sh" | sed "s,::/bin,:%s:/bin,"\n' "$PWD/account" >getent.sh
chmod +x getent.sh
# shellcheck disable=SC2016,SC2317 # expanded by the inner shell; exits calls it
directory() { unshare -m sh -c 'mount --bind nobody.passwd /etc/passwd && mount --bind getent.sh /usr/bin/getent && exec env -u HOME -u XDG_STATE_HOME "$@"' sh "$@"; }
if unshare -m mount --bind nobody.passwd /etc/passwd 2>"$err" && [ -x /usr/bin/getent ]; then
	exits 0 "a home that only getent knows" directory pgpu run -- true
	check "is the account's" test -d account/.local/state/pgpu
	exits 0 "and its name" directory pgpu submit --output '%u.out' -- true
	exits 0 "whose job ends" directory pgpu wait "$(cat "$out")"
	check "is the one in the pattern" test -e ada.out
	exits 0 "to a caller who ignores SIGCHLD, too" directory python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])' pgpu queue
	echo exit 2 >getent.sh
	exits 1 "an account that nobody knows" directory pgpu queue
	equals "is told by its number" 'pgpu: cannot find the home folder of user 0: set HOME' "$(cat "$err")"
else
	skip "accounts in no file" "no mounts here, or no getent"
fi
rm -rf account nobody.passwd getent.sh ada.out

# C063: the runtime folder goes away while a job runs.
pgpu run --name later -- touch later & waiter=$!
until_true queue_shows later
rm -rf "$XDG_RUNTIME_DIR/pgpu"
exits 0 "C063 queue without the runtime folder" pgpu queue
matches "C063 still knows the job" ' R ' "$(cat "$out")"
exits 75 "C063 and the lane is not given twice" pgpu run --no-wait -- true
open_gate a
wait $waiter
equals "C063 the next in line starts" '0 later' "$? $(ls later)"
rm -rf "$XDG_RUNTIME_DIR"
exits 0 "C063 run when the folder above is gone too" pgpu run -- true
[ -d "$XDG_RUNTIME_DIR" ] || mkdir -m 700 "$XDG_RUNTIME_DIR"

# What is not ours is not used.
if [ "$(id -u)" = 0 ] && as_user true 2>"$err"; then
	chmod 711 "$SANDBOX" "$SANDBOX/work"
	mkdir theirs theirs/state theirs/home
	chown -R 65534:65534 theirs
	cd theirs || exit 1
	exits 0 "a runtime folder of another user" env HOME="$PWD/home" XDG_STATE_HOME="$PWD/state" XDG_CONFIG_HOME="$PWD" \
		setpriv --reuid 65534 --regid 65534 --clear-groups pgpu run -- echo ran
	equals "is not in the way" ran "$(cat "$out")"
	matches "is named with both user ids" '^pgpu: .*(0.*65534|65534.*0)' "$(cat "$err")"
	cd ..
	rm -rf "${XDG_RUNTIME_DIR:?}/pgpu"
	chown 65534 "$XDG_RUNTIME_DIR"
	exits 0 "root with a runtime folder of another user" pgpu run -- true
	matches "names both user ids" '(0.*65534|65534.*0)' "$(cat "$err")"
	equals "and makes nothing in it" '' "$(ls -A "$XDG_RUNTIME_DIR")"
	chown 0 "$XDG_RUNTIME_DIR"

	chown 65534 "$state"
	exits 125 "a queue of another user is refused" pgpu run -- touch ran
	matches "by name" "^pgpu: .*$state" "$(cat "$err")"
	chown 0 "$state"
else
	skip "folders of another user" "only root can make them"
fi
check "and nothing ran" test ! -e ran

mv "$XDG_STATE_HOME/pgpu" elsewhere && ln -s "$PWD/elsewhere" "$XDG_STATE_HOME/pgpu"
exits 125 "a queue behind a link is refused" pgpu run -- touch ran
check "and nothing ran there either" test ! -e ran
rm "$XDG_STATE_HOME/pgpu" && mv elsewhere "$XDG_STATE_HOME/pgpu"
exits 0 "back in place it works" pgpu run -- true
touch "$SANDBOX/file"
exits 1 "a state folder that is a file" env XDG_STATE_HOME="$SANDBOX/file" pgpu queue
equals "is one line" 1 "$(wc -l <"$err")"
printf -v long '/%0*d' 5000 0
exits 1 "a state folder with a name too long" env XDG_STATE_HOME="$long" pgpu queue
# --- C137: a queue on a network file system ---
# None is mounted here: strace puts its type into what statfs(2) says.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	# shellcheck disable=SC2317 # exits calls it
	network() { strace -o trace -e trace=fstatfs -e inject=fstatfs:poke_exit=@arg2=6969000000000000 "$@"; }
	exits 0 "C137 status on nfs" network pgpu status
	matches "C137 says that locks are not to be relied on there" 'queue: on a network file system \(nfs\)' "$(cat "$out")"
	exits 0 "C137 in JSON" network pgpu status --json
	matches "C137 too" '"network":"nfs"' "$(cat "$out")"
	rm "$XDG_STATE_HOME"/pgpu/*/boot-*/swept
	exits 0 "C137 the first call after a boot" network pgpu run -- true
	matches "C137 says so, and what to do" "network file system \(nfs\), .*pgpu-spool\\(5\\), CAVEATS" "$(cat "$err")"
	exits 0 "C137 the next" network pgpu run -- true
	lacks "C137 does not" 'network' "$(cat "$err")"
	matches "on a local one there is nothing to say" '"network":null' "$(pgpu status --json)"
else
	skip "C137 a queue on a network file system" "no strace here"
fi
finish
