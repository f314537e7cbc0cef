#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is printed with --json is what the schema says, by a validator.
. "$(dirname "$0")/lib.sh"
if ! python3 -c 'import jsonschema' 2>"$err"; then
	skip "the schema" "no jsonschema for Python here"
	finish
fi
schema=$REPO/man/pgpu.schema.json
cat >valid.py <<'END'
import json, sys
import jsonschema
whole = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(whole)
validator = jsonschema.Draft202012Validator({**whole, "$ref": "#/$defs/" + sys.argv[2]})
document = json.load(sys.stdin)
if len(sys.argv) > 3:  # takes this member out of the first object, or puts one in: the schema is to say no
    first = document[0] if isinstance(document, list) else document
    first["strange"] = first.pop(sys.argv[3])
for error in validator.iter_errors(document):
    sys.exit("/".join(map(str, error.absolute_path)) + ": " + error.message[-200:])
END
# valid DEFINITION NAME COMMAND…: and that it holds something.
valid()
{
	local definition=$1 name=$2
	shift 2
	"$@" >json 2>"$err"
	exits 0 "$name" python3 valid.py "$schema" "$definition" <json
}

valid queue "an empty queue" pgpu queue --json
valid doctor "the doctor" pgpu doctor --json
conf $'lanes = 2\nvram-settle = "0"'
pgpu run -q -J held-run -- sh -c "$(gate run)" & run=$!
reached run
running=$(pgpu submit -q -J frames --output out -m 1G -t 2h -- sh -c "echo 3/9 three >\$PGPU_PROGRESS; $(gate spooled)")
reached spooled
pgpu submit --json -q -J waits -- true >submitted
exits 0 "submit" python3 valid.py "$schema" submit <submitted
waits=$(python3 -c 'import json; print(json.load(open("submitted"))[0]["id"])')
held=$(pgpu submit -q -H -J held --nice 5 --retries 2 -- true)
later=$(pgpu submit -q -b now+1h -J later -- true)
after=$(pgpu submit -q -d "afterok:$waits" -J after -- true)
array=$(pgpu submit -q --array 1-5:2%2 -J tasks -- sh -c 'exit $((PGPU_ARRAY_TASK_ID == 3))')
standing=$(pgpu submit -q --standing -J service -- sleep 1000)
valid queue "runs, spooled jobs, arrays, in every state of waiting" pgpu queue --json
valid show "one of each" pgpu show --json "$running" "$waits" "$held" "$later" "$after" "$array" "$standing"
valid show "one alone" pgpu show --json "$running"
valid show "with its environment" pgpu show --json --env "$running"
valid status "the lanes and who waits" pgpu status --json
PGPU_PROCFS=$REPO/tests/fixtures/amdgpu-rx9060xt/proc PGPU_SYSFS=$REPO/tests/fixtures/amdgpu-rx9060xt/sys \
	valid status "with a card" pgpu status --json
pgpu drain --until 23:59 2>"$err"
valid status "drained" pgpu status --json
pgpu undrain
open_gate run
open_gate spooled
wait $run
pgpu wait "$waits" "$array" >"$out" 2>&1
pgpu cancel "$later" "$held" "$standing" >"$out"
valid queue "with what has ended" pgpu queue --all --json
valid show "ended ones" pgpu show --json "$running" "$array" "${array}_3" "$later"
valid log "the history" pgpu log --json
valid log-sum "its sums by session" pgpu log --sum session --json
valid log-sum "by class" pgpu log --sum class --json
valid log-foreign "who else wanted the card" pgpu log --foreign --json

# The schema says no.
for member in state pid restarts; do
	pgpu queue --all --json >json
	exits 1 "a job without $member is none" python3 valid.py "$schema" queue "$member" <json
done
pgpu status --json >json
exits 1 "nor a status without its lanes" python3 valid.py "$schema" status lanes <json
pgpu log --json >json
exits 1 "nor a row without its outcome" python3 valid.py "$schema" log outcome <json
finish
