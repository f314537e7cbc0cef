#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A machine that ends what a login leaves behind (KillUserProcesses=yes of logind.conf): `submit` says that no detached
# job outlives the login there, and what changes it; lingering does.
# scenes: root
. "$(dirname "$0")/lib.sh"
cp "$BUILD/pgpu" "$SANDBOX" && chmod 755 "$SANDBOX" || exit 1

rule=/etc/systemd/logind.conf.d/pgpu-test.conf
trap 'rm -f "$rule"; loginctl disable-linger other; systemctl restart systemd-logind; leave' EXIT
install -D -m 644 /dev/stdin "$rule" <<<$'[Login]\nKillUserProcesses=yes'
systemctl restart systemd-logind
lingering="^pgpu: a detached job ends when you log out; 'loginctl enable-linger' keeps it\$"

# configure TEXT: the pgpu.conf of the user `other`.
configure() { login other "mkdir -p .config/pgpu && cat >.config/pgpu/pgpu.conf" <<<"$1"; }
# leave_behind: other logs in, submits a job, and out again when it has begun. Sets $id and $pid; what was said is in $err.
leave_behind()
{
	id=$(login other "rm -f begun; mkfifo begun
		pgpu submit --no-requeue -- sh -c 'echo \$\$ >begun; exec sleep 1000'; read -r pid <begun; echo \$pid >pid" 2>"$err")
	pid=$(cat /home/other/pid)
	until_true no_session other
}

configure 'lanes = 1'
leave_behind
matches "without lingering submit says that no job can live on, and what changes it" "$lingering" "$(cat "$err")"
until_true eval "! alive $pid"
ok "and it is so"
code=0
login other "pgpu wait $id" 2>"$err" || code=$?
lacks "the job is accounted for" '^(0|124)$' $code
exits 0 "the lane is free" login other "pgpu run -q --no-wait -- true"

loginctl enable-linger other
until_true [ -S /run/user/1001/bus ]
leave_behind
equals "with lingering there is nothing to say" "" "$(cat "$err")"
check "the job outlives the login" alive "$pid"
matches "below its user's manager" '/user@1001\.service/' "$(sed -n 's/^0:://p' "/proc/$pid/cgroup")"
exits 0 "another login finds and cancels it" login other "pgpu cancel $id"
exits 143 "it is told as cancelled" login other "pgpu wait $id"

# Lingering alone does not help: what stays in the login's scope ends with it.
configure $'lanes = 1\ncells = "off"'
leave_behind
matches "lingering, but without cells: submit says that the job ends, too" \
	'^pgpu: a detached job ends when you log out: only a cell lies outside of the login, and there is none$' "$(cat "$err")"
until_true eval "! alive $pid"
ok "and it does"
configure 'lanes = 1'
finish
