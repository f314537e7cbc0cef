#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a terminal obeys, in names, commands, folders and other users' processes, reaches no terminal through pgpu.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

# A title, a cleared screen, C1's CSI as UTF-8 and as a byte, a line that is written over, a backspace, DEL.
evil=$'\e]0;owned\a\e[2J\xc2\x9b31m\x9b31m\rgone\b\x7f'
# orders FILE: what in it is neither text nor tab or newline.
orders() { LC_ALL=C grep -naP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$1" || ! iconv -f UTF-8 -t UTF-8 -o "$SANDBOX/iconv" "$1"; }
# harmless NAME FILE…: they hold something, and no order.
harmless()
{
	local name=$1 file found
	shift
	[ -n "$(cat "$@" | tr -d '\0')" ] || { not_ok "$name" "nothing was printed"; return; }
	for file; do
		found=$(orders "$file" 2>&1) && { not_ok "$name" "$found"; return; }
	done
	ok "$name"
}
# shows WORD…: pgpu says something about it that is harmless.
shows()
{
	pgpu "$@" >"$out" 2>"$err"
	harmless "${shown:-$*}" "$out" "$err"
}

mkdir "folder$evil" && cd "folder$evil" || exit 1
printf '#!/bin/sh\n: %s\n' "$evil" >"script$evil.sh"
pgpu run -q -- sh -c ": $evil; $(gate a)" holder "$evil" &
reached a
export ODD=$evil
id=$(pgpu submit -q -- true "$evil")
pgpu submit -q "script$evil.sh" >"$SANDBOX/script" 2>"$err"
printf '1/2 %s' "$evil" >"$(find "$XDG_RUNTIME_DIR/pgpu" -name '*-*' | sort | head -n 1).progress"

# --- while they wait and run ----------------------------------------------------------------------------------------
for words in "queue" "queue --all" "queue --json" "status" "status --json" "show 2" "show $id" "show --env $id" "show --json $id" \
	"show --json 2" "show --env --json $id" "log" "log --json" "wait x"; do
	# shellcheck disable=SC2086 # a list of words
	shown=$words shows $words
done
matches "what was typed can be told from it" 'command +true .*\?\]0;owned\?' "$(pgpu show "$id")"
matches "JSON keeps it whole" '\\u001b\]0;owned\\u0007.*\\u009b31m' "$(pgpu show --json "$id")"
shown="a run that waits" shows run --max-wait 1ms -- "$evil"
shown="a job that cannot start" shows run --no-wait -- "./$evil"
shown="submit --dry-run of a command" shows submit --dry-run -- "$evil"
shown="cancel" shows cancel "$(cat "$SANDBOX/script")"

# --- in errors ------------------------------------------------------------------------------------------------------
printf 'a%s: b\n' "$evil" >"key$evil.yaml"
printf 'name: "%s"\n' "$evil" >"name$evil.yaml"
printf 'command: [true]\nclass: "\\e[2J\\x9b"\n' >"class.yaml"
printf '#!/bin/sh\n#SBATCH --time=%s\n' "$evil" >batch.sh
printf 'lanes%s = 1\n' "$evil" >broken.conf
for file in "key$evil.yaml" "name$evil.yaml" class.yaml batch.sh "none$evil"; do
	shown="submit ${file%%[[:cntrl:]]*}" shows submit "$file"
done
shown="conf --check" shows conf --check broken.conf
shown="conf --check of such a name" shows conf --check "none$evil"
shown="a command" shows "$evil"
shown="an option" shows queue "--$evil"
shown="an id" shows show "1$evil"
shown="a class" shows run -p "$evil" -- true
shown="a key" shows update "$id" "$evil=x"
shown="a state" shows queue --state "$evil"
shown="an output" shows submit -o "/none/$evil" -- true
shown="a folder" shows submit -D "/none/$evil" -- true
shown="PGPU_CONF" PGPU_CONF=$SANDBOX/none$evil shows queue
shown="XDG_STATE_HOME" XDG_STATE_HOME=/proc/none$evil shows queue
shown="SUDO_UID" SUDO_UID=$evil shows queue

# --- other users' processes -----------------------------------------------------------------------------------------
cp -r "$REPO/tests/fixtures/amdgpu-rx9060xt" "$SANDBOX/tree"
for comm in "$SANDBOX"/tree/proc/[0-9]*/comm; do printf '%.15s\n' "$evil" >"$comm"; done
export PGPU_PROCFS=$SANDBOX/tree/proc PGPU_SYSFS=$SANDBOX/tree/sys
shown="status with such processes on the card" shows status
matches "they are on it" 'foreign.*\?\]0;owned' "$(cat "$out")"
shown="status --json with them" shows status --json
shown="a run that waits for their memory" shows run --max-wait 1ms --vram 15G -- true
unset PGPU_PROCFS PGPU_SYSFS

# --- when they have ended -------------------------------------------------------------------------------------------
open_gate a
wait
pgpu wait "$id" 2>"$err"
shown="log of them" shows log
shown="log --json of them" shows log --json
shown="report of them" shows report
shown="queue --all of them" shows queue --all
harmless "log.tsv" "$(echo "$XDG_STATE_HOME"/pgpu/*/log.tsv)"
check "the log has the command" grep -qF '\x1b]0;owned\x07' "$XDG_STATE_HOME"/pgpu/*/log.tsv
equals "and log --json gives it back" "$(printf %s "$evil" | iconv -c -f UTF-8 | od -c)" \
	"$(pgpu log --json | python3 -c 'import json, shlex, sys
for row in json.load(sys.stdin):
	if row["job"] == sys.argv[1]:
		sys.stdout.write(shlex.split(row["command"])[1].replace("\ufffd", ""))' "$id" | od -c)"
# What a job writes is the job's: as with cat(1).
exits 0 "output prints a job's own bytes" pgpu output "$id"
finish
