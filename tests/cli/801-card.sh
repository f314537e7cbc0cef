#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The cards and their users in `pgpu status`, from trees in place of /proc and /sys (tests/fixtures).
. "$(dirname "$0")/lib.sh"

# in_tree FOLDER CMD…: with its proc and sys for the card.
in_tree()
{
	local tree=$1
	shift
	env PGPU_PROCFS="$tree/proc" PGPU_SYSFS="$tree/sys" "$@"
}
fixtures=$REPO/tests/fixtures
# lines OF FIXTURE WORD: status's lines that begin with the word
lines() { in_tree "$fixtures/$1" pgpu status | grep "^$2"; }
# of EXPRESSION: of the JSON on stdin, as python sees it
of() { python3 -c "import json, sys; s = json.load(sys.stdin); print($1)"; }
# json FIXTURE EXPRESSION
json() { in_tree "$fixtures/$1" pgpu status --json | of "$2"; }

# --- cards ----------------------------------------------------------------------------------------------------------
equals "a card's load and memory" "card 0000:03:00.0 amdgpu (card1): 97% busy, VRAM 10G of 16G used" "$(lines amdgpu-rx9060xt card)"
equals "the same in JSON" "card1 amdgpu 0000:03:00.0 97 17095983104 11246424064 False" \
	"$(json amdgpu-rx9060xt '*(s["cards"][0][k] for k in ("name","driver","pci","busy_percent","vram_total_bytes","vram_used_bytes","asleep"))')"
equals "several in the order of their addresses" "0000:03:00.0 0000:0e:00.0" "$(json two-cards '*(c["pci"] for c in s["cards"])')"
matches "an APU's jobs live in the machine's memory" 'VRAM 288M of 512M used, and 204M of 15G of the machine' "$(lines two-cards card)"
equals "a sleeping card is idle" "card 0000:03:00.0 amdgpu (card1): 0% busy, asleep, VRAM 16M of 16G used" "$(lines amdgpu-asleep card)"
equals "and called asleep" "0 True" "$(json amdgpu-asleep 's["cards"][0]["busy_percent"], s["cards"][0]["asleep"]' | tr -d '(),')"
equals "what a driver does not tell is unknown" "card 0000:00:02.0 i915 (card0): ?% busy, VRAM ? of ? used" "$(lines i915 card)"
equals "null in JSON" "None None None" "$(json i915 '*(s["cards"][0][k] for k in ("busy_percent","vram_total_bytes","vram_used_bytes"))')"
equals "no card" "card: none found" "$(lines nvidia-none card)"
equals "no card in JSON" "[]" "$(json nvidia-none 's["cards"]')"
equals "firmware's rubbish is no load, nor is what is above 100" "None None None None None 100 42 None None 55 7" \
	"$(json broken '*(c["busy_percent"] for c in s["cards"])')"
exits 0 "relative folders do not count" env PGPU_SYSFS="tests/fixtures/kfd/sys" PGPU_PROCFS=. pgpu status
lacks "and show nothing" 0000:83 "$(cat "$out")"
exits 0 "folders that are not there are no error" in_tree /nonexistent pgpu status --json
equals "nothing is on stderr" '' "$(cat "$err")"

# --- who else -------------------------------------------------------------------------------------------------------
equals "C011 who computes through the KFD, largest first, and no dead ones" "foreign: 7002 llama-server uses 47G of card 0000:83:00.0 (kfd)
foreign: 7001 python3 uses 10G of card 0000:03:00.0 (kfd)
foreign: 7004 hipjob uses 300M of card 0000:03:00.0 (kfd)
foreign: 7001 python3 uses 64K of card 0000:83:00.0 (drm)" "$(lines kfd foreign)"
equals "the same in JSON" "7002 llama-server 0000:83:00.0 50692608000 kfd" \
	"$(json kfd '*(s["foreign"][0][k] for k in ("pid","comm","card","vram_bytes","via"))')"
equals "C083 buffers of one client count once" "9798021120" \
	"$(json amdgpu-rx9060xt 'sum(f["vram_bytes"] for f in s["foreign"] if 4100 < f["pid"] < 4200)')"
equals "what cannot be read is null" "9001 None" "$(json broken 's["foreign"][0]["pid"], s["foreign"][0]["vram_bytes"]' | tr -d '(),')"
matches "and said" 'foreign: 9001 badfd uses \? of card 0000:03:00.0' "$(lines broken foreign)"
equals "who could not be looked into is counted" 1 "$(json broken 's["foreign_unreadable"]')"

# Our jobs are not foreign, whatever their names; a name is shown harmless.
tree=$SANDBOX/tree
mkdir -p "$tree/sys/class/drm/card0/device"
printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n' >"$tree/sys/class/drm/card0/device/uevent"
# holder PID NAME ID: a process with 2 MiB of the card
holder()
{
	mkdir -p "$tree/proc/$1/fdinfo"
	printf '%s' "$2" >"$tree/proc/$1/comm"
	printf '%s (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n' "$1" >"$tree/proc/$1/stat"
	printf 'drm-driver:\tamdgpu\ndrm-client-id:\t%s\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t2 MiB\n' "$3" >"$tree/proc/$1/fdinfo/3"
}
pgpu run -- sh -c "$(gate a)" & waiter=$!
reached a
job=$(main_of sh)
holder "$job" python3 1
holder 2147483001 $'a\n"\e[31m\xff' 2
exits 0 "a job of ours uses the card" in_tree "$tree" pgpu status
matches "and its lane says how much" 'lane 0: job .*, VRAM 2\.0M' "$(cat "$out")"
lacks "it is not foreign" "foreign: $job " "$(cat "$out")"
equals "a name cannot write to the terminal" 'foreign: 2147483001 a?"?[31m? uses 2.0M of card 0000:03:00.0 (drm)' "$(grep ^foreign "$out")"
exits 0 "and not break the JSON" in_tree "$tree" pgpu status --json
equals "which has it" "$(printf 'a\\n"\\x1b[31m\\ufffd')" "$(of 's["foreign"][0]["comm"].encode("unicode_escape").decode()' <"$out")"
equals "and the lane's memory" 2097152 "$(of 's["lanes"][0]["vram_bytes"]' <"$out")"
open_gate a
wait $waiter

# --- who looks ------------------------------------------------------------------------------------------------------
if strace -qq -o "$SANDBOX/trace" true 2>"$err"; then
	in_tree "$tree" strace -f -qq -o "$SANDBOX/trace" pgpu run -q -- true
	lacks "a run does not look at the card" "$tree" "$(grep -v execve "$SANDBOX/trace")"
	in_tree "$tree" strace -f -qq -o "$SANDBOX/trace" pgpu status >"$out"
	lacks "the vendor's library is only opened where its driver is" libnvidia "$(cat "$SANDBOX/trace")"
	matches "status does look" "$tree" "$(grep -v execve "$SANDBOX/trace")"
else
	skip "a run does not look at the card" "no strace here"
fi

given=$SANDBOX/given
cp "$BUILD/pgpu" "$given"
other=(env HOME="$SANDBOX/other" XDG_STATE_HOME="$SANDBOX/other" XDG_RUNTIME_DIR="$SANDBOX/other" XDG_CONFIG_HOME="$SANDBOX/other")
if [ "$(id -u)" = 0 ] && mkdir -m 700 "$SANDBOX/other" && chown 65534:65534 "$SANDBOX/other" && chmod 711 "$SANDBOX" &&
	as_user true 2>"$err" && setcap cap_sys_ptrace=ep "$given" 2>"$err"; then
	cp "$BUILD/pgpu" "$SANDBOX/plain"
	exits 0 "status with a file capability" as_user "${other[@]}" PGPU_SYSFS="$tree/sys" PGPU_PROCFS="$tree/proc" "$given" status
	equals "ignores the folders" "pgpu: PGPU_PROCFS and PGPU_SYSFS are ignored: the file of pgpu has capabilities" "$(cat "$err")"
	lacks "and has nothing of them" 2147483001 "$(cat "$out")"
	# On a machine without a card nobody is looked at, so there is to be one.
	unreadable() { unshare -m sh -c 'mount --bind "$0" /sys && exec "$@"' "$tree/sys" "$@" status --json | of 's["foreign_unreadable"]'; }
	if unshare -m mount --bind "$tree/sys" /sys 2>"$err"; then
		mine=$(unreadable setpriv --reuid 65534 --regid 65534 --clear-groups -- "${other[@]}" "$SANDBOX/plain")
		all=$(unreadable setpriv --reuid 65534 --regid 65534 --clear-groups -- "${other[@]}" "$given")
		shut=$(unreadable pgpu)
		check "without one others' processes are shut ($mine), with it only those that are to root as well ($all)" \
			test "$mine" -gt "$shut" -a "$all" -le "$shut"
	else
		skip "with a capability others' processes are not shut" "this user may not mount"
	fi
else
	skip "status with a file capability" "not root, or no file capabilities here"
fi
finish
