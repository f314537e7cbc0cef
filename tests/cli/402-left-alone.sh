#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The queue left alone after the last submit: every job once, in the order that was announced, never more at a time than there
# are lanes; and what a job file or a folder becomes after submit does not matter (C029, C039, C089).
. "$(dirname "$0")/lib.sh"

in_line() { pgpu queue --json | python3 -c '
import json, sys
print(*[job["name"] for job in json.load(sys.stdin) if job["state"] == "pending"])'; }

# The contract's order, counted again from the jobs' rank, session and id: rank, the session served longest ago, arrival.
cat >expect.py <<'END'
import json, sys
ranks = {'interactive': 0, 'test': 1, 'clip': 1, 'render': 1, 'bench': 1, 'truth': 2, 'search': 3}
served = {name: number for number, name in enumerate(sys.argv[1:], -len(sys.argv))}
waiting = [job for job in json.load(sys.stdin) if job['state'] == 'pending']
clock = 0
while waiting:
    next = min(waiting, key=lambda job: (ranks[job['class']], served.get(job['session'], -10000), int(job['id'])))
    waiting.remove(next)
    clock += 1
    served[next['session']] = clock
    print(next['name'], end='\n' if not waiting else ' ')
END

# --- 50 spooled jobs of all classes and sessions, six blocking ones among them ---
classes=(interactive test clip render bench truth search)
for lanes in 1 2; do
	conf "lanes = $lanes"
	: >order
	: >ids
	for ((lane = 1; lane <= lanes; lane++)); do
		pgpu submit --as first$lane -- sh -c "$(gate "first$lanes-$lane")" >>ids
		reached "first$lanes-$lane"
	done
	for ((job = 1; job <= 50; job++)); do
		pgpu submit -p "${classes[job % 7]}" --as "s$((job % 4))" --name "j$job" -- sh -c "echo j$job >>$PWD/order" >>ids
		if ((job % 9 == 0)); then
			pgpu run -q -p "${classes[job % 5]}" --as "s$((job % 3))" --name "b$job" -- sh -c "echo b$job >>$PWD/order" &
			until_true queue_shows "b$job"
		fi
	done
	in_line >announced
	pgpu queue --json | python3 expect.py first1 first2 >expected
	same_bytes "$lanes lanes: queue announces the contract's order" expected announced
	# In the last of all classes: it comes when everything else has.
	pgpu submit -p search --as zz --name last -- sh -c "$(gate "last$lanes")" >>ids
	pgpu queue --json | python3 expect.py first1 first2 >expected
	in_line >announced
	same_bytes "$lanes lanes: with the last job too" expected announced
	open_gate "first$lanes-1"
	# From here on nobody calls pgpu until the last job has begun.
	reached "last$lanes"
	if [ $lanes -eq 1 ]; then
		equals "1 lane: run in the order announced, with the queue left alone" "$(tr ' ' '\n' <announced | grep -v last | head -n "$(wc -l <order)" | paste -sd ' ')" "$(paste -sd ' ' order)"
	fi
	[ $lanes -eq 1 ] || open_gate "first$lanes-2"
	open_gate "last$lanes"
	xargs pgpu wait <ids
	wait
	equals "$lanes lanes: each once" 55 "$(sort order | uniq -c | awk '$1 == 1' | wc -l)"
	equals "$lanes lanes: and no more than that" 55 "$(wc -l <order)"
done

# --- two lanes never run three jobs ---
conf 'lanes = 2'
mkdir slots
: >too-many
cat >short.sh <<END
#!/bin/sh
# A lane is a slot that must be free: mkdir takes it in one step.
mkdir $PWD/slots/1 2>/dev/null && slot=1 || { mkdir $PWD/slots/2 2>/dev/null && slot=2; } || { echo "\$1" >>$PWD/too-many; exit 1; }
echo "\$1" >>$PWD/short
rmdir $PWD/slots/\$slot
END
chmod +x short.sh
each=15
[ -z "${SCENE:-}" ] || each=3 # a start takes thirty times as long there
for ((caller = 1; caller <= 20; caller++)); do
	(
		for ((job = 1; job <= each; job++)); do
			if (((caller + job) % 3)); then
				pgpu submit -p "${classes[job % 7]}" --as "s$((caller % 5))" -- "$PWD/short.sh" "$caller.$job" >>"ids.$caller"
			else
				pgpu run -q -p "${classes[job % 7]}" --as "s$((caller % 5))" -- "$PWD/short.sh" "$caller.$job"
			fi
		done
	) &
done
wait
cat ids.* | xargs pgpu wait
equals "C089 $((20 * each)) jobs of 20 callers: each once" $((20 * each)) "$(sort short | uniq -c | awk '$1 == 1' | wc -l)"
equals "two lanes never run three jobs" '' "$(cat too-many)"

# --- what becomes of the sources after submit ---
for cells in auto off; do
	conf "lanes = 1
cells = \"$cells\""
	pgpu run -q -- sh -c "$(gate "busy-$cells")" &
	reached "busy-$cells"
	mkdir -p "src-$cells"
	printf '#!/bin/sh\n# \351\377 bytes\necho was submitted >%s/result-%s\ncat "$0" >%s/script-%s\n' "$PWD" "$cells" "$PWD" "$cells" >"src-$cells/job.sh"
	cp "src-$cells/job.sh" "wanted-$cells"
	id=$(pgpu submit --output "$PWD/o-$cells" "src-$cells/job.sh")
	printf '#!/bin/sh\necho changed >%s/result-%s\n' "$PWD" "$cells" >"src-$cells/job.sh"
	rm -r "src-$cells"
	open_gate "busy-$cells"
	exits 0 "cells = $cells: a job whose file was changed and whose folder is gone" pgpu wait "$id"
	equals "cells = $cells: runs as submitted" 'was submitted' "$(cat "result-$cells")"
	same_bytes "cells = $cells: byte for byte" "wanted-$cells" "script-$cells"
	wait

	# A job that submits its successor and ends does not take it along.
	id=$(pgpu submit -- sh -c "pgpu submit -- sh -c 'echo lives >$PWD/next-$cells; $(gate "next-$cells")' >$PWD/next-id-$cells")
	reached "next-$cells"
	exits 0 "cells = $cells: a job that submits its successor ends" pgpu wait "$id"
	equals "cells = $cells: and the successor lives" lives "$(cat "next-$cells")"
	open_gate "next-$cells"
	exits 0 "cells = $cells: to its end" pgpu wait "$(cat "next-id-$cells")"

	# A worker that is killed: once more, or lost.
	id=$(pgpu submit -- sh -c "echo \$GPU_QUEUE_PID >$PWD/worker; echo \$PGPU_RESTART_COUNT >>$PWD/restarts-$cells; $(gate "again-$cells")")
	reached "again-$cells"
	kill -KILL "$(cat worker)"
	pgpu queue >"$out"
	reached "again-$cells"
	open_gate "again-$cells"
	exits 0 "cells = $cells: the job of a killed worker runs again" pgpu wait "$id"
	equals "cells = $cells: and says so" '0 1' "$(paste -sd ' ' "restarts-$cells")"
	id=$(pgpu submit --no-requeue -- sh -c "echo \$GPU_QUEUE_PID >$PWD/worker; $(gate "lost-$cells")")
	reached "lost-$cells"
	kill -KILL "$(cat worker)"
	exits 125 "cells = $cells: or is lost" pgpu wait "$id"
	equals "cells = $cells: in that word" lost "$(pgpu show --json "$id" | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])')"
done

# --- C039: cancel at every moment of a start ---
# A cancel waits for the grace and 5 s; a job that ends at SIGTERM needs no grace, but the emulated machine its time.
conf "lanes = 2
grace = \"$((slow > 1 ? 20 : 0))s\""
turns=200
[ "$slow" -eq 1 ] || turns=60 # one takes a second there
for ((turn = 0; turn < turns; turn++)); do
	id=$(pgpu submit -- sh -c "echo $turn >>$PWD/began; while :; do read x || exec sleep 1000; done")
	echo "$id" >>cancelled
	# What lies between the two calls: nothing, calls that take a while, a look until it runs.
	case $((turn % 5)) in
	1) pgpu status >"$out" ;;
	2) pgpu queue >"$out" && pgpu show "$id" >"$out" ;;
	3) pgpu run -q -- true ;;
	4) until_true queue_shows "^ *$id R" ;;
	esac
	pgpu cancel "$id" >"$out" 2>"$err" || not_ok "C039 cancel $id" "$(cat "$err")"
done
equals "C039 $turns jobs cancelled while they start: all of them end cancelled" "cancelled $turns" "$(pgpu queue --all --json | python3 -c '
import collections, json, sys
ids = set(open("cancelled").read().split())
print(*[f"{state} {count}" for state, count in collections.Counter(job["state"] for job in json.load(sys.stdin) if job["id"] in ids).items()])')"
equals "C039 and nothing of them runs" '' "$(pgpu queue --json | tr -d '[] \n')"

# --- C029: records with a pid that is somebody else's by now ---
env -i sleep 1000 & stranger=$!
id=$(pgpu submit -- sh -c "$(gate stale)")
reached stale
seat=$(grep -l "^job $id$" "$XDG_STATE_HOME"/pgpu/*/boot-*/lane-*)
# All at once, as by a power cut: nobody is left who would clear it before the file says what it is to say.
kill_all
sed -i "s/^owner [0-9]* /owner $stranger /; s/^main [0-9]* /main $stranger /" "$seat"
pgpu queue >"$out"
reached stale
ok "C029 a lane whose owner's pid is a stranger's by now is cleared"
check "C029 and the stranger is left alone" alive $stranger
open_gate stale
exits 0 "C029 its job runs again" pgpu wait "$id"
kill -KILL $stranger
finish
