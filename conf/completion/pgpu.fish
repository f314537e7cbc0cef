# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of pgpu(1) for fish. Commands and options are read from --help; jobs, sessions, classes from pgpu itself.
# What was read is text to fish, and never expanded.

# Each option of the command $argv[1], one a line: the option, the word for its value if it takes one, what it does.
function __pgpu_options
	pgpu $argv[1] --help 2>/dev/null | awk '/^ +-/ {
		sub(/^ +/, "")
		head = text = $0
		sub(/  .*/, "", head)
		text = substr($0, length(head) + 1)
		sub(/^ +/, "", text)
		n = split(head, part, " ")
		takes = part[n] ~ /^-/ ? "" : part[n]
		n = split($0, part, /[ (),;]+/)
		for (i = 1; i <= n; i++)
			if (part[i] ~ /^--?[A-Za-z]/)
				print part[i] "\t" takes "\t" text
	}'
end

# The ids of the jobs of `pgpu queue $argv[2..]` that the sed script $argv[1] leaves, with state, class and name. Inside
# a string a quote has a backslash before it.
function __pgpu_jobs
	set -l where '"id":"([0-9]+(_[0-9]+)?)[^"]*","state":"([a-z-]*)","reason":(null|"([^"\]|\\\\.)*")'
	set -l what '"class":"([^"]*)","session":"[^"]*","name":"(([^"\]|\\\\.)*)"'
	pgpu queue --json $argv[2..] 2>/dev/null | sed -nE "$argv[1];s/^[[ ]\{$where,$what,.*/\1\t\3 \6 \7/p"
end

function __pgpu_sessions
	begin
		if test "$argv[1]" = log
			pgpu log --sum session --json
		else
			pgpu queue --json
		end
	end 2>/dev/null | sed -nE 's/^[[ ]\{("id":.*,)?"session":"([[:alnum:]_.-]+)",.*/\2/p' | sort -u
end

function __pgpu_classes
	pgpu conf 2>/dev/null | sed -nE 's/^class "([[:alnum:]_.-]+)" .*/\1/p'
end

# The value of the option $argv[2], which takes a $argv[3], of the command $argv[1]; the word so far is $argv[4].
function __pgpu_value
	set -l outcomes completed failed cancelled timeout stalled oom gpu-oom lost
	switch $argv[3]
		case CLASS
			__pgpu_classes
		case SESSION
			__pgpu_sessions $argv[1]
		case STATE
			set -l stem (string match -rg '^(.*,)' -- $argv[4])
			printf '%s\n' "$stem"{pending,running,frozen,completing} "$stem"$outcomes
		case WORD
			printf '%s\n' $outcomes
		case WHAT
			printf '%s\n' class session
		case MODE
			printf '%s\n' append truncate
		case CARD
			echo any
		case SIG
			printf '%s\n' HUP INT QUIT TERM KILL USR1 USR2 STOP CONT
		case FILE PATH
			__fish_complete_path $argv[4]
		case DIR
			__fish_complete_directories $argv[4] ''
	end
	switch $argv[2]
		case --export
			printf '%s\n' all none
		case -d --after --dependency
			if set -l stem (string match -rg '^([a-z0-9:,_]*:)' -- $argv[4])
				printf "$stem%s\n" (__pgpu_jobs '' --all)
			else
				printf '%s\n' afterok: afterany: afternotok: after: singleton
			end
	end
end

function __pgpu_keys
	switch $argv[1]
		case 'class=*'
			printf 'class=%s\n' (__pgpu_classes)
		case 'session=*'
			printf 'session=%s\n' (__pgpu_sessions update)
		case 'first=*'
			echo first=true
		case '*'
			pgpu update --help 2>/dev/null | awk '/^KEY is/, /;/ {
				sub(/^KEY is one of /, "")
				sub(/ as in.*/, "")
				gsub(/,? /, "\n")
				gsub(/,/, "")
				print
			} /^first=/ { print "first" }' | sed -n 's/^[a-z-]\{1,\}$/&=/p'
	end
end

# The arguments of the command $argv[1], of which $argv[2] are there; the word so far is $argv[3].
function __pgpu_arguments
	set -l pending '/,"state":"pending",/'
	set -l held '/,"reason":"held",/'
	set -l spooled '/,"kind":"spool",/'
	switch $argv[1]
		case submit
			__fish_complete_path $argv[3]
		case queue cancel
			__pgpu_jobs ''
		case hold
			__pgpu_jobs "$pending!d;$held d;$spooled!d"
		case release
			__pgpu_jobs "$held!d"
		case update
			if test $argv[2] -gt 0
				__pgpu_keys $argv[3]
			else
				__pgpu_jobs "$pending!d;$spooled!d"
			end
		case requeue
			__pgpu_jobs "$pending d;$spooled!d" --all
		case output
			__pgpu_jobs "$spooled!d" --all
		case show wait
			__pgpu_jobs '' --all
	end
end

function __pgpu
	set -l words (commandline -opc)
	set -l word (commandline -ct)
	if not set -q words[2]
		pgpu --help 2>/dev/null | sed -nE 's/^  ([a-z]+) +/\1\t/p'
		printf '%s\n' --help --version
		return
	end
	set -l command $words[2]
	set -l rest $words[3..]
	if set -l end (contains -i -- -- $rest)
		if contains $command run submit
			set -l its (string escape -- $rest[(math $end + 1)..]) $word
			complete -C "$its"
		else
			__pgpu_arguments $command (count $rest) $word
		end
		return
	end
	set -l options (__pgpu_options $command)
	set -l option $words[-1]
	set -l stem
	if set -l parts (string match -rg '^(--[a-z-]+=)(.*)$' -- $word)
		set option (string trim -rc = -- $parts[1])
		set stem $parts[1]
		set word "$parts[2]"
	end
	set -l takes (string match -rg -- "^$(string escape --style=regex -- $option)\t([A-Z]+)\t" $options)[1]
	if test -n "$takes"
		printf "$stem%s\n" (__pgpu_value $command $option $takes "$word")
	else if string match -q -- '-*' $word
		string replace -r '\t.*\t' '\t' -- $options
	else
		__pgpu_arguments $command (count $rest) "$word"
	end
end

complete -c pgpu -f -a '(__pgpu)'
