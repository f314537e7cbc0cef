#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# image.sh FOLDER: makes the test machine's image there, as root, from the packages that this system's own apt knows:
# kernel, initrd, root.img as it is before its first boot, and warm.img with warm.state, the machine as it waits for
# orders. Exits 77 where that cannot be had here: no Debian packages, or no way to them.
. "$(dirname "$0")/qemu.sh"
set -e -o pipefail

packages=login,passwd,mount,systemd,systemd-sysv,udev,dbus,dbus-user-session,libpam-systemd,openssh-server
packages+=,openssh-client,kmod,sudo,procps,util-linux,strace,python3,make,libcap2-bin,libcmocka0,libcap2,libconfuse2,libyaml-0-2

cannot() { echo "image.sh: $*" >&2; exit 77; }

# The sources of packages as this system has them, and nothing of theirs but the programs.
install_system()
{
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 'Origin: Debian' | sort -u >"$new/sources"
	[ -s "$new/sources" ] || cannot "apt knows no Debian packages here"
	mmdebstrap --quiet --variant=apt --mode=root --include="$packages" --dpkgopt=force-unsafe-io \
		--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
		"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" "$new/sources" >"$new/log" 2>&1 ||
		cannot "mmdebstrap cannot install the system: $(tail -n 1 "$new/log")"
}

# The kernel, and an initrd with the modules on the way to the disk, and FUSE: no others are needed, so none is in the
# system.
install_kernel()
{
	local kernel module number=100 modules=$root/lib/modules initrd=$new/tree

	kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: linux-image-//p' | head -n 1)
	mkdir "$new/debs" "$initrd" "$initrd"/{bin,dev,proc,root,modules}
	(cd "$new/debs" && apt-get -qq -o APT::Sandbox::User=root download "linux-image-$kernel" busybox-static) \
		>"$new/log" 2>&1 || cannot "apt-get cannot download the kernel: $(tail -n 1 "$new/log")"
	for package in "$new"/debs/*.deb; do dpkg -x "$package" "$new/kernel"; done
	mv "$new/kernel/boot/vmlinuz-$kernel" "$built/kernel"
	mv "$new/kernel/bin/busybox" "$initrd/bin/"
	mkdir -p "$modules"
	mv "$new/kernel/lib/modules/$kernel" "$modules/"
	chroot "$root" depmod "$kernel"
	for module in virtio_pci virtio_blk virtio_console crc32c_generic ext4 fuse; do
		chroot "$root" modprobe -S "$kernel" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r module; do
		cp "$root$module" "$initrd/modules/$((++number)).ko" # insmod takes them in this order
	done
	rm -rf "$modules"
	install -m 755 "$vm/guest/init.sh" "$initrd/init"
	(cd "$initrd" && find . | cpio --quiet -o -H newc) >"$built/initrd"
}

# guest/drmkeys.c, a module of the machine's kernel, with this system's compiler. The headers' two halves name each other
# by absolute paths.
build_module()
{
	local kernel headers=$new/headers package
	kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: linux-image-//p' | head -n 1)
	local halves=("linux-headers-$kernel" "linux-headers-${kernel%-cloud-amd64}-common")

	halves+=("$(apt-cache depends "linux-headers-$kernel" | sed -n 's/^ *Depends: \(linux-kbuild-[0-9.]*\)$/\1/p' | head -n 1)")
	mkdir "$headers" "$new/module"
	(cd "$headers" && apt-get -qq -o APT::Sandbox::User=root download "${halves[@]}") >"$new/log" 2>&1 ||
		cannot "apt-get cannot download the kernel's headers: $(tail -n 1 "$new/log")"
	for package in "$headers"/*.deb; do dpkg -x "$package" "$headers"; done
	headers=$headers/usr/src/linux-headers-$kernel
	sed -i "s|^include .*/usr/src/|include $new/headers/usr/src/|; s|^include /usr/src/|include $new/headers/usr/src/|" "$headers/Makefile"
	cp "$vm/guest/drmkeys.c" "$new/module/"
	echo 'obj-m := drmkeys.o' >"$new/module/Makefile"
	make -s -C "$headers" M="$new/module" modules >"$new/log" 2>&1 || die "the module cannot be built: $(tail -n 5 "$new/log")"
	strip -g "$new/module/drmkeys.ko"
	install -D -m 644 -t "$root/usr/local/lib/pgpu-vm" "$new/module/drmkeys.ko"
}

# Two users, one of them with lingering; sshd for a login without a network; the agent.
configure()
{
	local own=$root/usr/local/lib/pgpu-vm user

	install -D -m 755 -t "$own" "$vm/guest/agent.sh"
	install -m 644 "$vm/guest/agent.service" "$root/etc/systemd/system/"
	install -m 644 "$vm"/guest/ssh*_config "$own"
	ssh-keygen -q -t ed25519 -N '' -C '' -f "$own/key"
	echo vm >"$root/etc/hostname"
	echo '127.0.0.1 localhost vm' >"$root/etc/hosts"
	echo '/dev/vda / ext4 noatime 0 0' >"$root/etc/fstab"
	tr -d - </proc/sys/kernel/random/uuid >"$root/etc/machine-id"
	for user in pgpu other; do
		chroot "$root" useradd -m -s /bin/bash "$user"
		echo "$user ALL=(ALL) NOPASSWD: ALL" >>"$root/etc/sudoers.d/pgpu"
	done
	chmod 440 "$root/etc/sudoers.d/pgpu"
	install -D /dev/null "$root/var/lib/systemd/linger/pgpu"
	install -D -m 644 /dev/stdin "$root/etc/systemd/journald.conf.d/memory.conf" <<<$'[Journal]\nStorage=volatile'
	chroot "$root" systemctl -q enable agent.service
	# What a boot can do without: a slow machine has it done sooner.
	chroot "$root" systemctl -q mask ssh.service getty@tty1.service serial-getty@ttyS0.service \
		systemd-timesyncd.service systemd-random-seed.service systemd-journal-flush.service \
		systemd-pstore.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
		e2scrub_all.timer e2scrub_reap.service fstrim.timer proc-sys-fs-binfmt_misc.automount modprobe@{configfs,dm_mod,drm,fuse,loop}.service
}

# Boots once, and stores the machine's memory when it waits for orders.
warm_up()
{
	local tmp=$new

	: >"$tmp/job"
	cp --sparse=always "$built/root.img" "$built/warm.img"
	mkfifo "$tmp/monitor.in" "$tmp/monitor.out"
	exec {monitor}<>"$tmp/monitor.in" {answers}<>"$tmp/monitor.out"
	power_on "$built" "file=$built/warm.img,cache=unsafe" 300 \
		-chardev "pipe,id=mon,path=$tmp/monitor" -mon chardev=mon
	cat "$tmp/out" &
	hear ready || { show_console; die "the machine does not boot"; }
	printf '%s\n' "migrate \"exec:cat >'$built/warm.state'\"" quit >&"$monitor"
	wait "$power" || { show_console; die "the machine's state cannot be stored"; }
	power=
	wait
	exec {monitor}>&- {answers}<&-
}

leave()
{
	[ -z "${power:-}" ] || kill "$power" 2>/dev/null || :
	rm -rf --one-file-system "$new"
}

folder=$1
new=$(mktemp -d "$folder.XXXXXX") root=$new/root built=$new/built
trap leave EXIT
trap 'exit 130' HUP INT TERM
chmod 755 "$new"
mkdir "$built"
install_system
install_kernel
build_module
configure
truncate -s 2G "$built/root.img"
mke2fs -q -t ext4 -m 0 -J size=16 -E lazy_itable_init=1,lazy_journal_init=1 -d "$root" "$built/root.img"
warm_up
mv -T "$built" "$folder"
"$vm/machine" run -- true || { rm -rf "$folder"; die "the machine does not go on from its warm state"; }
echo "image.sh: made $folder in $SECONDS s"
