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
finish
