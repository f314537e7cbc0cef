#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A broken pgpu.conf: run, submit and conf refuse at once with file and line, everything else goes on with the last right copy
# (C075, C147).
. "$(dirname "$0")/lib.sh"
file=$XDG_CONFIG_HOME/pgpu/pgpu.conf

conf 'lanes = 1'
printf '#!/bin/sh\ntrue\n' >job.sh
pgpu run -- sh -c "$(gate a)" & holder=$!
reached a
pgpu run --name waiter -- touch waited & waiter=$!
until_true queue_shows waiter

# refuses NAME: the file as it stands is refused by those who must, within ten seconds at the very most.
refuses()
{
	local command
	for command in 'run -- touch ran' 'submit job.sh' 'conf'; do
		# shellcheck disable=SC2086 # words of a command line
		exits 2 "$1: $command" timeout -k 1 10 pgpu $command
		matches "$1: names file and line" "^pgpu: .*pgpu\.conf:[0-9]+" "$(cat "$err")"
		equals "$1: in one line" "1 0" "$(wc -l <"$err") $(wc -l <"$out")"
	done
}

while IFS='|' read -r name text; do
	printf '%b' "$text" >"$file"
	refuses "$name"
done <<-'END'
	C147 a lone =|=
	C147 = 1|= 1\n
	C147 a = = b|lanes = = 2\n
	C147 an open brace|{
	C147 an open quote|"
	C147 an unknown key|lanse = 2\n
	a wrong number|lanes = 0\n
	a bare number for a duration|lanes = 1\ngrace = 10\n
	an unknown section|klass "x" { }\n
	C075 an unclosed comment|lanes = 1\n/* never ends\n
	an include|include("other.conf")\n
	a home folder to expand|~ = 1\n
	a class without a rank|class "x" { budget = "1m" }\n
END
exits 2 "PGPU_CONF that names nothing" env PGPU_CONF=/no/such/file pgpu run -- touch ran
matches "is named" '/no/such/file' "$(cat "$err")"
exits 2 "PGPU_CONF that names a folder" env PGPU_CONF=/tmp pgpu run -- touch ran

# The others go on, and say it once.
echo '=' >"$file"
for command in queue status 'show 1' log 'wait 99999' rescue; do
	# shellcheck disable=SC2086
	timeout -k 1 10 pgpu $command >"$out" 2>"$err"
	lacks "$command goes on" '^2$|^124$' "$?"
	equals "$command says it once" 1 "$(grep -c 'pgpu\.conf:1' "$err")"
done
matches "queue shows what runs and waits" 'waiter' "$(pgpu queue 2>"$err")"
pgpu run --no-wait -- touch ran 2>"$err"
open_gate a
wait $holder
equals "the holder ends as if nothing were" 0 $?
wait $waiter
equals "and the waiter starts" '0 waited' "$? $(ls waited)"
exits 1 "cancel goes on" pgpu cancel 1
check "nothing of all that was refused ran" test ! -e ran

# Right ones.
printf 'lanes = 2\n#\n//note\n/**/\n#\t\n# %s\n' "$(printf '%*s' 100000 '' | tr ' ' x)" >"$file"
exits 0 "C075 comments of all kinds" pgpu conf
equals "and not a word" '' "$(cat "$err")"
: >"$file"
exits 0 "an empty file is the built-in table" pgpu conf
cp "$out" printed
exits 0 "what conf prints is a right file" pgpu conf --check printed
exits 0 "the shipped file is a right file" pgpu conf --check "$REPO/conf/pgpu.conf"
cp "$REPO/conf/pgpu.conf" "$file"
exits 0 "with the shipped file" pgpu conf
same_bytes "the values are the built-in ones" <(sed 's/ *#.*//' printed) <(sed 's/ *#.*//' "$out")
printf 'lanes = 3\nclass "night" { rank = 4 budget = "12h" memory = "48G" }\n' >"$file"
exits 0 "a class of one's own" pgpu run -p night -- true
check "is printed with where it comes from" sh -c "pgpu conf | grep -q 'lanes = 3  *# .*pgpu.conf:1'"
exits 0 "PGPU_CLASS chooses it" env PGPU_CLASS=night pgpu run -- true
exits 2 "PGPU_CLASS with a wrong class" env PGPU_CLASS=nihgt pgpu run -- touch ran
finish
