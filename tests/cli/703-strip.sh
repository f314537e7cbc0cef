#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A strip of 24 frames as an array, every tenth first; everything of pgpu is killed in the middle of it, and one
# rescue is all that it takes: no frame that was finished is rendered again.
. "$(dirname "$0")/lib.sh"
if ! command -v povray >/dev/null; then
	skip "the strip is rendered over a kill of everything" "no povray here"
	finish
fi
conf 'lanes = 2'
cp "$REPO"/examples/strip/* .
frames() { find frames -name 'strip*.png' -size +1k 2>/dev/null | wc -l; }

strip=$(pgpu submit -q array.yaml)
until_true sh -c '[ "$(find frames -name "strip*.png" | wc -l)" -ge 6 ]'
kill_all
equals "nothing of it runs any more" "" "$(sandbox_pids)"
before=$(frames)
[ "$before" -lt 24 ] && ok "it was broken off in the middle"
stat -c '%n %i %Y' frames/strip*.png | sort >finished
exits 0 "one rescue" pgpu rescue
exits 0 "and it goes on to its end" pgpu wait "$strip"
equals "with all frames" 24 "$(frames)"
equals "those that were finished were not rendered again" "" "$(stat -c '%n %i %Y' frames/strip*.png | sort | comm -13 - finished)"
equals "no frame was" "" "$(grep '^frame' "strip-$strip.log" | sort | uniq -d)"
again=$(pgpu submit -q array.yaml)
exits 0 "submitted again" pgpu wait "$again"
equals "it has nothing to do" 24 "$(pgpu queue "$again" --all --json | python3 -c 'import json, sys; print(sum("left out" in (job["reason"] or "") for job in json.load(sys.stdin)))')"
rm frames/strip02.png frames/strip07.png frames/strip11.png frames/strip21.png
conf 'lanes = 1' # one after the other, so that the log has the order in which they began
third=$(pgpu submit -q array.yaml)
exits 0 "or only what is missing" pgpu wait "$third"
equals "those frames, every tenth first" "frame 11 frame 21 frame 2 frame 7" "$(paste -sd ' ' "strip-$third.log")"
finish
