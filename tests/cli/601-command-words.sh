#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The command line as a whole: help, unknown words, output that cannot be written.
. "$(dirname "$0")/lib.sh"

exits 0 "pgpu --help" pgpu --help
cp "$out" help
matches "says how it is called" 'usage: pgpu' "$(cat help)"
equals "and nothing on stderr" '' "$(cat "$err")"
exits 2 "pgpu alone is bad usage" pgpu
commands='run submit queue cancel status show wait output log report export conf rescue doctor'
for command in $commands; do
	matches "pgpu --help names $command" "(^|[[:space:]])$command([[:space:]]|$)" "$(cat help)"
	exits 0 "$command --help" pgpu "$command" --help
	matches "says how it is called" "^usage: pgpu $command" "$(cat "$out")"
	equals "and nothing on stderr" '' "$(cat "$err")"
	exits 2 "$command refuses an unknown option" pgpu "$command" --no-such-option x
	matches "names it" '^pgpu: .*--?no-such-option' "$(cat "$err")"
	equals "in one line, none on stdout" "1 0" "$(wc -l <"$err") $(wc -l <"$out")"
	exits 1 "C079 $command --help to a full disk" sh -c "pgpu $command --help >/dev/full"
	matches "says that it could not write" '^pgpu: .*No space left' "$(cat "$err")"
done

while read -r wrong right; do
	exits 2 "pgpu $wrong is refused" pgpu "$wrong"
	matches "and $right proposed" "^pgpu: .*$wrong.*$right" "$(cat "$err")"
	equals "in one line" 1 "$(wc -l <"$err")"
done <<-'END'
	quue queue
	sumbit submit
	statsu status
	cancle cancel
	rum run
	outptu output
	reprot report
	rescu rescue
	conff conf
END
exits 2 "an unknown word far from all others" pgpu zzzzzzzzzzzz
matches "is named" '^pgpu: .*zzzzzzzzzzzz' "$(cat "$err")"
exits 2 "an unknown word with control codes" pgpu $'\e[31m\nx'
lacks "is named without them" $'\e' "$(cat "$err")"
equals "in one line" 1 "$(wc -l <"$err")"

while read -r command wrong right; do
	exits 2 "$command $wrong is refused" pgpu "$command" "$wrong"
	matches "and $right proposed" "$right" "$(cat "$err")"
done <<-'END'
	queue --jsno --json
	queue --stete --state
	status --jsom --json
	cancel --alll --all
	submit --clsas --class
	conf --chek --check
	log --sinec --since
	report --untli --until
END

for id in x 1x -1 0 '' ' 1' 99999999999999999999 1_; do
	for command in show output wait cancel; do
		exits 2 "$command '$id' is no id" pgpu "$command" -- "$id"
	done
done
for command in show output wait cancel; do
	exits 2 "$command without an id" pgpu $command
	exits 1 "$command of an id that was never given out" pgpu $command 987654
	matches "names it" '987654' "$(cat "$err")"
	exits 2 "no id of an array task stands for $command of a wrong word" pgpu $command 12_x
done

# C079: what cannot be written is told, a reader that left early is not.
conf 'lanes = 1'
pgpu run -- sh -c "$(gate a)" &
reached a
for command in 'queue' 'queue --json' 'status' 'status --json' 'conf' 'log' 'log --json' 'report' '--help'; do
	exits 1 "C079 $command to a full disk" sh -c "pgpu $command >/dev/full"
	matches "C079 says so" '^pgpu: .*No space left' "$(cat "$err")"
	# The reading end is closed before pgpu writes: it waits for that.
	mkfifo pipe
	bash -c "exec 3<>pipe; exec 4>pipe; exec 3<&-; pgpu $command >&4" 2>"$err"
	equals "C079 $command to a reader that left is quiet" '' "$(cat "$err")"
	rm pipe
done
for command in 'queue --json' 'status --json' 'log --json'; do
	check "$command is JSON and nothing else" sh -c "pgpu $command | python3 -m json.tool"
done
open_gate a
wait

# C135: never a question.
exits 0 "C135 cancel --all with nothing in the queue asks nothing" sh -c 'pgpu cancel --all </dev/null'
exits 0 "C135 queue from cron" env -i HOME="$HOME" PATH="$PATH" XDG_STATE_HOME="$XDG_STATE_HOME" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" pgpu queue
exits 0 "C135 run from cron" env -i HOME="$HOME" PATH="$PATH" XDG_STATE_HOME="$XDG_STATE_HOME" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" pgpu run -- true
finish
