#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A thousand jobs, one after the other in one worker, leave no cgroup.
# scenes: manager
. "$(dirname "$0")/lib.sh"
need_cells "a thousand jobs leave no cgroup"

printf '%s\n' 'name: one' 'output: /dev/null' 'command: [/bin/true]' >one.yaml
mapfile -t files < <(yes one.yaml | head -n 1000)
last=$(pgpu submit "${files[@]}" | tail -n 1)
exits 0 "a thousand jobs are spooled and run" pgpu wait "$last"
equals "each ended well" 1000 "$(pgpu log | awk '$5 == "one" && $NF == "completed"' | wc -l)"
equals "and left no cgroup" "" "$(cells)"
finish
