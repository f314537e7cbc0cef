#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# stdin, stdout, stderr and whatever else the caller handed on are the job's own, and nothing of pgpu's is.
. "$(dirname "$0")/lib.sh"

head -c 3000000 /dev/urandom >bytes
pgpu run -- cat <bytes >copy 2>"$err"
same_bytes "stdin to stdout, 3 MB byte for byte" bytes copy
equals "and not a word on stderr" '' "$(cat "$err")"
pgpu run -- cat <bytes | pgpu run -- cat | cat >copy
same_bytes "through pipes" bytes copy
pgpu run -- sh -c 'cat >&2' <bytes 2>copy >"$out"
same_bytes "stderr byte for byte" bytes copy
equals "C061 and nothing of pgpu's on stdout" '' "$(cat "$out")"
equals "a pipe's reader may leave early" 'y 141' "$(pgpu run -- bash -c 'yes; exit $?' | head -n 1) $(
	bash -c 'set -o pipefail; pgpu run -- yes | head -n 1 >/dev/null; echo $?')"
equals "appended, not truncated" $'first\nsecond' "$(echo first >file; pgpu run -- echo second >>file; cat file)"
equals "what the job leaves unread is its caller's" $'1\n2' "$({ pgpu run -- sh -c 'read a; echo $a'; cat; } <<<$'1\n2' | sort)"

# Inherited descriptors, and no others.
exec 7<bytes 8>handed
sh -c 'ls -1 /proc/self/fd' >wanted
pgpu run -- sh -c 'ls -1 /proc/self/fd; echo through >&8' >list
exec 7<&- 8>&-
equals "an inherited descriptor can be written" through "$(cat handed)"
# Those of valgrind itself are no job's.
listed_alike() { if [ "$sanitizer" = valgrind ]; then skip "$1" "valgrind has its own"; else same_bytes "$1" wanted list; fi; }
listed_alike "C069 the job has what the caller handed on and nothing of pgpu's"
sh -c 'ls -1 /proc/self/fd' >wanted
pgpu run -- ls -1 /proc/self/fd >list
listed_alike "C069 also when that is only 0, 1 and 2"

pgpu run -- diff <(echo one) <(echo one) >list 2>"$err"
equals "the shell's <( ) can be read by the job" 0 "$?"
pgpu run -- diff <(echo one) <(echo two) >list 2>"$err"
equals "and its difference is seen" '1 < one > two' "$? $(grep '[<>]' list | paste -sd ' ')"
exec 7<bytes 8>handed 20<bytes
pgpu submit -q -o "$PWD/spooled" -- ls -1 /proc/self/fd >id
exec 7<&- 8>&- 20<&-
pgpu wait "$(cat id)"
equals "C069 a spooled job has 0, 1, 2, and what ls opens" '0 1 2 3' "$(paste -sd ' ' spooled)"

# make's job server goes through: `one` can only end once `two` runs beside it.
mkfifo meet
cat >Makefile <<-'END'
	outer: ; +@pgpu run -q -- $(MAKE) --no-print-directory inner
	inner: one two
	one: ; @read met <meet
	two: ; @echo met >meet
END
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS timeout 60 make -j2 outer >list 2>"$err"
equals "make's job server goes through" '0 ' "$? $(cat "$err" list)"

# C139: started without 0, 1 or 2. (valgrind then has its reports there.)
pgpu run -- sh -c 'cat; echo read >read' <&- 2>"$err"
equals "C139 stdin closed: the job reads nothing and goes on" read "$(cat read)"
if [ "$sanitizer" != valgrind ]; then
	pgpu run -- sh -c 'echo astray; echo ran >ran' >&- 2>"$err"
	equals "C139 stdout closed: the job runs" ran "$(cat ran)"
	pgpu run -- sh -c 'echo astray >&2; echo ran2 >ran' 2>&-
	equals "C139 stderr closed: the job runs" ran2 "$(cat ran)"
	pgpu run -- sh -c 'echo astray; echo astray >&2; exit 6' <&- >&- 2>&-
fi
check "C139 no file of the queue holds what the job wrote" sh -c '! grep -rqa astray "$XDG_STATE_HOME/pgpu" --exclude=log.tsv'
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
	eval "pgpu queue $closed" >"$SANDBOX/closed" 2>&1
	code=$?
	check "C139 queue $closed ends by itself" test $code -le 1
done

# C155: a huge limit of open files costs nothing worth a second.
if (ulimit -n 1048576) 2>"$err"; then
	(ulimit -n 1048576; strace -f -c -U calls,name -o trace pgpu run -- true)
	calls=$(awk '$NF == "total" { print $1 }' trace)
	if [ "${calls:-999999}" -lt 2000 ]; then
		ok "C155 descriptors are not closed one by one"
	else
		not_ok "C155 descriptors are not closed one by one" "${calls:-no} system calls"
	fi
else
	skip "C155 descriptors are not closed one by one" "ulimit -n cannot be raised here"
fi
finish
