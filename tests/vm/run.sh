#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/vm/run.sh [SCENE…]: makes the machine where it is missing, and runs the test files of each scene in one boot;
# two machines at a time, or $VMS. Each check's name begins with its scene and file. Where there can be no machine, that
# is one skipped check. README.md in this folder is the manual.
# shellcheck disable=SC2317 # xargs calls run_scene
cd "$(dirname "$0")/../.." || exit 1

build=$(realpath -m "${BUILD:-build}")
log=$build/tests/vm stage=$build/tests/vm/stage
export build log stage LIMIT=${LIMIT:-900}
vm=tests/vm

# files_of SCENE: the test files whose header names it, and the CLI tests that are listed for it.
files_of()
{
	grep -lE "^# scenes:.* $1( |$)" "$vm"/[0-9]*.sh
	awk -v scene="$1" '/^[0-9]/ && index("," $2 ",", "," scene ",") { print "tests/cli/" $1 }' "$vm/cli-files"
}

run_scene()
{
	local scene=$1 how files
	mapfile -t files < <(files_of "$scene")
	[ ${#files[@]} -gt 0 ] || return 0
	case $scene in
	manager) how=(--user pgpu) ;;
	ssh) how=(--user pgpu --ssh) ;;
	ssh-other) how=(--user other --ssh) ;;
	root) how=(--user root) ;;
	hybrid) how=(--kernel systemd.unified_cgroup_hierarchy=0) ;;
	legacy) how=(--kernel 'systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=1') ;;
	host) "$vm/inside.sh" host "${files[@]}"; return ;;
	esac
	"$vm/machine" run "${how[@]}" --timeout $((2 * LIMIT)) --src "$stage" -- "$vm/inside.sh" "$scene" "${files[@]}" 2>&1
	[ $? -le 1 ] || echo "not ok - $scene: the machine runs to the end of the scene"
}
export -f run_scene files_of
export vm

cannot()
{
	echo "ok - the tests run in a machine with systemd and cgroup v2 # SKIP $1"
	exit 0
}

for program in qemu-system-x86_64 mmdebstrap cpio ssh-keygen; do
	[ -e "$("$vm/machine" where)/warm.state" ] || command -v $program >/dev/null || cannot "no $program here"
done
said=$("$vm/machine" build 2>&1)
case $? in
0) echo "# ${said:-the machine was there}" ;;
77) cannot "$(tail -n 1 <<<"$said")" ;;
*) echo "not ok - the machine is made"; printf '%s\n' "$said" | sed 's/^/# /'; exit 1 ;;
esac

unlisted=$(diff <(cd tests/cli && ls [0-9]*.sh) <(awk '/^[0-9]/ { print $1 }' "$vm/cli-files"))
if [ -z "$unlisted" ]; then echo "ok - cli-files names each CLI test"; else echo "not ok - cli-files names each CLI test: $unlisted" | paste -sd ' '; fi
rm -rf "$log"
mkdir -p "$stage/build" && cp -r conf examples tests "$stage/" && cp "$build/pgpu" "$stage/build/" || exit 1
[ $# -gt 0 ] || set -- manager ssh root ssh-other host hybrid legacy
printf '%s\n' "$@" | xargs -P "${VMS:-2}" -I SCENE bash -c 'run_scene SCENE >"$log/SCENE"'
cd "$log" && cat -- "$@" && ! grep -q '^not ok' -- "$@"
