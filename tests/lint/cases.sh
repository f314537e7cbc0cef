#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every field case of tests/README.md has a check that bears its number in each file that the table names.
cd "$(dirname "$0")/../.." || exit 1
bad=0 count=0

while IFS='|' read -r _ id _ files _; do
	id=${id// /}
	count=$((count + 1))
	for file in ${files//[\`,]/ }; do
		found=$(grep -lE "(^|[^A-Z0-9])$id([^0-9]|$)" "tests/$file".{sh,c} 2>/dev/null)
		[ -n "$found" ] || { echo "# $id is not in tests/$file"; bad=1; }
	done
	[ -n "${files// /}" ] || { echo "# $id has neither a test nor a reason"; bad=1; }
done < <(grep -E '^\| C[0-9]{3} \|' tests/README.md)

[ $count -eq 79 ] || { echo "# $count cases, not 79"; bad=1; }
[ $bad -eq 0 ] || printf 'not '
echo "ok each of the field cases has a test"
exit $bad
