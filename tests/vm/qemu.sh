# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # whoever sources it has $tmp, and uses $power and $orders
# SPDX-License-Identifier: GPL-3.0-or-later
# The virtual computer itself, for machine and image.sh: where its image lies, and how it is switched on and spoken to.
set -u
vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${VM_CACHE:-/var/tmp/pgpu-machine}

die() { echo "${0##*/}: $*" >&2; exit 125; }

# /dev/kvm may open where Debian's kernel does not start in it (a paravirtual host): the CPU's flag tells.
accelerator()
{
	if [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; then echo kvm; else echo tcg; fi
}

# The folder of the image that these scripts make on this system. Programs are built here and run there, hence libc.
image_folder()
{
	{
		cat "$vm"/{image.sh,qemu.sh} "$vm"/guest/* /etc/os-release
		dpkg-query -W libc6 qemu-system-x86
		accelerator
	} 2>&1 | sha256sum | sed "s|^\(.\{16\}\).*|$cache/\1|"
}

# power_on FOLDER DISK SECONDS ARG…: starts the computer of the image in FOLDER, for at most that long, with a -drive
# DISK. The agent's words come from descriptor $agent and orders go to descriptor $orders; all else is below $tmp: the
# disk with the job in it, the output's FIFO, the console. $power is the pid whose end is the computer's.
power_on()
{
	local folder=$1 disk=$2 seconds=$3 cpu=(-accel "tcg,thread=multi,tb-size=256" -cpu Nehalem)

	shift 3
	[ "$(accelerator)" = tcg ] || cpu=(-accel kvm -cpu host)
	# A warm start finds the devices as they were: the job's disk has one size for all.
	{ truncate -s 256M "$tmp/job" && mkfifo "$tmp/out"; } || die "cannot write to $tmp"
	coproc QEMU {
		exec timeout -k 5 "$seconds" qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot \
			-M pc "${cpu[@]}" -smp 2 -m 1024 -kernel "$folder/kernel" -initrd "$folder/initrd" \
			-append "console=ttyS0 quiet mitigations=off nokaslr tsc=reliable no_timer_check panic=-1" \
			-serial "file:$tmp/console" -device virtio-serial-pci \
			-drive "if=none,id=root,format=raw,$disk" -device virtio-blk-pci,drive=root \
			-drive "if=none,id=job,format=raw,readonly=on,file=$tmp/job" \
			-device virtio-blk-pci,drive=job,serial=job \
			-chardev stdio,id=ctl,signal=off -device virtserialport,chardev=ctl,name=ctl \
			-chardev "file,id=out,path=$tmp/out" -device virtserialport,chardev=out,name=out \
			"$@" 2>"$tmp/qemu.log"
	}
	power=$QEMU_PID
	exec {agent}<&"${QEMU[0]}" {orders}>&"${QEMU[1]}" || die "qemu does not start: $(head -n 1 "$tmp/qemu.log")"
}

# hear WORD: the agent's next line, $line, begins with it. False also when the computer is off.
hear()
{
	IFS= read -r line <&"$agent" && [[ $line = "$1"* ]]
}

# What the console and qemu said last.
show_console() { tail -n 20 "$tmp/console" "$tmp/qemu.log" >&2; }
