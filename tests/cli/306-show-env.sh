#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What of a job's environment is shown, and who can read what is kept of it.
. "$(dirname "$0")/lib.sh"

folder=$(dirname "$(find "$XDG_STATE_HOME" -name counter)")
printf -- '---\nhold: true\nenv: {TOKEN: "secret-header", B: x}\n---\n#!/bin/sh\ntrue\n' >job.yaml
id=$(env -i PATH="$PATH" HOME="$HOME" XDG_STATE_HOME="$XDG_STATE_HOME" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" \
	XDG_CONFIG_HOME="$XDG_CONFIG_HOME" API_KEY=$'secret-shell\nline' SLURM_JOB_ID=7 pgpu submit job.yaml)
shown=$(pgpu show "$id")
matches "show names the header's variables" $'\nenv +TOKEN B\n' "$shown"
matches "and those that were taken over" $'\nenviron +PATH HOME .*API_KEY' "$shown"
lacks "but no value" secret "$shown$(pgpu show --json "$id")"
shown=$(pgpu show --env "$id")
matches "--env shows the header's values" $'\nenv +TOKEN=secret-header\nenv +B=x\n' "$shown"
matches "and the others, without what a terminal obeys" $'\nenviron +API_KEY=secret-shell.line' "$shown"
equals "as JSON, names" "['TOKEN', 'B'] True" "$(pgpu show --json "$id" | python3 -c '
import json, sys; job = json.load(sys.stdin); print(job["env"], "API_KEY" in job["environment"] and type(job["environment"]) is list)')"
equals "as JSON, values byte for byte" "{'TOKEN': 'secret-header', 'B': 'x'} 'secret-shell\\nline'" "$(pgpu show --json --env "$id" | python3 -c '
import json, sys; job = json.load(sys.stdin); print(job["env"], repr(job["environment"]["API_KEY"]))')"
equals "records and environments are their owner's alone" 600 "$(find "$folder"/pending "$folder"/env "$folder"/ended -type f -printf '%m\n' 2>/dev/null | sort -u)"
equals "so are their folders" 700 "$(find "$folder" -maxdepth 1 -type d -printf '%m\n' | sort -u)"
pgpu release "$id" && pgpu wait "$id"
matches "an ended job's is shown, too" $'\nenv +TOKEN B\n' "$(pgpu show "$id")"
lacks "a run has none" $'\nenv' "$(pgpu run -- true; pgpu show $((id + 1)))"
rm "$folder"/env/*
exits 0 "an environment that is gone" pgpu show "$id"
finish
