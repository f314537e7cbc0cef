#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What was typed reaches the job byte for byte; pgpu's own options end where the command begins.
. "$(dirname "$0")/lib.sh"

# Prints its arguments, a NUL behind each.
cat >args <<-'END'
	#!/bin/sh
	[ $# -eq 0 ] || printf '%s\0' "$@"
END
chmod 755 args

# shellcheck disable=SC1003 # a lone backslash
odd=('' ' ' 'a b' "it's" '"' '$HOME' '`id`' '\' '\n' '*' '-' '--' '--help' '-p' '--class=x' $'tab\there' $'new\nline'
	$'\e[31mred' $'\xff\xfe' 'ü€' '%s%n' '#PGPU class: x' $'end\r' '~' '{a,b}' '!!' 'a=b' ';' '&' '|')
./args "${odd[@]}" >wanted
exits 0 "odd arguments" pgpu run -- ./args "${odd[@]}"
same_bytes "byte for byte" wanted "$out"

printf -v long '%*s' 100000 ''
./args "$long" "${odd[@]}" >wanted
exits 0 "an argument of 100 kB" pgpu run -- ./args "$long" "${odd[@]}"
same_bytes "whole" wanted "$out"

mapfile -t many < <(seq 1 5000)
./args "${many[@]}" >wanted
exits 0 "5000 arguments" pgpu run -- ./args "${many[@]}"
same_bytes "all of them, in order" wanted "$out"

# Where options end.
./args --class nothing -h >wanted
exits 0 "options behind the command are the command's" pgpu run -- ./args --class nothing -h
same_bytes "untouched" wanted "$out"
./args -- a -- b >wanted
exits 0 "only the first -- is pgpu's" pgpu run -- ./args -- a -- b
same_bytes "the others stay" wanted "$out"
exits 0 "without -- the first word that is no option is the command" pgpu run ./args -p x
printf -- '-p\0x\0' >wanted
same_bytes "with what follows it" wanted "$out"

for options in '-p test' '--class test' '--class=test' '--partition=test' '-ptest' '--as me' '--session=me' '-J name' '--name name' \
	'--job-name=name' '--budget 1m' '-t 1m' '--limit=1m' '--time 2m' '-m 0.5G' '--memory 512M' '--mem=0.25GiB' '-q' '--quiet' '--no-wait' \
	'--max-wait 1m' '-q -p test -t 1:30:00 -m 0.5G'; do
	# shellcheck disable=SC2086 # options as words
	exits 0 "run $options" pgpu run $options -- true
	equals "says nothing" '' "$(cat "$out" "$err")"
done
for option in --alone --exclusive; do
	exits 3 "run $option still runs" pgpu run $option -- sh -c 'exit 3'
	equals "and says what became of it" 'pgpu: running alone is gone; this job shares a lane' "$(cat "$err")"
done

# Bad usage: exit 2, one line, the word and the nearest right one, and the command does not run.
while IFS='|' read -r options wrong right; do
	# shellcheck disable=SC2086 # options as words
	exits 2 "run $options is refused" pgpu run $options -- touch ran
	matches "names $wrong" "^pgpu: .*$wrong" "$(cat "$err")"
	[ -z "$right" ] || matches "and proposes $right" "$right" "$(cat "$err")"
	equals "in one line, none on stdout" "1 0" "$(wc -l <"$err") $(wc -l <"$out")"
done <<-'END'
	--clsas test|clsas|class
	--class tets|tets|test
	-p rendr|rendr|render
	--budgte 1m|budgte|budget
	--budget 30|30|30m
	--budget 1:30|1:30|1m30s
	--budget 0|0|
	--budget -1m|-1m|
	--budget 15min|15min|15m
	--memory 24|24|24G
	--memory 12X|12X|
	--memory 0|0|
	--memory 99999999999G|99999999999G|
	--limit nan|nan|
	--max-wait 5|5|5m
	--no-such-option|no-such-option|
	-Z|Z|
END
check "none of them ran" test ! -e ran
exits 2 "run without a command" pgpu run
exits 2 "run -- without a command" pgpu run --
exits 2 "an option without its value" pgpu run --class
finish
