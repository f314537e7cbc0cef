#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How far a job says it is: PGPU_PROGRESS, where it is shown, and what is not believed.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 2'

# of PYTHON: a value of the job's `queue --json` entry, as j.
of() { pgpu queue "$id" --json | python3 -c "import json, sys; j = json.load(sys.stdin)[0]; print($1)"; }
# told: what `queue` says of the job, behind its lane.
told() { pgpu queue "$id" | sed -n '2s/.*on lane [0-9]*//p'; }

id=$(pgpu submit -- sh -c "echo \$PGPU_PROGRESS >path; echo 37/250 >\$PGPU_PROGRESS; $(gate a); echo end")
reached a
file=$(cat path)
matches "a name beside the frozen counter" "^$XDG_RUNTIME_DIR/pgpu/[0-9]+-[0-9]+\.progress$" "$file"
matches "queue tells it" '; 37/250 14%(, about .* left)?$' "$(told)"
matches "show too" 'progress +37/250 14%' "$(pgpu show "$id")"
matches "and status" 'job '"$id"' .*; 37/250 14%' "$(pgpu status)"
equals "queue --json: figures" "37 250 True" "$(of 'j["progress"]["done"], j["progress"]["total"], j["progress"]["left_s"] >= 0')"
equals "show --json" "37 250" "$(pgpu show "$id" --json | python3 -c 'import json, sys; p = json.load(sys.stdin)["progress"]; print(p["done"], p["total"])')"
equals "status --json" "37" "$(pgpu status --json | python3 -c 'import json, sys; print(*[lane["progress"]["done"] for lane in json.load(sys.stdin)["lanes"] if lane["job"]])')"
equals "the time left is linear" True "$(of 'abs(j["progress"]["left_s"] - j["ran_s"] * 213 / 37) < 0.1')"

# --- what is not believed -------------------------------------------------------------------------------------------
none() { equals "$1 is no progress" 'None ' "$(of 'j["progress"]') $(told)"; }
printf '0/250' >"$file"
equals "without a first step no time is known" 'None 0/250 0%' "$(of 'j["progress"]["left_s"]') $(told | sed 's/; //')"
printf '250/250 frames\n' >"$file"
equals "words" '; 250/250 100%: frames' "$(told)"
printf '1/2 \033[31m\r\007red\302\233 \377' >"$file"
equals "what a terminal obeys is shown harmless" '100% of 1/2: ?[31m??red? ?' "100% of $(told | sed -E 's/; 1\/2 50%(, about .* left)?/1\/2/')"
printf '3/2\n' >"$file"; none "more than all"
printf -- '-1/2\n' >"$file"; none "a sign"
printf '1/2x\n' >"$file"; none "a number that goes on"
: >"$file"; none "an empty file"
head -c 100000 /dev/zero >"$file"; none "a long file of NULs"
(printf '1/2 '; head -c 100000 /dev/zero | tr '\0' x) >"$file"
equals "of a long line a part" 127 "$(told | sed 's/.*: //' | tr -d '\n' | wc -c)"
rm "$file"; none "a file that is gone"
echo 1/2 >elsewhere && ln -s "$PWD/elsewhere" "$file"; none "a link"
rm "$file" && mkfifo "$file"; none "a pipe, which holds nobody up,"
rm "$file" && mkdir "$file"; none "a folder"
rmdir "$file"
echo 2/2 >"$file"
equals "and the next one counts" '; 2/2 100%' "$(told)"
open_gate a
exits 0 "the job ends" pgpu wait "$id"
check "and its file with it" test ! -e "$file"
equals "an ended job has none" None "$(of 'j["progress"]')"

# --- one job after the other ----------------------------------------------------------------------------------------
conf 'lanes = 1'
one=$(pgpu submit -- sh -c 'echo 1/2 >$PGPU_PROGRESS')
id=$(pgpu submit -- sh -c "$(gate b)")
reached b
exits 0 "the job before it has ended" pgpu wait "$one"
none "that of the job before"
pgpu requeue "$one"
waits=$one one=$id id=$waits
equals "a job that waits has none" None "$(of 'j["progress"]')"
pgpu cancel "$waits" >"$out"
id=$one
open_gate b
pgpu wait "$id"

# --- a blocking run -------------------------------------------------------------------------------------------------
pgpu run -q -- sh -c "echo \$PGPU_PROGRESS >path; echo 1/4 a run >\$PGPU_PROGRESS; $(gate c); sleep 0.2" & wrapper=$!
reached c
id=$(pgpu queue --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')
matches "of a run" '; 1/4 25%(, about .* left)?: a run$' "$(told)"
open_gate c
wait $wrapper
check "its file goes, too" test ! -e "$(cat path)"
equals "one that leaked does not pass" 1 "$(PGPU_PROGRESS=/leaked pgpu run -q -- cat /proc/self/environ | tr '\0' '\n' | grep -c '^PGPU_PROGRESS=')"
equals "nor into a spooled job" 1 "$(PGPU_PROGRESS=/leaked pgpu submit -W -o leaked -- cat /proc/self/environ >/dev/null; tr '\0' '\n' <leaked | grep -c '^PGPU_PROGRESS=')"

# --- turns ----------------------------------------------------------------------------------------------------------
pgpu submit -p interactive -- sh -c "echo 1/2 before >\$PGPU_PROGRESS; $(gate d); pgpu turn; $(gate e)" >"$SANDBOX/id"
id=$(cat "$SANDBOX/id")
reached d
other=$(pgpu submit -p interactive --as other -- sh -c "$(gate f)")
open_gate d
reached f
until_true queue_shows ' S .*1/2 50%'
equals "a frozen job keeps what it said" 1 "$(of 'j["progress"]["done"]')"
before=$(of 'j["progress"]["left_s"]')
equals "and no time runs" "$before" "$(of 'j["progress"]["left_s"]')"
open_gate f
reached e
open_gate e
exits 0 "to its end" pgpu wait "$id" "$other"
finish
