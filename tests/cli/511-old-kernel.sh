#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A kernel, or a container's filter, that refuses clone3(2): a job starts all the same, in its cell.
. "$(dirname "$0")/lib.sh"
if ! strace -o /dev/null -e trace=clone3 -e inject=clone3:error=ENOSYS true 2>/dev/null; then
	skip "a job starts without clone3" "strace cannot make it fail here"
	finish
fi
wanted=$(pgpu run -q -- sed -n 's/^0:://p' /proc/self/cgroup | sed 's/[0-9-]*$//')
for why in ENOSYS EPERM EINVAL; do
	refused=(strace -o trace -e trace=clone3 -e "inject=clone3:error=$why")
	exits 3 "$why: a job starts without clone3" "${refused[@]}" pgpu run -q -- sh -c 'exit 3'
	matches "$why: it was refused" "$why" "$(cat trace)"
	exits 127 "$why: a command that is not there is told" "${refused[@]}" pgpu run -q -- "$SANDBOX/none"
	equals "$why: the job is where it would be" "$wanted" \
		"$("${refused[@]}" pgpu run -q -- sed -n 's/^0:://p' /proc/self/cgroup | sed 's/[0-9-]*$//')"
done
finish
