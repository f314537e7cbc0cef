#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# C141: swap is forbidden in a cell; a kernel without memory.swap.max is told by a word, where there is swap at all.
# Linux 6.1 has the file whatever it is booted with (swapaccount=0 does nothing any more): strace hides it from pgpu.
# scenes: manager
. "$(dirname "$0")/lib.sh"
need_cells "C141 swap"

hidden=(strace -qq -o trace -P memory.swap.max -e 'trace=openat,newfstatat' -e 'inject=openat,newfstatat:error=ENOENT')
rm -f "$XDG_RUNTIME_DIR"/pgpu/said-*
exits 0 "C141 a machine without swap: the job runs without the file" "${hidden[@]}" pgpu run -m 60M -- true
matches "C141 which was asked for" 'memory.swap.max.*ENOENT' "$(cat trace)"
equals "C141 and there is nothing to say" "" "$(cat "$err")"

swap=/var/tmp/pgpu-test-swap
trap 'sudo swapoff "$swap"; sudo rm -f "$swap"; leave' EXIT
sudo sh -c "umask 077 && dd if=/dev/zero of=$swap bs=1M count=128 status=none && mkswap -q $swap && swapon $swap" || exit 1

# Takes more than its ceiling, and ends when it has it.
cat >hog <<'END'
kept = bytearray(100 << 20)
for at in range(0, len(kept), 4096):
    kept[at] = 1
END
swapped() { awk '$1 == "pswpout" { print $2 }' /proc/vmstat; }
before=$(swapped)
exits 137 "C141 a job above its ceiling ends" pgpu run -m 60M -- python3 hog
check "C141 and nothing of it is swapped" test $(($(swapped) - before)) -lt 1000
matches "C141 by the kernel" 'at its memory ceiling of 60M \(peak (59\.|60)[0-9.]*M\)$' "$(cat "$err")"
# How much of it is swapped depends on the disk's speed, the kernel may give up before: its own limit says what it may.
# shellcheck disable=SC2016 # the job's shell reads it
limit='cat "/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)/memory.swap.max"'
equals "C141 the limit is none" 0 "$(pgpu run -m 60M -- sh -c "$limit")"
equals "C141 without the file there is no limit" max "$("${hidden[@]}" pgpu run -m 60M -- sh -c "$limit" 2>"$err")"
equals "C141 and a line says so" "pgpu: swap not limited (no memory.swap.max)" "$(head -n 1 "$err")"
exits 0 "C141 a second job" "${hidden[@]}" pgpu run -q -m 60M -- true
equals "C141 does not say it again" "" "$(cat "$err")"
matches "C141 status does" '^cells: memory ceiling.*; swap not limited \(no memory.swap.max\)$' "$("${hidden[@]}" pgpu status | tail -n 1)"
lacks "C141 and not where the file is" 'swap' "$(pgpu status)"
finish
