#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A whole night in fast motion, that of 2026-10-25 in which daylight saving ends: the machine's clock is set forward as
# fast as the jobs are done. 300 frames in a class that has hours, what waits for them, a job that fails twice, one for
# a time that comes twice, one for the morning, and the power goes in the middle. What is to be in the morning was
# written down before.
# scenes: host
# shellcheck disable=SC2016 # for the machine's shell
. "$(dirname "$0")/lib.sh"
machine=$REPO/tests/vm/machine
stage=$SANDBOX/stage disk=$SANDBOX/disk
mkdir -p "$stage/build" && cp "$BUILD/pgpu" "$stage/build/" || exit 1

# shellcheck disable=SC2317 # exits calls it
boot()
{
	"$machine" run --disk "$disk" "$1" "$2" --src "$stage" -- bash -c "PATH=\$PWD/build:\$PATH; cd
		export TZ=CET-1CEST,M3.5.0,M10.5.0/3
		clock() { sudo date -s \"\$1\" >/dev/null; }
		until_true() { until \"\$@\"; do sleep 0.2; done; }
		ended() { ls .local/state/pgpu/*/ended | grep -cE \"\$1\"; }
		reaches() { [ \"\$(ended \"\$1\")\" -ge \"\$2\" ]; }
		$3"
}

cat >"$SANDBOX/conf" <<'EOF'
lanes = 2
class "night" { rank = 4  budget = "12h"  hours = "22:00-07:00" }
class "day"   { rank = 3  budget = "1h"   hours = "07:00-20:00" }
EOF
exits 0 "the evening, until the power goes" boot --cut-on 'cut here' '
	mkdir -p .config/pgpu && cat >.config/pgpu/pgpu.conf <<EOF
'"$(cat "$SANDBOX/conf")"'
EOF
	clock 2026-10-24T21:58:00+02:00
	pgpu submit -q -J strip -p night -a 1-300 -- true
	pgpu submit -q -J encode -p night -d afterok:1 -- sh -c "date +%d.%H >encoded"
	pgpu submit -q -J broken -p night -d afternotok:1 -- true
	pgpu submit -q -J report -d afterany:3 -- true
	pgpu submit -q -J flaky -b 2026-10-24T22:30:00+02:00 --retries 3 -- sh -c "echo x >>tried; [ \$(wc -l <tried) -gt 2 ]"
	pgpu submit -q -J twice -b 2026-10-25T02:30 -- sh -c "date +%d.%H:%M:%S%z >twice.at"
	pgpu submit -q -J breakfast -p day -- sh -c "date +%d.%H:%M >breakfast.at"
	pgpu submit -q -J held -H -- true
	pgpu queue --json | python3 -c "import json, sys; print(\"evening:\", *sorted(job[\"name\"] + \":\" + (job[\"reason\"] or job[\"state\"]) for job in json.load(sys.stdin)))"
	clock 2026-10-24T22:00:00+02:00
	until_true reaches "^1_.*:completed:0$" 60
	sync .config .config/pgpu .config/pgpu/pgpu.conf .
	echo cut here
	sleep 1000'
matches "before it began everything waited for what it should" \
	'evening: breakfast:hours broken:after encode:after flaky:begin held:held report:after strip:hours twice:begin' "$(cat "$out")"

exits 0 "the night, from the boot on" boot --timeout 900 '
	clock 2026-10-24T22:20:00+02:00
	pgpu rescue >/dev/null
	until_true reaches "^1_.*:completed:0$" 300
	pgpu wait 2
	clock 2026-10-24T22:30:00+02:00
	until_true test -s tried
	for hour in 23:30 23:45; do
		until_true sh -c "pgpu show 5 | grep -qE \"not before|again\" || pgpu show 5 | grep -q ended"
		clock 2026-10-24T$hour:00+02:00
	done
	pgpu wait 5
	clock 2026-10-25T02:29:58+02:00
	pgpu wait 6
	clock 2026-10-25T06:59:58+01:00
	pgpu wait 7
	late=$(pgpu submit -q -J late -p night -- true)
	pgpu queue --all --json | python3 -c "
import collections, json, sys
jobs = json.load(sys.stdin)
strip = [job for job in jobs if job[\"name\"] == \"strip\"]
print(\"strip:\", *[f\"{state} {count}\" for state, count in collections.Counter(job[\"state\"] for job in strip).items()], len({job[\"id\"] for job in strip}))
print(\"started again:\", sum(job[\"restarts\"] for job in strip) <= 2)
print(\"morning:\", *sorted(job[\"name\"] + \":\" + job[\"state\"] + \":\" + (job[\"reason\"] if job[\"state\"] == \"pending\" else str(job[\"exit_code\"])) for job in jobs if job[\"name\"] != \"strip\"))"
	echo "tried $(wc -l <tried), encoded on $(cat encoded), at 02:30 $(cat twice.at), breakfast $(cat breakfast.at)"
	find /sys/fs/cgroup -name "pgpu-*"'
said=$(cat "$out")
matches "each frame was rendered" 'strip: completed 300 300' "$said"
matches "those that ran when the power went twice, the others once" 'started again: True' "$said"
matches "in the morning all is as it was written down" \
	'morning: breakfast:completed:0 broken:cancelled:125 encode:completed:0 flaky:completed:0 held:pending:held late:pending:hours report:completed:0 twice:completed:0' "$said"
matches "the failing one was tried three times, the encoding came in the night" 'tried 3, encoded on 24.22' "$said"
matches "02:30 was the first of the two" 'at 02:30 25.02:30:[0-9]+\+0200' "$said"
matches "and breakfast at seven" 'breakfast 25.07:00' "$said"
lacks "no cgroup is left" '/sys/fs/cgroup/pgpu' "$said"
finish
