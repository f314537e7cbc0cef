#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Signals sent to the wrapper, and jobs in the middle of pipes.
. "$(dirname "$0")/lib.sh"

equals "in a pipe, at its head" 3 "$(pgpu run -- seq 3 | tail -n 1)"
equals "in the middle" 2 "$(seq 3 | pgpu run -- sed -n 2p | cat)"
equals "two of them in one pipe" $'1\n2' "$(pgpu run -- seq 2 | pgpu run -- cat)"
equals "under command substitution" 'a b' "$(pgpu run -- echo a b)"
equals "under xargs" $'x 1\nx 2' "$(seq 2 | xargs -n 1 pgpu run -- echo x)"

# TERM, HUP, USR1 and USR2 are passed on; the code is the job's own.
for name in TERM HUP USR1 USR2; do
	pgpu run -- sh -c "trap 'echo got; exit 42' $name; $(gate $name)" >got &
	reached $name
	kill -$name $!
	wait $!
	equals "$name is passed on, and the job's code returned" '42 got' "$? $(cat got)"
done
pgpu run -- sh -c "$(gate plain)" &
reached plain
kill -TERM $!
wait $!
equals "ended by TERM through the wrapper: 143" 143 $?

# INT and QUIT are the terminal's to send: pgpu ignores them and relays neither.
pgpu run -- sh -c "trap 'echo got' INT QUIT; $(gate deaf); exit 8" >got &
reached deaf
kill -INT $!
kill -QUIT $!
open_gate deaf
wait $!
equals "INT and QUIT to the wrapper are not relayed" '8 ' "$? $(cat got)"

# C043: a waiting run leaves the line.
conf 'lanes = 1'
pgpu run -- sh -c "$(gate a)" & holder=$!
reached a
for pair in 'TERM 143' 'INT 130' 'QUIT 131' 'HUP 129'; do
	read -r name code <<<"$pair"
	"${typed[@]}" pgpu run --name "w$name" -- touch ran 2>"$err" &
	until_true queue_shows "w$name"
	kill -"$name" $!
	wait $!
	equals "C043 $name ends a waiting run with $code" "$code" $?
	lacks "C043 and its ticket is gone" "w$name" "$(pgpu queue)"
done
check "C043 and its command never ran" test ! -e ran

# A killed holder: the job is ended, the lane free again.
pgpu run -- touch next & waiter=$!
kill -KILL $holder
wait $waiter
equals "a SIGKILLed holder frees its lane" 0 $?
check "for the next in line" test -e next
finish
