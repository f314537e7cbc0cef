#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What bash, zsh and fish offer behind `pgpu`: commands, options as --help has them, live jobs in the states that make
# sense, classes, sessions, files. Names of jobs are text and never run.
# shellcheck disable=SC2016 # the names are not to be expanded
. "$(dirname "$0")/lib.sh"
. "$REPO/tests/cli/terminal.sh"
completion=$REPO/conf/completion

# --- the shells: NAME_offers WORD…, the last one being completed, prints what is offered, sorted ---------------------
bash_offers()
{
	bash --norc -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pgpu
		printf "%s\n" "${COMPREPLY[@]}"' "$completion/pgpu.bash" "$@" 2>bash-said | sort -u
}

fish_offers()
{
	fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' "$completion/pgpu.fish" "$*" 2>fish-said |
		sed 's/\t.*//; s,/$,,' | sort -u
}

# A real one in a terminal: Ctrl-T completes the text of the file `line`.
start_zsh()
{
	cat >zsh-setup <<-'END'
		unset zle_bracketed_paste
		fpath=($COMPLETION $fpath)
		autoload -Uz compinit && compinit -D -u
		# What is offered goes into the file `hits`, too.
		compadd()
		{
			local -a hits
			if [[ " ${(j: :)@[1,(i)--]} " != *" -"[OAD]" "* ]]; then
				builtin compadd -A hits "$@"
				print -rl -- $hits >>hits
			fi
			builtin compadd "$@"
		}
		try()
		{
			: >hits
			BUFFER=$(<line) CURSOR=$#BUFFER
			zle complete-word
			BUFFER=
			print -r "tried:$((++tries)):" >$TTY
		}
		zle -N try && bindkey '^T' try
		PS1='zready> '
	END
	tries=0
	open_terminal
	types "COMPLETION=$completion zsh -f -i"
	sees '% |# '
	enters '. ./zsh-setup'
	sees 'zready> '
}

zsh_offers()
{
	printf %s "$*" >line
	press '\x14'
	sees "tried:$((++tries)):"
	sed '/^$/d; s/\\//g' hits | sort -u
}

shells=(bash)
for shell in fish zsh; do
	if command -v $shell >/dev/null; then shells+=("$shell"); else skip "completion in $shell" "no $shell here"; fi
done
[[ " ${shells[*]} " != *" zsh "* ]] || start_zsh

# offers "WANTED…" NAME WORD…: in each shell.
offers()
{
	local shell
	for shell in "${shells[@]}"; do
		# Not in a subshell: zsh's answers are counted.
		"${shell}_offers" "${@:3}" >offered
		equals "$2 ($shell)" "$(tr ' ' '\n' <<<"$1" | sed '/^$/d' | sort | paste -sd ' ')" \
			"$(tr ' ' '\n' <offered | sed '/^$/d' | sort | paste -sd ' ')"
	done
}

# --- words and options ------------------------------------------------------------------------------------------------
commands=$(pgpu --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | paste -sd ' ')
offers "$commands --help --version" "all commands" pgpu ''
offers "cancel" "the command that begins so" pgpu can
for command in $commands; do
	options=$(pgpu "$command" --help | python3 -c 'import re, sys
print(*[word for line in sys.stdin if re.match(" +-", line)
	for word in re.findall(r"(?<![\w-])--?[A-Za-z][a-z-]*", line)])')
	matches "there are options of $command" '--help' "$options"
	offers "$options" "$command has the options of its --help" pgpu "$command" -
done
offers '--class' "the option that begins so" pgpu run --cl
offers '--partition' "Slurm's name of it" pgpu run --part
offers '--no-requeue' "the other side of an option" pgpu submit --no-
offers 'interactive test clip render bench truth search' "classes behind --class" pgpu run --class ''
offers 'render' "and behind -p" pgpu submit -p ren
conf 'lanes = 1
class "my-own" { rank = 9  budget = "1m" }'
offers 'my-own' "a class of one's own" pgpu queue --partition my

# Words with lists of their own: all of them are right.
states=$(sed -n '/^static const char state_words/,/};/p' "$REPO/runner/jobfilter.c" |
	grep -oE '"[a-z-]+"' | tr -d '"' | paste -sd ' ')
offers "$states" "states" pgpu queue --state ''
offers "${states#*completing }" "outcomes" pgpu log --outcome ''
offers 'class session' "what is summed" pgpu log --sum ''
offers 'append truncate' "modes" pgpu submit --open-mode ''
offers 'HUP INT QUIT TERM KILL USR1 USR2 STOP CONT' "signals" pgpu cancel --signal ''
for word in HUP INT QUIT TERM KILL USR1 USR2 STOP CONT; do
	exits 0 "pgpu knows the signal $word" pgpu cancel --signal $word --all --dry-run
done
offers 'any' "cards" pgpu run --card ''
offers 'all none' "what is exported" pgpu submit --export ''
offers '' "nothing for a time" pgpu run --budget ''
keys=$(pgpu update --help | sed -n '/^KEY is/,/;/p' | tr '\n' ' ' |
	sed 's/^KEY is one of //; s/ as in .*//; s/, /= /g; s/,$/=/')
offers "$keys first=" "keys of update" pgpu update 1 ''
matches "are what pgpu takes" ' min-run-time= ' "$keys"

touch 'two words.yaml' night.sh xyzzy
mkdir frames
offers 'night.sh' "files behind submit" pgpu submit ni
offers 'frames' "folders behind -D" pgpu submit -D fr
offers 'two words.yaml' "a file with a blank" pgpu submit tw
matches "a command behind --" '(^| )setpriv( |$)' "$(bash_offers pgpu run -q -- setpri | paste -sd ' ')"
equals "the end of the options" -- "$(bash_offers pgpu run '')"

# --- live jobs, with names that would like to be more than text -----------------------------------------------------
conf 'lanes = 1'
ran=$(pgpu submit -q -J '$(touch ran)`touch ran`' -- true)
pgpu wait "$ran"
pgpu run -q --as film -J '"; touch ran; "' -- sh -c "$(gate a)" &
reached a
blocked=$(pgpu queue --json | sed -n 's/^[[ ]{"id":"\([0-9]*\)".*/\1/p')
waits=$(pgpu submit -q -J "it's \\ a \"quote\\" -- true)
held=$(pgpu submit -q -H -J '","state":"running","reason":null,"kind":"run",' --as held -- true)
liar=$(pgpu submit -q -J '","state":"pending","reason":"held",' -- true)
blank=$(pgpu submit -q -H -J ' * ; [a] {b,c} ~ %s' --as web -a 1-3 -- true)
alive="$blocked $waits $held $liar $blank"
offers "$alive" "cancel: what has not ended" pgpu cancel ''
offers "$alive" "queue: the same" pgpu queue ''
offers "$held $blank" "release: what is held" pgpu release ''
offers "$waits $liar" "hold: what waits in the spool and is not held" pgpu hold ''
offers "$waits $held $liar $blank" "update: what waits in the spool" pgpu update ''
offers "$ran" "requeue: what runs or has ended" pgpu requeue ''
offers "$ran $waits $held $liar $blank" "output: what is in the spool" pgpu output ''
ended=$(pgpu queue --all --json | sed -n 's/^[[ ]{"id":"\([0-9]*\)","state":"completed".*/\1/p')
for command in show wait; do
	offers "$ended $alive" "$command: all" pgpu $command ''
done
offers "$blank" "an id that begins so" pgpu cancel "$blank"
session=$(pgpu queue --json | sed -n 's/.*"id":"'"$waits"'".*"session":"\([^"]*\)".*/\1/p')
offers "film held web $session" "sessions" pgpu submit --as ''
offers "$session" "sessions of the history" pgpu log --session ''
offers 'afterok: afterany: afternotok: after: singleton' "conditions" pgpu submit -d ''
offers "" "no file where a job is asked for" pgpu cancel xy
pgpu cancel "${blank}_2" >task
exits 0 "the array as a whole" pgpu queue "$blank" --json
offers "$alive" "an array, some of which is gone, is one job" pgpu cancel ''

# What the shells take apart, or not, at = and :.
equals "bash: states behind a comma" pending,running "$(bash_offers pgpu queue --state pending,r)"
equals "bash: --class=ren" render "$(bash_offers pgpu run --class = ren)"
equals "bash: --class=" 7 "$(bash_offers pgpu run --class = | grep -c .)"
equals "bash: afterok:" "$(pgpu queue --all --json | grep -c .)" "$(bash_offers pgpu submit -d afterok : | grep -c .)"
equals "bash: afterok:ID:ID" "$waits" "$(bash_offers pgpu submit -d afterok : "$ran" : "$waits")"
equals "bash: a key's value" render "$(bash_offers pgpu update "$waits" class = ren)"
if [[ " ${shells[*]} " = *" fish "* ]]; then
	equals "fish: states behind a comma" pending,running "$(fish_offers pgpu queue --state pending,r)"
	equals "fish: --class=ren" --class=render "$(fish_offers pgpu run --class=ren)"
	equals "fish: afterok:ID" "afterok:$waits" "$(fish_offers pgpu submit -d "afterok:$waits")"
	equals "fish: a key's value" class=render "$(fish_offers pgpu update "$waits" class=ren)"
	matches "fish: a job's name is shown beside it" "$waits.pending render it's" \
		"$(fish --no-config -c 'source $argv[1]; complete -C "pgpu hold "' "$completion/pgpu.fish")"
fi
if [[ " ${shells[*]} " = *" zsh "* ]]; then
	for line in 'queue --state pending,r running' 'run --class=ren render' "submit -d afterok:$waits $waits" \
		"update $waits class=ren render"; do
		zsh_offers pgpu "${line% *}" >offered
		equals "zsh: ${line% *}" "${line##* }" "$(cat offered)"
	done
fi

equals "nothing of a name has run" 'no' "$([ -e ran ] && echo yes || echo no)"
equals "no shell complained" '' "$(cat ./*-said 2>/dev/null)"
open_gate a
wait -n
finish
