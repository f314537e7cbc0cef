#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/sanitize/suite.sh asan|valgrind KIND|FILE…: tests/run.sh with the pgpu and the units of the sanitizers' build, or
# under valgrind. Fails also for what was found in a process whose exit code nobody sees, a worker's say.
set -u
cd "$(dirname "$0")/../.." || exit 1
export SANITIZER=$1
shift
build=$(realpath -m "${BUILD:-build}")/$SANITIZER
reports=$build/reports

rm -rf "$reports"
mkdir -p "$reports"
if [ "$SANITIZER" = valgrind ]; then
	tests/sanitize/wrap.sh "$build" "$reports"
fi
BUILD=$build tests/run.sh "$@"
code=$?

# Which descriptors are open at the end is of interest for a unit alone: pgpu leaves its own to the kernel. What a parent
# gave it is not its own; valgrind knows neither pidfd_open(2) nor pidfd_send_signal(2), which the code takes for an old kernel.
findings()
{
	awk -v unit="$1" '
		{ line = $0; sub(/^(==|--)[0-9]+(==|--) ?/, "", line) }
		line ~ /^FILE DESCRIPTORS:/ { next }
		line ~ /^Open (file descriptor|AF_)/ { open = $0; place = ""; next }
		open != "" && line ~ /<inherited from parent>/ { open = ""; next }
		open != "" && line == "" { if (unit) print open; open = ""; next }
		open != "" { next }
		line ~ /unhandled amd64-linux syscall: (424|434)/ || line ~ /handler|README_MISSING|Nevertheless|bug_reports/ { next }
		line ~ /^execve\(.*failed, errno/ || line == "" { next }
		{ print }' "$2"
}

found=0
for report in "$reports"/*; do
	[ -s "$report" ] || continue
	is_unit=
	[[ $report != */unit.* ]] || is_unit=yes
	text=$(findings "$is_unit" "$report")
	[ -n "$text" ] || { rm "$report"; continue; }
	found=$((found + 1))
	[ $found -gt 5 ] || head -n 30 <<<"$text" | awk '{ print "# " $0 }'
done
echo "# reports of $SANITIZER: $found"
[ $found -eq 0 ] || code=1
exit $code
