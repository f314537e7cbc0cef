#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The usage text of each command stands word for word in man/pgpu.1: the block of its subsection equals `pgpu COMMAND --help`,
# the SYNOPSIS equals all their usage lines in that order, and both name the same commands. TAP output.
#
#     PGPU=build/pgpu tests/lint/help-equals-man.sh [man/pgpu.1]

here=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
pgpu=${PGPU:-$here/build/pgpu}
page=${1:-$here/man/pgpu.1}
number=0
failed=0

if [ ! -x "$pgpu" ] && ! command -v "$pgpu" >/dev/null; then
	echo "Bail out! $pgpu is not there: build it first or name it in PGPU"
	exit 1
fi
if [ ! -r "$page" ]; then
	echo "Bail out! $page cannot be read"
	exit 1
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The first literal block behind the line that is its first argument.
block() {
	awk -v start="$1" '
		$0 == start { found = 1; next }
		found && /^\.S[hs] / { exit }
		found && /^\.Bd -literal/ { inside = 1; next }
		inside && /^\.Ed/ { exit }
		inside { print }
	' "$page"
}

# report NAME WANTED GOT: compares two files.
report() {
	number=$((number + 1))
	if [ -s "$2" ] && cmp -s "$2" "$3"; then
		echo "ok $number - $1"
		return
	fi
	echo "not ok $number - $1"
	diff "$2" "$3" | sed 's/^/# /'
	failed=$((failed + 1))
}

"$pgpu" --help >"$work/help" || exit 1
# Commands are the indented words between the first empty line and the second.
awk '/^$/ { part++ } part == 1 && /^  [a-z]/ { print $1 }' "$work/help" >"$work/commands"
awk '/^\.Sh / { inside = $0 == ".Sh COMMANDS" } inside && /^\.Ss / { print $2 }' "$page" >"$work/sections"

echo "1..$(($(wc -l <"$work/commands") + 2))"
report "the page has one section for each command of pgpu --help, in its order" "$work/commands" "$work/sections"

while read -r command; do
	"$pgpu" "$command" --help >"$work/usage" || echo "(exit code $?)" >>"$work/usage"
	sed -n 's/^usage: \(pgpu \)/\1/p; s/^       \(pgpu \)/\1/p' "$work/usage" >>"$work/synopsis"
	block ".Ss $command" >"$work/block"
	report "pgpu $command --help equals its block in the page" "$work/usage" "$work/block"
done <"$work/commands"

block ".Sh SYNOPSIS" >"$work/block"
report "the SYNOPSIS is the usage lines of all commands" "$work/synopsis" "$work/block"
[ "$failed" -eq 0 ]
