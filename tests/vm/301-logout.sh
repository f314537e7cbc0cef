#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A user without lingering logs out while a spooled job runs and another waits: the queue is worked off all the same.
# scenes: root
. "$(dirname "$0")/lib.sh"

# login COMMAND: as the user other, over ssh; returns when that session is closed.
login() { ssh -F /usr/local/lib/pgpu-vm/ssh_config other@vm "PATH=$SANDBOX:\$PATH; $1"; }

# no_session: other has no session but those that wait for their last process.
# shellcheck disable=SC2317 # until_true calls it
no_session() { [ "$(loginctl show-user -P State other 2>/dev/null)" != active ]; }

cp "$BUILD/pgpu" "$SANDBOX" && chmod 755 "$SANDBOX" || exit 1
gate_pipes first
chmod 666 "$SANDBOX"/first.*
login "mkdir -p .config/pgpu && echo 'lanes = 1' >.config/pgpu/pgpu.conf"
first=$(login "pgpu submit -- sh -c 'echo \$\$ >pid; $(gate first)'")
second=$(login "pgpu submit -- sh -c 'exit 3'")
reached first
until_true no_session
check "the job runs when its user has logged out" alive "$(cat /home/other/pid)"
open_gate first
exits 0 "it ends as it likes" login "pgpu wait $first"
exits 3 "and so does the one behind it" login "pgpu wait $second"
matches "neither was started twice" '"restarts":0.*"restarts":0' "$(login "pgpu show --json $first $second" | paste -s)"
finish
