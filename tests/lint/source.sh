#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The rules of the house that a script can check on the C sources. Prints what breaks a rule below its "not ok".
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../.." || exit 1

shipped=(conf/base/*.[ch] conf/*.[ch] submit/*.[ch] runner/*.[ch] runner/*/*.[ch])
tests=(tests/*/*.[ch])
bad=0

# rule NAME FOUND: holds when nothing was found.
rule()
{
	if [ -z "$2" ]; then
		echo "ok $1"
	else
		echo "not ok $1"
		printf '%s\n' "$2" | sed -n 's/^/# /; 1,20p; 21s/.*/# …/p'
		bad=1
	fi
}

# numbered FILE…: "FILE:LINE:" for each line of these files, in order.
numbered() { awk '{ print FILENAME ":" FNR ":" }' "$@"; }

# located NAMES: puts the names of the list NAMES in front of what grep -n printed of the same lines.
located() { awk 'NR == FNR { name[NR] = $0; next } { line = $0 + 0; sub(/^[0-9]*:/, ""); print name[line] $0 }' "$1" -; }

# only_in "FILE…" REGEX: lines of shipped C, comments aside, that match outside of these files. One grep over all files.
only_in()
{
	local file outside=()
	for file in "${shipped[@]}"; do
		[[ " $1 " = *" $file "* ]] || outside+=("$file")
	done
	sed -E 's://.*::; s:/\*.*\*/::; /^[[:space:]]*\/?\*/s:.*::' "${outside[@]}" | grep -nE -- "$2" | located <(numbered "${outside[@]}")
}

# one_file HEADER: the .c files that include it, when they are more than one.
one_file()
{
	local found
	found=$(grep -lF "#include <$1>" "${shipped[@]}")
	[ "$(wc -w <<<"$found")" -le 1 ] && [[ $found != *.h ]] || echo "$found"
}

# Functions begin with "{" and end with "}" at the left edge. Prints the longest, and those above 80 lines with "too long".
functions()
{
	awk 'FNR == 1 { name = "" }
	     /^[a-z].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
	     /^\{$/ { start = FNR }
	     /^\}$/ && start { print FNR - start + 1, FILENAME ":" start, name; start = 0 }' "$@" | sort -rn
}

rule "each layer includes only what is below it" "$(grep -H '^#include "' "${shipped[@]}" | awk -f tests/lint/layers.awk)"
for header in confuse.h yaml.h sys/capability.h; do
	rule "$header is included by one file" "$(one_file $header)"
done
rule "only the cell's files know cgroup files" \
	"$(only_in 'runner/cell/cell.c runner/cell/place.c runner/cell/dmem.c' '"[^"]*(/sys/fs/cgroup|cgroup\.[a-z]|memory\.(max|high|swap|peak|events|oom)|dmem\.[a-z]|pids\.max|cpu\.stat)')"
rule "only the paths' files know where things lie, and login.c where the bus is" "$(only_in 'conf/paths.c conf/conf_place.c runner/line/spawn.c runner/cell/login.c' '"[^"]*(XDG_|\.local/state|/run/user)')"
rule "no function without bounds, no shell" \
	"$(only_in '' '(^|[^a-zA-Z_])(atoi|atol|atof|strcpy|strcat|sprintf|vsprintf|gets|system|popen|strtok|alloca)\(')"
rule "texts and numbers go through fmt.h, which costs no pages of stdio's" \
	"$(only_in '' '(^|[^a-zA-Z_])(v?snprintf|v?asprintf|v?dprintf|v?fprintf|printf|strto(u?l|u?ll|d))\(')"
rule "no id is written as a number: conf/jobid.h has its text" "$(only_in '' '"[^"]*(job|array|id\\?":\\?") %l*[ud]')"
rule "formats hold only what fmt.h knows" \
	"$(only_in '' '"[^"]*%[^"]*"' | grep -E '(fmt|fmt_new|buf_printf|err_set|err_sys|err_wrap|say)\(' | grep -oE '"[^"]*"' | sed 's/%%//g' |
		grep -E '%[-0]*([0-9]+|\*)?(\.([0-9]+|\*))?(l|ll|z)?([^-0-9.*lzduxosc]|$)' || true)"
rule "no function is longer than 80 lines" "$(functions "${shipped[@]}" "${tests[@]}" | awk '$1 > 80')"
rule "no line is wider than 120 columns" "$(sed '' "${shipped[@]}" "${tests[@]}" | expand | grep -nE '^.{121}' | cut -c -100 |
	located <(numbered "${shipped[@]}" "${tests[@]}"))"
# The corpus of the fuzzers and the fixtures are other people's texts.
rule "every file begins with its licence" "$(find Makefile .ci conf submit runner tests examples man \( -path tests/fixtures -o -path tests/fuzz/corpus \) -prune -o \
	-type f -print 2>/dev/null | grep -vE "\.md$|^conf/pgpu.conf$" | sort | comm -23 - <(find Makefile .ci conf submit runner tests examples man -type f -exec \
	awk 'FNR <= 3 && /SPDX-License-Identifier: GPL-3.0-or-later/ { print FILENAME }' {} + | sort -u))"
rule "no unfinished work" "$(grep -nE '\b(TO[D]O|FIX[M]E|X[X]X)\b' "${shipped[@]}" "${tests[@]}")"
echo "# the longest functions: $(functions "${shipped[@]}" | head -n 5 | awk '{ printf "%s%s %d", (NR > 1 ? ", " : ""), $3, $1 }')"
exit $bad
