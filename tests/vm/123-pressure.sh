#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# C119: a job that crawls at its ceiling, where the kernel reclaims for ever instead of killing, is told by its memory.
# scenes: manager
. "$(dirname "$0")/lib.sh"
need_cells "C119 a job that crawls at its ceiling"

# Most of the ceiling is its own memory; the file that it reads again and again does not fit into the rest.
dd if=/dev/zero of=big bs=1M count=64 status=none
sync big && sudo sh -c "echo 1 >/proc/sys/vm/drop_caches" # else its pages stay on our account
cat >crawl <<'END'
own = bytearray(40 << 20)
while True:
    with open("big", "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
END
pgpu run -m 56M --limit 26s -- python3 crawl 2>said &
run=$!
# shellcheck disable=SC2317 # until_true calls it
pressed() { pgpu status | grep -q 'memory pressure [1-9][0-9]%'; }
until_true pressed
ok "C119 status says so while it crawls"
wait $run
equals "C119 its limit ends it" 124 $?
matches "C119 and the reason names its memory" 'waited [0-9]+s for memory at its ceiling of 56M' "$(cat said)"

# The disk is too fast here for a crawl of nothing but waiting: memory.high, which the job sets on its own cell, makes one.
# Each quarter of a megabyte takes up to two seconds then, and a byte is read after it.
cat >crawl <<'END'
import os
with open("/proc/self/cgroup") as file:
    cell = file.read().rpartition("::")[2].strip()
with open("/sys/fs/cgroup" + cell + "/memory.high", "w") as file:
    file.write("24M")
own, zeros = [], os.open("/dev/zero", os.O_RDONLY)
while True:
    own.append(b"x" * (256 << 10))
    os.read(zeros, 1)
END
conf $'lanes = 2\nstall-after = "10s"'
exits 124 "C119 a job that does nothing but wait for memory is stopped" pgpu run -q --as crawl --name crawl -m 256M --limit 5m -- python3 crawl
equals "C119 as stalled, though it reads" stalled "$(find "$XDG_STATE_HOME" -name log.tsv -exec awk -F '\t' '$6 == "crawl" { print $NF }' {} +)"
id=$(pgpu submit -q -J crawl -m 256M --limit 5m -- python3 crawl)
exits 124 "C119 a spooled one too" pgpu wait "$id"
matches "C119 and the reason says how much it waits" \
	'no progress for 10s \(no hold on a card, .* of CPU, waiting for memory at its ceiling for ([89][0-9]|100)% of its time\)' \
	"$(pgpu show "$id")"
finish
