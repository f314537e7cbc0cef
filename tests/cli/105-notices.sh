#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What run says of its own: on stderr, without control codes, and nothing with --quiet.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

pgpu run -- sh -c "$(gate a)" &
reached a
for name in loud quiet; do
	[ $name = quiet ] && option=-q || option=
	# shellcheck disable=SC2086 # one option or none
	pgpu run $option --name $name -- echo hi >$name.out 2>$name.err &
	until_true queue_shows $name
done
pgpu queue >list 2>"$err"
open_gate a
wait
equals "C061 stdout has what the job wrote" hi "$(cat loud.out)"
lacks "C061 no control codes on stderr" $'[\x01-\x08\x0b-\x1f]' "$(cat loud.err)"
equals "C061 every line of pgpu's begins with its name" "$(wc -l <loud.err)" "$(grep -c '^pgpu: ' loud.err)"
equals "with --quiet not a word" '' "$(cat quiet.err)"
equals "and the job's output all the same" hi "$(cat quiet.out)"
lacks "C061 no control codes in a list" $'[\x01-\x08\x0b-\x1f]' "$(cat list)"

pgpu run --name $'ev\eil' -- true 2>"$err"
lacks "a hostile name cannot write control codes" $'\e' "$(cat "$err"; pgpu queue --all)"
finish
