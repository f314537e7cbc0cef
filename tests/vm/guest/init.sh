#!/bin/busybox sh
# SPDX-License-Identifier: GPL-3.0-or-later
# First program of the machine: loads the modules, mounts the disk and hands over to systemd.
# shellcheck shell=sh
set -e
for module in /modules/*; do
	/bin/busybox insmod "$module"
done
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t ext4 -o noatime /dev/vda /root
/bin/busybox mount --move /dev /root/dev
exec /bin/busybox switch_root /root /sbin/init
