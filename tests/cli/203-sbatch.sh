#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Scripts with #SBATCH lines: what is read, what is said about it, and the SLURM_* variables of such jobs.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

# field ID KEY: of `show --json`.
field() { pgpu show --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$2"; }

cat >train.sbatch <<'E'
#!/bin/bash
#SBATCH --job-name=train --time=1:30:00   # an hour and a half
#SBATCH -p clip --mem 2048
#SBATCH --gres=gpu:1 --cpus-per-task=8
#SBATCH -o 'out %x.log'
# a comment

printf '%s\n' "$SLURM_JOB_ID" "$SLURM_JOBID" "$SLURM_JOB_NAME" "$SLURM_JOB_PARTITION" "$SLURM_SUBMIT_DIR" \
	"$SLURM_RESTART_COUNT" "$SLURM_MEM_PER_NODE" "$SLURM_NNODES" "$SLURM_NTASKS" "$SLURM_PROCID" "$SLURM_LOCALID" \
	"$SLURM_NODEID" "$SLURM_CPUS_ON_NODE" "$SLURMD_NODENAME" "$SLURM_JOB_NODELIST" "${SLURM_ARRAY_TASK_ID-none}"
#SBATCH --time=nothing
E
exits 0 "a script with #SBATCH lines is spooled" pgpu submit train.sbatch
id=$(cat "$out")
equals "its id alone is on stdout" 1 "$(wc -l <"$out")"
equals "what was read and what was not is said" "pgpu: train.sbatch: read from #SBATCH: name train, class clip, limit 1h30m, memory 2G, output out %x.log
pgpu: train.sbatch:4: #SBATCH --cpus-per-task=8 is not read" "$(sed 's/memory 2048M/memory 2G/' "$err")"
pgpu wait "$id"
equals "the bare figures are Slurm's" "5400.0 2147483648 clip train" \
	"$(python3 -c 'import sys; print(float(sys.argv[1]), *sys.argv[2:])' "$(field "$id" limit_s)" "$(field "$id" memory_bytes)" "$(field "$id" class)" "$(field "$id" name)")"
host=$(uname -n)
equals "its environment is Slurm's" "$id $id train clip $PWD 0 2048 1 1 0 0 0 $(nproc) ${host%%.*} ${host%%.*} none" \
	"$(paste -sd ' ' 'out train.log')"
exits 0 "-q says nothing" pgpu submit -q train.sbatch
equals "-q says nothing, indeed" '' "$(cat "$err")"
pgpu wait "$(cat "$out")"

# The command line wins over the lines, and #PGPU over #SBATCH.
printf '#!/bin/sh\n#SBATCH -J slurm -t 10 --hold\n#PGPU limit: 2h\n#PGPU name: own\ntrue\n' >both.sh
exits 0 "both kinds of lines" pgpu submit --dry-run --class test both.sh
matches "#PGPU wins over #SBATCH" 'name: "own"' "$(cat "$out")"
matches "key by key" $'limit: 2h\n' "$(cat "$out")"
matches "the rest is #SBATCH's" $'hold: true\n' "$(cat "$out")"
matches "the command line wins over both" 'class: "test"' "$(cat "$out")"
matches "the record says that its variables are Slurm's" $'slurm-env: true\n' "$(cat "$out")"

# Errors name the place, and nothing is spooled.
before=$(pgpu queue --all --json)
refused()
{
	printf '#!/bin/sh\n%s\ntrue\n' "$2" >wrong.sh
	exits 2 "$1 is refused" pgpu submit wrong.sh
	equals "$1: its place and reason" "pgpu: wrong.sh:$3" "$(cat "$err")"
}
refused "an unknown partition" '#SBATCH -t 5 -p rendr' "2:17: class: unknown class 'rendr', did you mean 'render'?"
refused "a wrong time" '#SBATCH --time=soon' "2:9: limit: 'soon' is no time of Slurm's: minutes, 1:30 (minutes and seconds), 1:30:00, 2-12, 2-12:30 or 2-12:30:00"
refused "two cards" '#SBATCH --gres=gpu:2' '2:9: 2 GPUs, and a job here has one card'
refused "an open quote" '#SBATCH -J "a' '2:12: #SBATCH: a quote " that does not end'
refused "a folder that is not there" '#SBATCH --chdir /nowhere/at/all' "2:17: workdir: cannot use folder '/nowhere/at/all': No such file or directory"
equals "nothing was spooled" "$before" "$(pgpu queue --all --json)"

# Slurm's variables are for those jobs alone, whatever the caller's environment has.
printf '#!/bin/sh\nenv | grep ^SLURM | sort\n' >plain.sh
id=$(SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=3 SLURM_CONF=/etc/slurm.conf pgpu submit plain.sh)
pgpu wait "$id"
equals "another job has none of them" SLURM_CONF=/etc/slurm.conf "$(pgpu output "$id")"
printf -- '---\nslurm-env: true\nenv: {SLURM_PROCID: "5"}\n---\n#!/bin/sh\nenv | grep ^SLURM_.*ID= | sort\n' >asks.yaml
id=$(SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=3 pgpu submit asks.yaml)
pgpu wait "$id"
equals "one that asks for them has its own, and its header's stand" \
	"SLURM_JOBID=$id SLURM_JOB_ID=$id SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_PROCID=5" "$(pgpu output "$id" | sed 's/^SLURM_JOBID/SLURM_JOBID/' | LC_ALL=C sort | paste -sd ' ')"
id=$(SLURM_JOB_ID=7 PGPU_JOB_ID=7 pgpu submit --export NONE -- /usr/bin/env)
pgpu wait "$id"
lacks "export: none" SLURM "$(pgpu output "$id")"
equals "a run from an environment that leaked from such a job" '' \
	"$(SLURM_JOB_ID=7 PGPU_JOB_ID=7 SLURM_PROCID=0 pgpu run -- env | grep ^SLURM)"
equals "C107 a run leaves what is its caller's" SLURM_JOB_ID=7 "$(SLURM_JOB_ID=7 pgpu run -- env | grep ^SLURM)"
printf '#!/bin/sh\n#SBATCH -J outer\nid=$(pgpu submit -o inner.out plain.sh); echo "$id"; pgpu run -- env | grep ^SLURM_JOB_NAME\n' >outer.sh
id=$(pgpu submit -q outer.sh)
pgpu wait "$id"
inner=$(pgpu output "$id" | head -n 1)
pgpu wait "$inner"
equals "a job submitted inside one inherits none" '' "$(cat inner.out)"
equals "a run inside one is part of it" SLURM_JOB_NAME=outer "$(pgpu output "$id" | tail -n 1)"

# An array's tasks.
printf '#!/bin/sh\n#SBATCH -a 3-7:2 -o task-%%a.out\nenv | grep ^SLURM_ARRAY | sort | cut -d_ -f3-\n' >array.sh
id=$(pgpu submit -q array.sh)
pgpu wait "$id"
equals "a task has the array's variables" "JOB_ID=$id TASK_COUNT=3 TASK_ID=5 TASK_MAX=7 TASK_MIN=3" "$(paste -sd ' ' task-5.out)"

# A signal comes ahead of the end, not of half of it.
printf '#!/bin/sh\n#SBATCH --signal=B:USR1@30 -t 60\ntrue\n' >signal.sh
matches "a signal ahead of the limit" $'budget: 1h\nlimit: 1h\n' "$(pgpu submit --dry-run signal.sh 2>&1)"
matches "is the budget's" 'budget-signal: "B:USR1@30s"' "$(pgpu submit --dry-run signal.sh 2>&1)"
finish
