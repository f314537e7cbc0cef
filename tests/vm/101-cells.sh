#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What pgpu says about cells is so, and a cell leaves nothing behind: no process, no cgroup.
# scenes: manager ssh ssh-other root
# shellcheck disable=SC2016 # the jobs' shells read it
. "$(dirname "$0")/lib.sh"

status=$(pgpu status --json)
if [ "$SCENE" = manager ]; then
	matches "cells with a ceiling of memory" '"available":true,"memory":true,"freezer":true,"processes":true,"vram":(true|false),"reason":null' "$status"
else
	matches "cells with a ceiling, or a reason why not" '"memory":true|"reason":"[^"]+"' "$status"
fi

# Children that leave the process group, the session and their parent. The job itself waits until all of them are there.
mkfifo ready
exits 3 "a job whose children escape ends" pgpu run -q -- bash -c '
	exec 3<>ready
	setsid sleep 1000 & echo $! >>pids
	setsid sh -c "sh -c \"echo \\\$\\\$ >>pids; echo >ready; exec sleep 1000\" & exit" &
	python3 -c "import os, time
if os.fork() == 0:
	os.setsid()
	if os.fork() == 0:
		print(os.getpid(), file=open(\"pids\", \"a\"))
		print(file=open(\"ready\", \"w\"))
		time.sleep(1000)
	os._exit(0)" &
	for child in 1 2; do read -r _ <&3; done
	exit 3'
equals "it had three of them" 3 "$(wc -l <pids)"
# shellcheck disable=SC2046 # a list of words
gone "they are gone when run returns" $(cat pids)

before=$(cells)
equals "no cgroup is left of them" "" "$before"
need_cells "many jobs leave no cgroup"
for ((job = 1; job <= 20; job++)); do
	pgpu run -q -- true || break
done
equals "20 jobs run" 21 $job
equals "and leave no cgroup" "" "$(cells)"
finish
