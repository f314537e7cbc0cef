# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of pgpu(1) for bash. Commands and options are read from --help; jobs, sessions, classes from pgpu itself.
# What was read is compared and offered, and never expanded; only ids and names of plain letters get that far.

# Each option of the command $1, one a line, and the word for its value, if it takes one.
_pgpu_options()
{
	pgpu "$1" --help 2>/dev/null | awk '/^ +-/ {
		sub(/^ +/, "")
		head = $0
		sub(/  .*/, "", head)
		n = split(head, part, " ")
		takes = part[n] ~ /^-/ ? "" : part[n]
		n = split($0, part, /[ (),;]+/)
		for (i = 1; i <= n; i++)
			if (part[i] ~ /^--?[A-Za-z]/)
				print part[i], takes
	}'
}

# The ids of the jobs of `pgpu queue $2…` that the sed script $1 leaves. Inside a string a quote has a backslash before
# it.
_pgpu_jobs()
{
	pgpu queue --json "${@:2}" 2>/dev/null | sed -nE "$1"';s/^[[ ]\{"id":"([0-9]+(_[0-9]+)?).*/\1/p'
}

_pgpu_sessions()
{
	if [ "$1" = log ]; then pgpu log --sum session --json; else pgpu queue --json; fi 2>/dev/null |
		sed -nE 's/^[[ ]\{("id":.*,)?"session":"([[:alnum:]_.-]+)",.*/\2/p' | sort -u
}

_pgpu_classes() { pgpu conf 2>/dev/null | sed -nE 's/^class "([[:alnum:]_.-]+)" .*/\1/p'; }

# _pgpu_offer WORD…, or the first words of stdin's lines: those that begin like `cur`, with `stem` before them.
_pgpu_offer()
{
	local word
	while read -r word _; do
		[[ -z $word || $word != "$cur"* ]] || COMPREPLY+=("$stem$word")
	done < <(if (($#)); then printf '%s\n' "$@"; else cat; fi)
}

# Files, or with -d folders.
_pgpu_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "${1:--f}" -- "$cur")
}

# The command that begins at word $1.
_pgpu_command()
{
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$1"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif [ "$1" = "$COMP_CWORD" ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else
		_pgpu_files
	fi
}

# _pgpu_value COMMAND OPTION TAKES
_pgpu_value()
{
	local outcomes=(completed failed cancelled timeout stalled oom gpu-oom lost) stem=

	case $2,$3 in
	*,CLASS) _pgpu_offer < <(_pgpu_classes) ;;
	*,SESSION) _pgpu_offer < <(_pgpu_sessions "$1") ;;
	*,STATE)
		stem=${cur%"${cur##*,}"} cur=${cur##*,}
		_pgpu_offer pending running frozen completing "${outcomes[@]}"
		;;
	*,WORD) _pgpu_offer "${outcomes[@]}" ;;
	*,WHAT) _pgpu_offer class session ;;
	*,MODE) _pgpu_offer append truncate ;;
	*,CARD) _pgpu_offer any ;;
	*,SIG) _pgpu_offer HUP INT QUIT TERM KILL USR1 USR2 STOP CONT ;;
	--export,*) _pgpu_offer all none ;;
	-d,* | --after,* | --dependency,*)
		if [ "$at" = "$COMP_CWORD" ]; then
			compopt -o nospace 2>/dev/null
			_pgpu_offer afterok: afterany: afternotok: after: singleton
		else
			_pgpu_offer < <(_pgpu_jobs '' --all)
		fi
		;;
	*,FILE | *,PATH) _pgpu_files ;;
	*,DIR) _pgpu_files -d ;;
	esac
}

# KEY= and the values of those that have a list.
_pgpu_keys()
{
	case ${COMP_WORDS[at]} in
	"$cur")
		compopt -o nospace 2>/dev/null
		_pgpu_offer < <(pgpu update --help 2>/dev/null |
			awk '/^KEY is/, /;/ {
				sub(/^KEY is one of /, "")
				sub(/ as in.*/, "")
				gsub(/,? /, "\n")
				gsub(/,/, "")
				print
			} /^first=/ { print "first" }' | sed -n 's/^[a-z-]\{1,\}$/&=/p')
		;;
	class) _pgpu_offer < <(_pgpu_classes) ;;
	session) _pgpu_offer < <(_pgpu_sessions update) ;;
	first) _pgpu_offer true ;;
	esac
}

# _pgpu_arguments COMMAND
_pgpu_arguments()
{
	local pending='/,"state":"pending",/' held='/,"reason":"held",/' spooled='/,"kind":"spool",/'

	case $1 in
	submit) _pgpu_files ;;
	run) _pgpu_offer -- ;;
	queue | cancel) _pgpu_offer < <(_pgpu_jobs '') ;;
	hold) _pgpu_offer < <(_pgpu_jobs "$pending!d;$held d;$spooled!d") ;;
	release) _pgpu_offer < <(_pgpu_jobs "$held!d") ;;
	update) if ((at > 2)); then _pgpu_keys; else _pgpu_offer < <(_pgpu_jobs "$pending!d;$spooled!d"); fi ;;
	requeue) _pgpu_offer < <(_pgpu_jobs "$pending d;$spooled!d" --all) ;;
	output) _pgpu_offer < <(_pgpu_jobs "$spooled!d" --all) ;;
	show | wait) _pgpu_offer < <(_pgpu_jobs '' --all) ;;
	*) _pgpu_offer < <(_pgpu_options "$1") ;;
	esac
}

_pgpu()
{
	local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} at=$COMP_CWORD end=0 i option word takes='' stem=

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_pgpu_offer < <(pgpu --help 2>/dev/null | sed -n 's/^  \([a-z]\)/\1/p'; echo --help; echo --version)
		return
	fi
	# Bash takes a word apart at = and :. It begins at the word `at`, and the piece that is completed is `cur`.
	[[ $cur != [=:] ]] || cur=
	while ((at > 2)) && [[ ${COMP_WORDS[at]} == [=:] || ${COMP_WORDS[at - 1]} == [=:] ]]; do
		at=$((at - 1))
	done
	option=${COMP_WORDS[at - 1]}
	[[ ${COMP_WORDS[at]} != --* ]] || ((at == COMP_CWORD)) || option=${COMP_WORDS[at]}
	for ((i = 2; i < at && !end; i++)); do
		[[ ${COMP_WORDS[i]} != -- ]] || end=$i
	done
	if ((end)); then
		case $command in run | submit) _pgpu_command $((end + 1)) ;; *) _pgpu_arguments "$command" ;; esac
		return
	fi
	[[ $option != -* ]] || while read -r word takes; do
		[[ $word != "$option" ]] || break
	done < <(_pgpu_options "$command")
	if [[ $takes ]]; then
		_pgpu_value "$command" "$option" "$takes"
	elif [[ $cur == -* ]]; then
		_pgpu_offer < <(_pgpu_options "$command")
	else
		_pgpu_arguments "$command"
	fi
}

complete -F _pgpu pgpu
