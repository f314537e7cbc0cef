#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Colours and bars are on a terminal that wants them, and around nothing that a user wrote.
. "$(dirname "$0")/lib.sh"
unset COLUMNS NO_COLOR
export TERM=xterm
escape=$'\e'
on_terminal() { python3 "$REPO/tests/cli/wide.py" 160 "$@"; }
plain() { sed "s/$escape\[[0-9]*m//g"; }

conf $'lanes = 1'
pgpu run -q -J painter --budget 1h -- sh -c "printf '1/2 red \\033[31mword\\007' >\$PGPU_PROGRESS; $(gate a)" & holder=$!
reached a
pgpu submit -q -J waits -- true >ids
for command in queue status; do
	on_terminal pgpu $command >list
	matches "$command on a terminal has colours" "$escape\[32mR $escape\[0m|$escape\[32mR$escape\[0m" "$(cat list)"
	matches "and a bar of the budget" ' --------' "$(plain <list)"
	lacks "nothing of a user's is an order" "$escape|"$'\a' "$(plain <list)"
	matches "but shown as ?" 'red \?\[31mword\?' "$(plain <list)"
	pgpu $command >list
	lacks "$command in a pipe has none" "$escape|---" "$(cat list)"
	NO_COLOR=1 on_terminal pgpu $command >list
	lacks "nor with NO_COLOR" "$escape" "$(cat list)"
	matches "the letters say it, too" ' R ' "$(cat list)"
	NO_COLOR='' on_terminal pgpu $command >list
	matches "an empty NO_COLOR is none" "$escape\[" "$(cat list)"
	TERM=dumb on_terminal pgpu $command >list
	lacks "nor on a terminal without any" "$escape" "$(cat list)"
	on_terminal pgpu $command --color never >list
	lacks "nor with --color never" "$escape" "$(cat list)"
	NO_COLOR=1 on_terminal pgpu $command --color=always >list
	matches "--color always wins over NO_COLOR" "$escape\[32m" "$(cat list)"
	pgpu $command --color auto >list
	lacks "--color auto is what there is without" "$escape" "$(cat list)"
	exits 2 "$command --color takes no other word" pgpu $command --color alway
	equals "and says so" "pgpu: $command: --color is auto, always or never, not 'alway', did you mean 'always'?" "$(cat "$err")"
done
pgpu queue --color always >list
pgpu queue >wanted
plain <list | sed 's/ [0-9]*s  / Ns  /' >found
sed -i 's/ [0-9]*s  / Ns  /' wanted
same_bytes "queue --color always in a pipe: the columns of a pipe" wanted found
open_gate a
wait $holder
on_terminal pgpu log >list
matches "the history has colours on a terminal" "$escape\[32mcompleted$escape\[0m" "$(cat list)"
lacks "and none in a pipe" "$escape" "$(pgpu log)"
finish
