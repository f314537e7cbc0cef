#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that wait for other jobs: met, not any more, with kills in between, from inside a job.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 2'
spool=$(echo "$XDG_STATE_HOME"/pgpu/*)
state_of() { pgpu show --json "$1" | python3 -c 'import json, sys; job = json.load(sys.stdin); print(job["state"], job["exit_code"])'; }
runs() { pgpu submit -q "${@:2}" -- sh -c "$1"; }
waiting() { (cd "$spool/after" 2>/dev/null && find . -type f | sort | paste -sd ' '); }

# --- each condition, met and not ---
a=$(runs "$(gate a)")
reached a
ok=$(runs 'echo ok >>order' -d "afterok:$a")
not_ok=$(runs 'echo not_ok >>order' -d "afternotok:$a")
any=$(runs 'echo any >>order' -d "afterany:$not_ok,afterany:$a")
begun=$(runs 'echo begun >>order' --dependency "after:$ok")
exits 0 "who has begun has begun" pgpu submit -q -W -d "after:$a" -- true
matches "the others wait, and say for what" "$ok PD .*waits for job $a to complete" "$(pgpu queue)"
matches "in JSON" "\"id\":\"$any\",\"state\":\"pending\",\"reason\":\"after\".*\"after\":\"afterany:$not_ok,afterany:$a\"" "$(pgpu queue --json)"
equals "nothing has started" "" "$(cat order 2>/dev/null)"
open_gate a
exits 125 "what can no longer be met ends at once" pgpu wait "$not_ok"
exits 0 "the others start by themselves" pgpu wait "$ok" "$any" "$begun"
equals "all of them" $'any\nbegun\nok' "$(sort order)"
equals "it is cancelled" "cancelled 125" "$(state_of "$not_ok")"
matches "with the reason" "it waited for afternotok:$a, which can no longer be" "$(pgpu show "$not_ok")"
equals "nothing is left to look at" "" "$(waiting)"

# --- those that have ended already ---
fails=$(runs 'exit 3')
pgpu wait "$fails"
exits 0 "afternotok of one that failed" pgpu submit -q -W -d "afternotok:$fails" -- true
exits 125 "afterok of it" pgpu submit -q -W -d "afterok:$fails" -- true
exits 0 "afterok of one that ended well" pgpu submit -q -W -d "afterok:$a:$ok" -- true
first=$(pgpu submit -q -d "afterok:$fails" -- true)
exits 125 "a chain" pgpu submit -q -W -d "afterok:$first" -- true
exits 0 "to its end" pgpu submit -q -W -d "afterany:$first" -- true
exits 0 "a run that has ended" pgpu run -q -- true
run=$(pgpu log --json | python3 -c 'import json, sys; print([row["job"] for row in json.load(sys.stdin) if row["kind"] == "run"][-1])')
exits 0 "is known from the log" pgpu submit -q -W -d "afterok:$run" -- true

# --- refused ---
exits 2 "an id that was never given out" pgpu submit -d afterok:4711 -- true
equals "is named" "pgpu: after: job 4711 was never given out" "$(cat "$err")"
exits 2 "no condition" pgpu submit -d 4711 -- true
matches "with what one is" "after: '4711' names no condition \(afterok:4711, afterany:4711\)" "$(cat "$err")"
printf 'after: [afterok:%s, aftrany:%s]\ncommand: "true"\n' "$a" "$a" >wrong.yaml
exits 2 "in a header" pgpu submit wrong.yaml
matches "with its place" "wrong.yaml:1:.*'aftrany' is no condition, did you mean 'afterany'\?" "$(cat "$err")"
printf 'after: [afterok:%s, afterany:%s]\ncommand: "true"\n' "$a" "$fails" >list.yaml
exits 0 "a list" pgpu submit -q -W list.yaml
pgpu run -q -- sh -c "$(gate live)" &
reached live
live=$(pgpu status --json | python3 -c 'import json, sys; print(*[lane["job"] for lane in json.load(sys.stdin)["lanes"] if lane["job"]])')
exits 2 "a run that has not ended" pgpu submit -d "afterany:$live" -- true
open_gate live
wait $!

# --- singleton ---
one=$(runs "$(gate one)" -J alone)
reached one
two=$(pgpu submit -q -J alone -d singleton -- sh -c 'echo two >>single')
three=$(pgpu submit -q -J alone -d singleton -- sh -c 'echo three >>single')
exits 0 "of another name nobody is waited for" pgpu submit -q -W -J other -d singleton -- true
matches "of the same the first is" "$two PD .*waits for earlier jobs of its name to end" "$(pgpu queue)"
open_gate one
exits 0 "one after the other" pgpu wait "$one" "$two" "$three"
equals "in order" $'two\nthree' "$(cat single)"

# --- orders to those that are waited for ---
held=$(runs 'true' -H)
behind=$(runs 'true' -d "afterok:$held")
later=$(runs 'true' -d "afterany:$behind")
exits 0 "one that waits is cancelled" pgpu cancel "$held"
exits 0 "who waits behind it goes on" pgpu wait "$later"
equals "and between them one has ended" "cancelled 125" "$(state_of "$behind")"
exits 0 "it can be put back in line" pgpu requeue "$behind"
exits 0 "and waits for nobody then" pgpu wait "$behind"
held=$(runs 'true' -H)
both=$(runs 'true' -H -d "afterok:$held")
pgpu release "$held"
pgpu wait "$held"
matches "met while it is held: it stays held" "$both PD .*pgpu release $both" "$(pgpu queue)"
exits 0 "until it is released" pgpu release "$both"
exits 0 "and then it runs" pgpu wait "$both"

first=$(runs 'false' -H)
last=$first
for _ in $(seq 40); do last=$(runs 'true' -d "afterok:$last"); done
# Whatever worker comes of it has few descriptors.
(ulimit -n 32 && exec pgpu release "$first")
exits 125 "the last of a long row ends with the first" timeout 30 pgpu wait "$last"
a=$(runs 'true' -H)
b=$(runs 'true' -d "afterok:$a")
other=$(runs 'true' -d "afterok:$b,afterok:$a")
c=$(runs 'true' -d "afterok:$a")
rm "$spool/after/$b/$other"
rmdir "$spool/after/$b"
: >"$spool/after/$b"
pgpu release "$a"
exits 0 "who cannot be looked at is in nobody's way" timeout 30 pgpu wait "$b" "$c"
rm "$spool/after/$b"
pgpu rescue >/dev/null 2>&1
exits 0 "and is looked at later" pgpu wait "$other"

# --- deaths ---
a=$(runs "$(gate dies)")
reached dies
b=$(runs 'true' -d "afterany:$a")
kill_all
exits 0 "after the death of all, and of what was to be looked at" rm -rf "$spool/after"
pgpu rescue >/dev/null 2>&1
reached dies
open_gate dies
until_true pgpu wait "$a"
pgpu rescue >/dev/null 2>&1
exits 0 "a rescue finds who waits" pgpu wait "$b"
a=$(runs "$(gate again)" --no-requeue)
reached again
b=$(runs 'true' -d "afternotok:$a")
kill -KILL "$(main_of "$a")"
exits 0 "a job that was killed has not ended well" pgpu wait "$b"

# --- from inside a job ---
cat >chain.sh <<'EOF'
#!/bin/sh
[ "$1" -gt 0 ] || exit 0
echo "$1" >>chain
pgpu submit -q -d "afterok:$PGPU_JOB_ID" chain.sh -- $(($1 - 1)) >next
EOF
chmod +x chain.sh
pgpu submit -q chain.sh -- 3 >next
until_true sh -c '[ "$(wc -l <chain)" = 3 ]'
equals "a job submits its successor" $'3\n2\n1' "$(cat chain)"
exits 0 "one that has ended already, asked from inside" pgpu submit -q -W -- sh -c "pgpu submit -q -d afterok:$ok -- sh -c 'echo inside >inside'"
until_true test -s inside
ok "starts"
a=$(runs true -H -a 1-3)
b=$(runs true -d "aftercorr:$a" -a 1-3)
pgpu release "$a"
exits 0 "task for task" pgpu wait "$a" "$b"
a=$(runs "$(gate news)")
reached news
cancelled=$(runs true -d "afterok:$a") changed=$(runs true -d "afterok:$a") waits=$(runs true -d "afterok:$a")
pgpu cancel "$cancelled" >/dev/null
pgpu update "$changed" after=none
open_gate news
exits 0 "of three the one that waits yet" pgpu wait "$a" "$changed" "$waits"
equals "nothing is left to look at" "" "$(waiting)"
# The folder in which it is noted who waits for a job may go between its making and its opening: its last one was met.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	pgpu drain
	a=$(pgpu submit -q -- true) b=$(pgpu submit -q -- true)
	strace -o trace -e trace=openat,mkdirat pgpu submit -q -d "afterok:$a" -- true >"$out" 2>"$err"
	when=$(awk -v made="\"$a\", 0700" '/^openat/ { n++ } /^mkdirat/ && index($0, made) { print n + 1; exit }' trace)
	check "the folder is made" test -n "$when"
	exits 0 "one that has gone again is made again" \
		strace -o trace -e trace=openat,mkdirat -e "inject=openat:error=ENOENT:when=${when:-1}" pgpu submit -q -d "afterok:$b" -- true
	check "it had gone" grep -q "^openat.*\"$b\".*ENOENT.*INJECTED" trace
	c=$(cat "$out")
	pgpu undrain
	exits 0 "who waits is told" pgpu wait "$c"
else
	skip "the folder of who waits goes between its making and its opening" "no strace here"
fi
finish
