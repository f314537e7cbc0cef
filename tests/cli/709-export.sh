#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `pgpu export`: the script says to Slurm what the job file says to pgpu. Ours reads it back; then a real Slurm runs it.
. "$(dirname "$0")/lib.sh"
. "$REPO/tests/slurm/cluster.sh"
trap 'cluster_end; leave' EXIT

# job KEY: VALUE…: job.yaml with these lines in its header and a script.
job() { printf '%s\n' '---' "$@" '---' '#!/bin/bash' 'echo "$GREETING from $(basename "$PWD")"' >job.yaml; }
# header FILE: what pgpu would spool, without what it notes itself.
header() { pgpu submit -q --dry-run "$1" 2>"$err" | awk '/^---$/ { part++ } part == 1 && !/^(# pgpu|---)/'; }

mkdir -p 'a folder/out'
job 'name: "frame # 1"' 'class: render' 'budget: 10m' 'limit: 20m' 'memory: 1.5G' 'nice: 7' 'requeue: false' 'array: 1-9:2%2' \
	'begin: 2031-02-03T04:05:06' 'env: { GREETING: hello there, HASH: "#" }' 'output: "out/%x-%a.log"' 'open-mode: truncate' 'hold: true' \
	"workdir: $PWD/a folder"
exits 0 "a job with everything that both have" pgpu export --partition long --qos low job.yaml
cp "$out" job.sbatch
equals "nothing is left out" '' "$(cat "$err")"
equals "its first line stays the first" '#!/bin/bash' "$(head -n 1 job.sbatch)"
equals "its script is as it was" "$(tail -n 1 job.yaml)" "$(tail -n 1 job.sbatch)"
for line in partition=long qos=low gres=gpu:1 time=0:20:00 mem=1536M no-requeue hold 'array=1,3,5,7,9%2' begin=2031-02-03T04:05:06; do
	check "it says $line" grep -qxE "#SBATCH --(${line/array=*/array=1-9:2%2})" job.sbatch
done
sed -i '/partition/d' job.sbatch
diff <(header job.yaml | grep -v '^env\|^  \|^budget\|^class\|^export') <(header job.sbatch | grep -v '^export\|^budget\|^class\|^slurm-env') >differs
equals "read back it is the same job" '' "$(cat differs)"
matches "with the same variables" 'GREETING=hello there.*HASH=#' "$(header job.sbatch)"

job 'vram: 12G' 'retries: 2'
exits 0 "what has no equal" pgpu export job.yaml
matches "and does no harm is named" 'vram is left out.*retries is left out' "$(tr '\n' ' ' <"$err")"
job 'budget: 10m' 'limit: 1d' 'budget-signal: USR1@60s'
exits 0 "a signal at the budget" pgpu export job.yaml
check "is one so long before the limit, to the script" grep -qx '#SBATCH --signal=B:USR1@65535' "$out"
matches "as early as Slurm can, and it says so" 'script alone.*comes later' "$(tr '\n' ' ' <"$err")"
job 'vram: 12G' 'retries: 2'
exits 0 "without a card" pgpu export --gres none job.yaml
lacks "no gres when none is wanted" gres "$(cat "$out")"
lacks "nor a ceiling that nobody named" '--mem' "$(cat "$out")"
for refused in 'standing: true' 'after: afterok:3' 'output: "%r.log"' 'env: { A: "1,2" }'; do
	job "$refused"
	exits 2 "refused: $refused" pgpu export job.yaml
	matches "in one line that names the key" "^pgpu: job.yaml: ${refused%%:*}:? " "$(cat "$err")"
	equals "and nothing is printed" '' "$(cat "$out")"
done
exits 2 "a file that is not there" pgpu export nowhere.yaml
exits 2 "two files" pgpu export job.yaml job.yaml
exits 2 "none" pgpu export

# --- a real Slurm ------------------------------------------------------------------------------------------------------
if [ -n "$sanitizer" ] || ! cluster_there; then
	skip "a real Slurm runs it" "Slurm is not installed here, or we are not root"
	finish
fi
chmod 711 "$SANDBOX" # munge wants others to reach its socket
cluster_start "$SANDBOX/slurm"

# end_of ID: state and code of a Slurm job that has ended.
end_of() { scontrol show job -o "$1" 2>/dev/null | sed -nE 's/.* JobState=(\S+) .* ExitCode=(\S+) .*/\1 \2/p' | paste -sd ' '; }
# shellcheck disable=SC2317 # until_true calls it
has_ended() { local end; end=$(end_of "$1") && [[ $end && $end != *PENDING* && $end != *RUNNING* && $end != *COMPLETING* ]]; }
# slurm_runs NAME FILE: exports it, lets Slurm run it to its end; $id.
slurm_runs()
{
	id=none
	if pgpu export "$2" >exported.sbatch 2>"$err" && id=$(sbatch --parsable exported.sbatch 2>"$err") && until_true has_ended "$id"; then
		ok "$1"
	else
		not_ok "$1" "$(cat "$err")"
	fi
}

job 'env: { GREETING: hello there }' 'output: "%x.log"' 'name: greets'
slurm_runs "a job that ends well" job.yaml
equals "has completed" 'COMPLETED 0:0' "$(end_of "$id")"
equals "its output is where it is here" "hello there from work" "$(cat greets.log)"
pgpu submit -q -W job.yaml >"$out" 2>"$err"
equals "and what it is here" "hello there from work"$'\n'"hello there from work" "$(cat greets.log)"

printf '%s\n' '---' 'name: fails' '---' '#!/bin/sh' 'exit 3' >fails.yaml
slurm_runs "one that fails" fails.yaml
equals "has failed with its code" 'FAILED 3:0' "$(end_of "$id")"
check "its output has the name that it has here" test -e "pgpu-$id.out"

printf '%s\n' '---' 'name: tasks' 'array: 1-3%2' 'output: "task-%a.txt"' '---' '#!/bin/sh' 'echo "task $SLURM_ARRAY_TASK_ID"' >tasks.yaml
slurm_runs "an array" tasks.yaml
equals "each task has its own" $'task 1\ntask 2\ntask 3' "$(cat task-{1,2,3}.txt)"

printf '%s\n' '---' 'name: words' 'output: words.txt' "command: [printf, '<%s>', 'a b', \"it's\", '\$HOME', '']" >words.yaml
slurm_runs "a command" words.yaml
equals "has its words" "<a b><it's><\$HOME><>" "$(cat words.txt)"

printf '%s\n' '---' 'name: shell' 'output: shell.txt' 'command: "echo one; echo two | tr a-z A-Z"' >shell.yaml
slurm_runs "a line of shell" shell.yaml
equals "does what it does" $'one\nTWO' "$(cat shell.txt)"

printf '%s\n' '---' 'name: held' 'hold: true' '---' '#!/bin/sh' 'true' >held.yaml
pgpu export held.yaml >held.sbatch
id=$(sbatch --parsable held.sbatch)
matches "a held one waits for its release" 'JobState=PENDING Reason=JobHeldUser' "$(scontrol show job -o "$id")"
scontrol release "$id"
until_true has_ended "$id"
equals "and runs then" 'COMPLETED 0:0' "$(end_of "$id")"
finish
