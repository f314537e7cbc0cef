#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/deps.sh SET…: installs what is missing of build, demo, check, schema, shells, browser, deb, package, slurm, vm
# and bench through the machine's package manager. Silent when all is there. A package named "-" is not in that
# distribution: what needs it is skipped, with a reason.
set -u
PATH=$PATH:/usr/sbin:/sbin # setcap is there

#    set    what is asked for       apt              dnf               pacman
table='
     build  command:cc              gcc              gcc               gcc
     build  command:make            make             make              make
     build  header:stdio.h          libc6-dev        glibc-devel       glibc
     build  header:confuse.h        libconfuse-dev   libconfuse-devel  confuse
     build  header:sys/capability.h libcap-dev       libcap-devel      libcap
     build  header:yaml.h           libyaml-dev      libyaml-devel     libyaml
     demo   command:povray          povray           povray            povray
     check  header:cmocka.h         libcmocka-dev    libcmocka-devel   cmocka
     check  command:setpriv         util-linux       util-linux        util-linux
     check  command:setcap          libcap2-bin      libcap            libcap
     check  command:ps              procps           procps-ng         procps-ng
     check  command:python3         python3          python3           python
     check  command:strace          strace           strace            strace
     check  command:spin            spin             -                 -
     check  command:mandoc          mandoc           mandoc            mandoc
     check  command:shellcheck      shellcheck       ShellCheck        shellcheck
     check  command:clang           clang            clang             clang
     check  command:clang-tidy      clang-tidy       clang-tools-extra clang
     check  command:cppcheck        cppcheck         cppcheck          cppcheck
     check  command:valgrind        valgrind         valgrind          valgrind
     schema python:jsonschema       python3-jsonschema python3-jsonschema python-jsonschema
     shells command:zsh             zsh              zsh               zsh
     shells command:fish            fish             fish              fish
     deb    command:dpkg-buildpackage dpkg-dev       -                 -
     deb    command:dh              debhelper        -                 -
     package command:lintian        lintian          -                 -
     package command:mmdebstrap     mmdebstrap       -                 -
     vm     command:qemu-system-x86_64 qemu-system-x86 -            -
     vm     command:mmdebstrap      mmdebstrap       -                 -
     vm     command:cpio            cpio             -                 -
     vm     command:ssh-keygen      openssh-client   -                 -
     slurm  command:slurmctld       slurmctld        -                 -
     slurm  command:slurmd          slurmd           -                 -
     slurm  command:sbatch          slurm-client     -                 -
     slurm  command:munged          munge            -                 -
     browser command:chromium       chromium         chromium          chromium
     bench  command:flock           util-linux       util-linux        util-linux
     bench  command:tsp             task-spooler     task-spooler      task-spooler
'

there()
{
	case $1 in
	command:*) command -v "${1#command:}" ;;
	python:*) python3 -c "import ${1#python:}" ;;
	header:*) printf '#include <%s>\n' "${1#header:}" | cc -E - ;;
	esac >/dev/null 2>&1
}

# Prints the missing packages of the sets $2…, by their names in the distribution with the package manager $1.
missing()
{
	manager=$1
	shift
	echo "$table" | while read -r set thing apt dnf pacman; do
		case " $* " in *" $set "*) ;; *) continue ;; esac
		case $manager in dnf) package=$dnf ;; pacman) package=$pacman ;; *) package=$apt ;; esac
		[ "$package" = - ] || there "$thing" || echo "$package"
	done | sort -u | tr '\n' ' '
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

apt_install()
{
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" >/dev/null
}

install_packages()
{
	case $manager in
	apt)
		apt_install "$@" 2>/dev/null && return # fails where the lists of packages are missing or old
		as_root apt-get -qq update && apt_install "$@"
		;;
	dnf) as_root dnf -q -y install "$@" ;;
	pacman) as_root pacman -S --noconfirm --needed "$@" ;;
	esac
}

if command -v apt-get; then manager=apt
elif command -v dnf; then manager=dnf
elif command -v pacman; then manager=pacman
else manager=
fi >/dev/null

packages=$(missing "$manager" "$@")
[ -n "$packages" ] || exit 0
if [ -z "$manager" ]; then
	echo "$0: no apt, dnf or pacman here; please install these (Debian's names): $packages" >&2
	exit 1
fi
echo "installing with $manager: $packages"
# shellcheck disable=SC2086 # a list of words
install_packages $packages || { echo "$0: could not install: $packages" >&2; exit 1; }
packages=$(missing "$manager" "$@")
[ -z "$packages" ] || { echo "$0: installed, and still not found: $packages" >&2; exit 1; }
