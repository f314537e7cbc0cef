#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# C149: the queue's and the runtime folder are mounted noexec. Nothing is executed from either.
. "$(dirname "$0")/lib.sh"

mounts() { unshare -m sh -c "mount -t tmpfs -o noexec,mode=700 none '$XDG_STATE_HOME' && mount -t tmpfs -o noexec,mode=700 none '$XDG_RUNTIME_DIR' && $1"; }

if ! mounts true 2>/dev/null; then
	skip "C149 a script runs from folders mounted noexec" "this user may not mount"
	finish
fi
cat >job.yaml <<'END'
---
name: t
class: test
output: out
---
#!/bin/sh
echo "hi from $0"
END
exits 0 "C149 a script runs from folders mounted noexec" mounts "pgpu submit --wait job.yaml"
matches "and it is the script" '^hi from /' "$(cat out)"
exits 3 "C149 a blocking call runs there too" mounts "pgpu run -q -- sh -c 'exit 3'"
finish
