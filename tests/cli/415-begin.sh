#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that wait for their time, and classes with hours. A time zone of the test's own says what the clock shows.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'
spool=$(echo "$XDG_STATE_HOME"/pgpu/*)

# --- begin ---
late=$(pgpu submit -q -b now+1h -- sh -c 'echo late >>order')
matches "it waits for its time, and says which" "$late PD .*not before 20[0-9-]*T[0-9:]*[+-]" "$(pgpu queue)"
matches "in JSON" '"reason":"begin".*"begin":"20[0-9-]+T' "$(pgpu queue --json)"
exits 0 "one that comes later goes past it" pgpu submit -q -W -- true
exits 0 "a run too" pgpu run -q --no-wait -- true
# Whoever watches sleeps to the time of the late one; an earlier one has to be made known to him.
soon=$(pgpu submit -q -b now+30m -- true)
sooner=$(pgpu submit -q -b now+1s -- sh -c 'echo sooner >>order')
exits 0 "its time comes by itself" pgpu wait "$sooner"
equals "before the others'" sooner "$(cat order)"
matches "which still wait" "$soon PD .*not before" "$(pgpu queue)"
exits 0 "until they are cancelled" pgpu cancel "$soon"
kill_all
exits 0 "after the death of all who watched" pgpu rescue
until_true test -s "$spool"/boot-*/standby
matches "it still waits" "$late PD .*not before" "$(pgpu queue)"
again=$(pgpu submit -q -b now+1s -- true)
exits 0 "and others' times come" pgpu wait "$again"
exits 0 "one that waits can be cancelled" pgpu cancel "$late"
begin=$(date -d '+90 minutes' +%Y-%m-%dT%H:%M)
printf 'begin: %s\ncommand: "true"\n' "$begin" >dated.yaml
exits 0 "in a header" pgpu submit -q --dry-run dated.yaml
matches "as a moment" "begin: $(date -u -d "$begin" +%Y-%m-%dT%H:%M:00)\+00:00" "$(cat "$out")"
exits 2 "a time that is over is refused" pgpu submit -b 2020-01-01T10:00 -- true
equals "with the key" "pgpu: begin: this time is over" "$(cat "$err")"
printf -- '---\nbegin: 2020-01-01T10:00\n---\n#!/bin/sh\ntrue\n' >over.yaml
exits 2 "in a header" pgpu submit over.yaml
equals "with its place" "pgpu: over.yaml:2:8: begin: this time is over" "$(cat "$err")"
exits 2 "a word is no time" pgpu submit -b later -- true
matches "and what one is" "begin: 'later' is no time \(22:00, tomorrow 02:30" "$(cat "$err")"
exits 0 "now is no wait" pgpu submit -q -W -b now -- true

# --- hours ---
# shows HH:MM:SS: for who is started from here on the clock shows that now.
shows()
{
	local offset=$((10#$(date -u +%H) * 3600 + 10#$(date -u +%M) * 60 + 10#$(date -u +%S))) wanted
	wanted=$(date -u -d "1970-01-01 $1" +%s)
	offset=$(((offset - wanted + 129600) % 86400 - 43200))
	TZ=$(printf 'LOC%s%02d:%02d:%02d' "$([ $offset -lt 0 ] && echo -)" $((${offset#-} / 3600)) $((${offset#-} / 60 % 60)) $((${offset#-} % 60)))
	export TZ
}
kill_all
shows 21:59:$((60 - 3 * slow))
conf $'lanes = 1\nclass "night" { rank = 4  budget = "12h"  hours = "22:00-07:00" }'
exits 75 "outside its hours nothing of the class starts" pgpu run -q -p night --no-wait -- true
night=$(pgpu submit -q -p night -- sh -c 'date +%H:%M >started')
matches "and why" "$night PD .*outside the hours of class night, 22:00-07:00; until 20[0-9-]*T22:00:00" "$(pgpu queue)"
matches "in JSON" '"reason":"hours"' "$(pgpu queue --json)"
exits 0 "other classes start" pgpu run -q --no-wait -- true
pgpu run -q -p night -- sh -c 'date +%H:%M >ran' &
exits 0 "then it opens, by itself" pgpu wait "$night"
wait $!
equals "for both" $'22:00\n22:00' "$(cat started ran)"

kill_all
shows 06:59:57
frozen='class "night" { rank = 4  budget = "12h"  hours = "22:00-07:00"  outside-hours = "freeze" }'
conf $'lanes = 1\n'"$frozen"
night=$(pgpu submit -q -p night -- sh -c "$(gate night); echo over >night.over")
reached night
matches "in its hours it runs" "$night R " "$(pgpu queue)"
until_true queue_shows "$night S .*frozen; outside the hours of class night"
ok "a job that runs is frozen at their end"
exits 0 "its lane is free" pgpu run -q --no-wait -- true
matches "status says who is frozen" "frozen: job $night sh \(night\), keeps [0-9.]+[KMG]" "$(pgpu status)"
matches "in JSON" "\"frozen\":\[\{\"job\":\"$night\",\"class\":\"night\",\"name\":\"sh\",\"memory_bytes\":[0-9]+,\"vram_bytes\":null\}\]" "$(pgpu status --json)"
conf $'lanes = 1\nclass "night" { rank = 4  budget = "12h"  hours = "00:00-24:00"  outside-hours = "freeze" }'
exits 0 "any call sees that the hours are others" pgpu queue
open_gate night
exits 0 "when they come again it goes on to its end" timeout 30 pgpu wait "$night"
check "as if nothing had been" test -e night.over

night=$(pgpu submit -q -p night -- sh -c "$(gate changed)")
reached changed
conf $'lanes = 1\n'"$frozen"
until_true queue_shows "$night S .*frozen; outside the hours of class night" && ok "one that runs is frozen when they are changed"
conf $'lanes = 1\nclass "night" { rank = 4  budget = "12h"  hours = "00:00-24:00"  outside-hours = "freeze" }'
pgpu queue >/dev/null
open_gate changed
exits 0 "and goes on when they are changed back" timeout 30 pgpu wait "$night"

kill_all
shows 06:59:57
conf $'lanes = 2\nclass "night" { rank = 4  budget = "12h"  hours = "22:00-07:00" }'
night=$(pgpu submit -q -p night -- sh -c "$(gate kept)")
reached kept
until_true sh -c '! pgpu run -q -p night --no-wait -- true' && ok "their end comes"
matches "one that runs goes on, where nothing is said" "$night R " "$(pgpu queue)"
open_gate kept
exits 0 "to its end" pgpu wait "$night"
conf 'class "night" { rank = 4  budget = "12h"  hours = "22-07" }'
exits 2 "hours that are none are refused" pgpu conf
matches "with their line" "pgpu.conf:1: hours: '22-07' is no window of the day" "$(cat "$err")"
finish
