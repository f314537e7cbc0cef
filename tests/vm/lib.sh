# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The words of the CLI tests, and a few for what only the test machine has; README.md in this folder is the manual.
runtime=${XDG_RUNTIME_DIR:-/run/user/$UID}
vm_cache=${VM_CACHE:-}
. "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
# In a sandbox of its own a process does not find its user's systemd manager.
[ ! -d "$runtime" ] || export XDG_RUNTIME_DIR=$runtime
[ -z "$vm_cache" ] || export VM_CACHE=$vm_cache

# cells: the cgroups that this sandbox's queue has now, one a line.
cells()
{
	local queue
	for queue in "$XDG_STATE_HOME"/pgpu/*/; do
		find /sys/fs/cgroup -type d -name "pgpu-$(printf %x "$(stat -c %i "$queue")")-*"
	done
}

# need_cells WHY…: the rest of the file is one skipped check where pgpu has no cells with a ceiling of memory.
need_cells()
{
	[[ $(pgpu status --json) = *'"available":true,"memory":true'* ]] && return
	skip "$1" "no cells with a ceiling here: $(pgpu status | sed -n 's/^cells: //p')"
	finish
}

# gone NAME PID…: none of them is a process any more.
gone()
{
	local name=$1 pid left=
	shift
	for pid; do ! alive "$pid" || left+=" $pid"; done
	equals "$name" "" "$left"
}

# login USER COMMAND: over ssh, with the pgpu that the test has put into $SANDBOX; returns when that session is closed.
login() { ssh -F /usr/local/lib/pgpu-vm/ssh_config "$1@vm" "PATH=$SANDBOX:\$PATH; $2"; }

# no_session USER: it has no session but those that wait for their last process.
# shellcheck disable=SC2317 # until_true calls it
no_session() { [ "$(loginctl show-user -P State "$1" 2>/dev/null)" != active ]; }
