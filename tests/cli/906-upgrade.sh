#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Another pgpu is installed over the one that jobs run and wait under, or it is taken away: the line goes on.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

# The old one and the new one differ in what `cmp` sees; an installation renames the new over the old.
mkdir "$SANDBOX/bin"
pgpu() { "$SANDBOX/bin/pgpu" "$@"; }
cp "$BUILD/pgpu" "$SANDBOX/bin/pgpu"
install_other()
{
	cp "$BUILD/pgpu" "$SANDBOX/new" && echo "$1" >>"$SANDBOX/new" && mv "$SANDBOX/new" "$SANDBOX/bin/pgpu"
}
exe() { readlink "/proc/$1/exe"; }

pgpu run -q --name holder -- sh -c "echo \$GPU_QUEUE_PID >holder; $SANDBOX/bin/pgpu turn; $(gate a); exit 3" & holder=$!
reached a
pgpu run -q --name waiter -- sh -c 'echo $GPU_QUEUE_PID >waiter; exit 4' & waiter=$!
until_true queue_shows waiter
first=$(pgpu submit -q -- sh -c "echo \$GPU_QUEUE_PID >first; $(gate b); exit 5")
second=$(pgpu submit -q --name second -- sh -c 'exit 6')
equals "all of them are one binary's" "$SANDBOX/bin/pgpu" "$(exe "$(cat holder)")"
install_other new
equals "which is gone from its name" "$SANDBOX/bin/pgpu (deleted)" "$(exe "$(cat holder)")"
exits 0 "the new one reads the line" pgpu queue
equals "as it is" 'R PD PD PD' "$(awk 'NR > 1 { print $2 }' "$out" | paste -sd ' ')"
third=$(pgpu submit -q --name third -- sh -c 'exit 7')
exits 75 "and counts the old one's lanes" pgpu run --no-wait -- true
exits 0 "it holds a job of the old one's" pgpu hold "$second"
exits 0 "and lets it go" pgpu release "$second"
open_gate a
wait $holder
equals "the old one's job ends as it likes" 3 $?
wait $waiter
equals "the old one's waiting call has its turn" 4 $?
reached b
matches "what it hands on to runs, whichever starts it" "^$SANDBOX/bin/pgpu( \\(deleted\\))?$" "$(exe "$(cat first)")"

# A worker of the old one dies, the new one mends.
old=$(cat first)
kill -KILL "$old"
until_true queue_shows ' R .*' "$first"
reached b
equals "one that died is started again by who is there" 1 "$(pgpu show --json "$first" | python3 -c 'import json, sys; print(json.load(sys.stdin)["restarts"])')"
matches "in another worker" "^[0-9]+$" "$(sed "/^$old\$/d" first)"

# No pgpu at all for a while.
mv "$SANDBOX/bin/pgpu" "$SANDBOX/away"
open_gate b
# shellcheck disable=SC2317 # until_true calls it
third_ended() { find "$XDG_STATE_HOME/pgpu" -path "*/ended/$third:*:failed:7" | grep -q .; }
until_true third_ended
mv "$SANDBOX/away" "$SANDBOX/bin/pgpu"
exits 5 "without the file the line went on" pgpu wait "$first"
exits 6 "to the next" pgpu wait "$second"
exits 7 "and to the new one's" pgpu wait "$third"
exits 0 "nothing is left for a rescue" pgpu rescue
equals "to mend" '' "$(cat "$out" "$err")"

# A turn taken with the new one, of a supervisor that is an old one.
pgpu run -q -p clip -- sh -c "$(gate c); $SANDBOX/bin/pgpu turn; echo \$? >turned" & holder=$!
reached c
install_other newer
pgpu run -q -- true & waiter=$!
until_true queue_shows ' PD .*true'
open_gate c
wait $holder $waiter
equals "a turn between two versions" 0 "$(cat turned)"
finish
