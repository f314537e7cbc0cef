#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Inside the test machine, as root: says "ready", reads one order "USER service|ssh stay|cut|poweroff TIME", unpacks the
# job's disk, runs the command that is in it, and says "exit CODE".
own=/usr/local/lib/pgpu-vm
exec 7<>/dev/virtio-ports/ctl 5>/dev/virtio-ports/out
systemctl is-system-running --wait >/dev/null # so that a warm start has nothing left to do
echo ready >&7
read -r user how end now <&7 || exit
date -s "@$now" >/dev/null # a warm start brings the clock of the day it was made

IFS=: read -r _ _ uid _ _ home _ < <(getent passwd "$user")
as_user()
{
	setpriv --reuid "$user" --regid "$user" --init-groups -- env -i HOME="$home" USER="$user" LOGNAME="$user" \
		SHELL=/bin/bash LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin XDG_RUNTIME_DIR="/run/user/$uid" \
		DBUS_SESSION_BUS_ADDRESS="unix:path=/run/user/$uid/bus" "$@"
}

# Read past the page cache: a warm start remembers the disk that was there before.
as_user bash -c 'cd && rm -rf src cmd && mkdir src && exec tar -xf -' \
	< <(dd if=/dev/disk/by-id/virtio-job iflag=direct bs=1M status=none 2>/dev/null) >&5 2>&1

if [ "$how" = ssh ]; then
	ssh -F $own/ssh_config "$user@vm" 'cd src && exec bash -l ../cmd' </dev/null >&5 2>&1
else
	manager='--user --wait'
	if [ "$user" = root ]; then manager=--wait; else systemctl start "user@$uid.service"; fi
	# The pipe is the user's own, so that the command may open /dev/stdout.
	# shellcheck disable=SC2016 # for the user's shell
	as_user bash -c 'systemd-run $1 --pipe --quiet --collect -p Delegate=yes -p IgnoreSIGPIPE=no -E HOME="$HOME" \
		--working-directory="$HOME/src" bash -l "$HOME/cmd" 2>&1 | cat
		exit "${PIPESTATUS[0]}"' - "$manager" </dev/null >&5 2>&1
fi
echo "exit $?" >&7
[ "$end" != poweroff ] || systemctl poweroff
