#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A line so long that a worker remembers it from job to job: what others do to it meanwhile counts as before.
. "$(dirname "$0")/lib.sh"
conf $'lanes = 1\ncells = "off"'
jobs=1100

exits 0 "nothing starts yet" pgpu drain
printf '%s\n' '---' 'output: /dev/null' '---' '#!/bin/sh' 'exit 0' >plain.yaml
printf '%s\n' '---' 'name: busy' '---' '#!/bin/sh' 'ls -l /proc/$PPID/fd >fds' "$(gate middle)" >busy.yaml
mapfile -t files < <(for ((i = 1; i <= jobs; i++)); do [ $i -ne 300 ] && echo plain.yaml || echo busy.yaml; done)
exits 0 "$jobs jobs in one call" pgpu submit -q "${files[@]}"
mapfile -t ids <"$out"
equals "each has its id" "$jobs" "${#ids[@]}"
exits 0 "off they go" pgpu undrain
reached middle
check "the worker listens instead of reading" grep -q inotify fds

early=$(pgpu submit --class interactive -o /dev/null -- true)
exits 0 "one is cancelled" pgpu cancel "${ids[500]}"
exits 0 "one held" pgpu hold "${ids[600]}"
exits 0 "one is to be the first" pgpu update "${ids[700]}" first=true
late=$(pgpu submit -o /dev/null -- true)
open_gate middle
exits 0 "the last of them ends" pgpu wait "${ids[jobs - 1]}"
exits 0 "and who came later" pgpu wait "$late"

order=$(cat "$XDG_STATE_HOME"/pgpu/*/log.tsv | awk -F '\t' '$3 == "spool" && $NF == "completed" { print $2 }')
expected=$(printf '%s\n' "${ids[@]:0:300}" "$early" "${ids[700]}" "${ids[@]:300:200}" "${ids[@]:501:99}" "${ids[@]:601:99}" "${ids[@]:701}" "$late")
equals "in the order that all of it means" "$expected" "$order"
equals "one is held" "\"id\":\"${ids[600]}\"" "$(pgpu queue --json | grep -o '"id":"[0-9]*"')"
exits 0 "and runs once it is let go" pgpu release "${ids[600]}"
exits 0 "as the last" pgpu wait "${ids[600]}"
finish
