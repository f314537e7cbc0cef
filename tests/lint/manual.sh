#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The man pages are right mdoc, and what each command says with --help is its line in the SYNOPSIS of pgpu(1).
cd "$(dirname "$0")/../.." || exit 1
pgpu=${BUILD:-build}/pgpu
bad=0

# Prints the commands' usages, one a line, words apart by one blank: from "pgpu COMMAND …" and the indented lines below it.
usages()
{
	sed -E 's/^usage: /       /' | awk '
		function flush() { gsub(/[[:space:]]+/, " ", line); sub(/^ /, "", line); sub(/ $/, "", line); if (line != "") print line; line = "" }
		/^ +pgpu( |$)/        { flush(); line = $0; next }
		/^[[:space:]]*$/      { flush(); next }
		/^        / && line != "" { line = line " " $0; next }
		                      { flush() }
		END                   { flush() }'
}

for page in pgpu.1 pgpu.7 pgpu.conf.5 pgpu-job.5 pgpu-spool.5; do
	if [ ! -e man/$page ]; then
		echo "ok man/$page is right # SKIP not written yet"
	elif ! command -v mandoc >/dev/null; then
		echo "ok man/$page is right # SKIP no mandoc here"
	elif text=$(mandoc -T lint -W warning man/$page); then
		echo "ok man/$page is right"
	else
		echo "not ok man/$page is right"
		printf '%s\n' "$text" | sed 's/^/# /'
		bad=1
	fi
done

# A column that begins so far to the right is one word wide: the table does not fit a terminal.
for page in man/*.[1-8]; do
	if ! command -v groff >/dev/null; then
		echo "ok the tables of $page fit 78 columns # SKIP no groff here"
	elif broken=$(groff -Tutf8 -mandoc -P-c -rLL=78n "$page" 2>/dev/null | grep -E '^ {55,}[^ ]'); then
		echo "not ok the tables of $page fit 78 columns"
		printf '%s\n' "$broken" | sed 's/^/# /'
		bad=1
	else
		echo "ok the tables of $page fit 78 columns"
	fi
done

if [ ! -e man/pgpu.1 ] || ! command -v mandoc >/dev/null; then
	echo "ok --help is the synopsis # SKIP no man/pgpu.1 or no mandoc here"
	exit $bad
fi
synopsis=$(mandoc -T utf8 -O width=200 man/pgpu.1 | sed 's/.\x08//g' | sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' | usages)
while read -r command; do
	wanted=$(grep -E "^pgpu $command( |\$)" <<<"$synopsis")
	found=$("$pgpu" "$command" --help | usages)
	if [ -n "$found" ] && [ "$found" = "$wanted" ]; then
		echo "ok $command --help is its synopsis"
	else
		echo "not ok $command --help is its synopsis"
		printf '# --help:   %s\n' "$found"
		printf '# SYNOPSIS: %s\n' "$wanted"
		bad=1
	fi
done < <(sed -n 's/^int cmd_\([a-z_]*\)(.*/\1/p' runner/commands.h | grep -vxE 'worker|onend')
exit $bad
