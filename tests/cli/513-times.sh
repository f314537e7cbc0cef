#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Budget, limit and the signal ahead of them: once each, by the time the job ran, and to whom they are meant for.
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"

rows() { awk -F '\t' -v id="$1" '$2 == id { print $NF ":" $(NF - 1) }' "$XDG_STATE_HOME"/pgpu/*/log.tsv | paste -sd ' '; }
last_id() { pgpu queue --all --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[-1]["id"])'; }
last_of() { pgpu queue --all --json | python3 -c 'import json, sys; print([job["id"] for job in json.load(sys.stdin) if job["name"] == sys.argv[1]][-1])' "$1"; }
# A job that ends when it has had the signal, and says so; its child too.
# shellcheck disable=SC2016 # the job's shell reads it
heeds='trap "echo $0 got it; exit 3" USR1; while :; do read -rt 0.1 <>pipe; done'
mkfifo pipe

for cells in auto off; do
	conf "lanes = 2"$'\n'"cells = \"$cells\""$'\ngrace = "1s"\nclass "warned" { rank = 1 budget = "'$((2 * slow))$'s" budget-signal = "USR1@'"$slow"$'s" }'
	with="cells = $cells"

	exits 124 "$with: a job past its limit is stopped" pgpu run --budget 1s --limit 2s -- sleep 1000
	equals "$with: one line for the budget, one for the limit" \
		"$(printf 'pgpu: job %s has passed its budget of 1s\npgpu: job %s is stopped: past its limit of 2s\n' "$(last_id)" "$(last_id)")" \
		"$(grep -v 'ceiling\|no cell' "$err")"
	equals "$with: its row" timeout:124 "$(rows "$(last_id)")"
	pgpu run --budget 0.2s --limit 1h -- sh -c "$(gate budget)" 2>said & run=$!
	reached budget
	until_true grep -q 'has passed its budget of 0.2s' said
	open_gate budget
	wait $run
	equals "$with: past its budget alone it goes on" 0 $?

	exits 3 "$with: the class's signal comes ahead of the budget" pgpu run -q -p warned -- bash -c "$heeds" job
	equals "$with: to the job" 'job got it' "$(cat "$out")"
	cat >both.sh <<-END
	#!/bin/bash
	#PGPU budget: $((2 * slow))s
	#PGPU budget-signal: USR1@${slow}s
	bash -c '$heeds' child &
	trap 'wait; echo job got it; exit 3' USR1
	while :; do read -rt 0.1 <>pipe; done
	END
	id=$(pgpu submit -q both.sh)
	exits 3 "$with: a header's signal" pgpu wait "$id"
	equals "$with: goes to every process of the job" $'child got it\njob got it' "$(pgpu output "$id")"
	sed 's/USR1@/B:&/' both.sh >first.sh
	sed -i "s/trap 'wait;/trap 'kill -0 \$! \&\& echo child lives;/" first.sh
	id=$(pgpu submit -q first.sh)
	exits 3 "$with: with B:" pgpu wait "$id"
	equals "$with: to the first alone" $'child lives\njob got it' "$(pgpu output "$id")"

	# --- a job that is away does not age ---
	conf "lanes = 1"$'\n'"cells = \"$cells\""$'\nstall-after = "'$((3 * slow))$'s"\nclass "test" { stall-after = "0" }'
	pgpu run -q -p clip --as away --name away --limit $((3 * slow))s -- sh -c "$(gate away); pgpu turn; exit 9" & away=$!
	reached away
	pgpu run -q -p test --as other --name other -- sleep $((4 * slow)) & other=$!
	until_true queue_shows 'PD .*other'
	open_gate away
	wait $other
	wait $away
	equals "C047 $with: time away counts neither for the limit nor as a stall" 9 $?
	equals "C047 $with: time away and time that it ran are told apart" "True True" "$(pgpu show --json "$(last_of away)" | python3 -c '
import json, sys
job = json.load(sys.stdin)
print(job["frozen_s"] >= 4 * int(sys.argv[1]), job["ran_s"] < 3 * int(sys.argv[1]))' "$slow")"
done
exits 2 "a signal that nobody can catch is refused" pgpu submit - <<<$'budget-signal: KILL@5s\ncommand: [true]'
matches "with its line" 'stdin:1:16: budget-signal: no process can catch KILL|-:1:16: .*no process can catch KILL' "$(cat "$err")"
exits 2 "an unknown one too" pgpu submit - <<<$'budget-signal: USR3@5s\ncommand: [true]'
matches "with the nearest" "did you mean 'USR1'" "$(cat "$err")"
finish
