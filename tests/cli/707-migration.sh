#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The table of from-tsp-and-nq.md: each of its commands of pgpu does what its row says; with task-spooler here, each of
# tsp's is one that it takes. Both are taken from the table, and a row without a check fails.
# shellcheck disable=SC2317 # the rows call these
. "$(dirname "$0")/lib.sh"
page=$REPO/examples/from-tsp-and-nq.md
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs the tests: another one would speak of it
# shellcheck disable=SC2016 # for make
printf 'all:\n\t@test -z "$$WAITS" || read _ <"$$WAITS"; echo made\n' >Makefile
conf 'lanes = 1'

# rows: what, tsp's and ours of each row of the table, apart by a byte that is in none, without the marks of Markdown; "\|" is a bar in it.
rows()
{
	python3 - "$page" <<-'END'
		import re, sys
		for line in open(sys.argv[1]):
		    cells = [cell.strip().replace("\\|", "|").replace("`", "") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
		    if len(cells) == 4 and cells[0] and not cells[0].startswith("-"):
		        print(cells[0], cells[1], cells[3], sep="\x1f")
	END
}

# state ID, field by field.
state() { pgpu show "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])'; }
# typed COMMAND: as in a shell, ID being $id.
typed() { (eval "${1//ID/$id}") >"$out" 2>"$err" </dev/null; }
# spools COMMAND: and waits for what it spooled.
spools() { typed "$1" && pgpu wait "$(cat "$out")" 2>"$err"; }
# busy: a job has the lane, and waits.
busy() { pgpu run -q -- sh -c "$(gate busy)" & reached busy; }
free() { open_gate busy; wait; }
# made FILE: make was there.
made() { [ "$(cat "$1")" = made ]; }

# row WHAT COMMAND: does it do so?
row()
{
	local id name=$1 earlier
	id=$(pgpu submit -q -- make all) && pgpu wait "$id" || return
	case $name in
	"queue a command" | "a line of shell") spools "$2" && made "pgpu-$(cat "$out").out" ;;
	"with a name") spools "$2" && pgpu queue "$(cat "$out")" | grep -q ' film ' ;;
	"wait for one's turn in the terminal") typed "$2" && made "$out" ;;
	"if another ended well")
		busy && id=$(pgpu submit -q -- false) && typed "$2" && free
		pgpu wait "$(cat "$out")" 2>"$err"
		[ $? = 125 ]
		;;
	"into a file of one's own") spools "$2" && made made.log ;;
	"what is in line, and what has ended") typed "$2" && grep -q "$id CD" "$out" ;;
	"what one printed" | "and goes on to print") typed "$2" && made "$out" ;;
	"wait for it") typed "$2" ;;
	"has it ended?") typed "$2" && grep -q "$id CD" "$out" ;;
	"all about it") typed "$2" && grep -q 'command *make all' "$out" ;;
	"out of the line") busy && id=$(pgpu submit -q -- make all) && typed "$2" && free && [ "$(state "$id")" = cancelled ] ;;
	"end one that runs")
		id=$(pgpu submit -q -- sh -c "$(gate busy)") && reached busy && typed "$2" && [ "$(state "$id")" = cancelled ]
		;;
	"put it first")
		busy && earlier=$(pgpu submit -q -- sh -c 'echo earlier >>order') && id=$(pgpu submit -q -- sh -c 'echo first >>order')
		typed "$2" && free && pgpu wait "$earlier" "$id" && [ "$(paste -sd ' ' order)" = "first earlier" ]
		;;
	"run it again") typed "$2" && pgpu wait "$id" && [ "$(cat "pgpu-$id.out")" = $'made\nmade' ] ;;
	"three at once" | "forget what has ended" | "call something at the end")
		# The words of pgpu.conf among those around it.
		grep -oE '[a-z-]+ = ([0-9]+|"[^"]*"|\{.*\})' <<<"$2" >line.conf && pgpu conf --check line.conf &&
			PGPU_CONF=$PWD/line.conf pgpu conf | grep -qF "$(cat line.conf)"
		;;
	*) false ;;
	esac
}

# Task-spooler as far as its words go: it prints its usage for what it does not know.
tsp_takes()
{
	local TS_SOCKET=$SANDBOX/tsp TMPDIR=$SANDBOX id
	export TS_SOCKET TMPDIR
	id=$(tsp make all) && tsp -w "$id" || return
	case $1 in "tsp -k"* | "tsp -r"* | "tsp -u"*) set -- "WAITS=$SANDBOX/none; $1" ;; esac
	(eval "${1//ID/$id}") >"$out" 2>&1 </dev/null
	lacks "tsp has: $1" 'invalid option|Usage' "$(cat "$out")"
	tsp -K
}

count_rows=0
while IFS=$'\x1f' read -r what theirs ours <&3; do
	count_rows=$((count_rows + 1))
	check "$what: $ours" row "$what" "$ours"
	if [ -n "$theirs" ] && command -v tsp >/dev/null; then tsp_takes "$theirs"; fi
done 3< <(rows)
check "all rows were read" test "$count_rows" -ge 19
command -v tsp >/dev/null || skip "task-spooler's column" "no tsp here"
finish
