#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the doctor finds, each with what mends it; and the page for programs, held against what it speaks of.
# shellcheck disable=SC2317 # check calls it
. "$(dirname "$0")/lib.sh"

# finds STATE CHECK REGEX: the report has that line.
finds() { pgpu doctor | grep -qE "^$1 +$2: $3"; }
# mended CHECK: the line below the finding of that check.
mended() { pgpu doctor | sed -n "/^[a-z]* *$1:/{n;s/^ *mend: //p}"; }

# --- a fresh account ---
rm "$XDG_CONFIG_HOME/pgpu/pgpu.conf"
pgpu doctor >"$out" 2>"$err"
equals "it says nothing on stderr" '' "$(cat "$err")"
for check in configuration queue disk sockets cells logout boot card limits; do
	matches "one line or more for $check" "(^|"$'\n'")(ok|note|lost) +$check: " "$(cat "$out")"
done
check "without a file the built-in configuration is right" finds ok configuration built-in
check "the queue's folder is named" finds ok queue "$XDG_STATE_HOME/pgpu/[0-9a-f]+, yours alone"
exits "$([[ $(cat "$out") = *lost* ]] && echo 1 || echo 0)" "the exit code says whether anything is lost" pgpu doctor
pgpu doctor --json >"$out"
check "the JSON has the same, and what mends each that is lost" python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))
assert all(set(one) == {"check", "state", "text", "mend"} for one in found), found
assert all(one["mend"] for one in found if one["state"] == "lost"), found
assert {one["state"] for one in found} <= {"ok", "note", "lost"}, found
' "$out"
equals "asked from inside a job it is the same" "$(pgpu doctor | grep -cv '^ ')" \
	"$(pgpu run -q -- pgpu doctor | grep -cv '^ ')"

# --- what can be wrong ---
conf 'lanes = none'
exits 1 "a broken configuration is found" pgpu doctor
check "with its place" finds lost configuration ".*pgpu.conf:1: lanes: 'none'"
check "and the rest all the same" finds ok queue ""
conf 'cells = "off"'
check "cells that are turned off" finds lost cells ".*cells are off in the configuration"
equals "are mended where that was done" "take cells = \"off\" out of $XDG_CONFIG_HOME/pgpu/pgpu.conf" "$(mended cells)"
conf 'lanes = 1'
check "limits of files" sh -c "ulimit -n 100; pgpu doctor | grep -q '^lost  limits: only 100 open files'"
mend=$(ulimit -Sn 100; mended limits)
check "and what it says mends it" sh -c "ulimit -Sn 100; $mend; pgpu doctor | grep -q '^ok    limits'"
touch "$(echo "$XDG_STATE_HOME"/pgpu/*)/pending/strange"
pgpu queue >"$out" 2>&1
check "what was set aside is told" finds note queue '1 damaged or strange files'
XDG_STATE_HOME=$SANDBOX/file
: >"$XDG_STATE_HOME"
exits 1 "without a queue it goes on" pgpu doctor
matches "and says so" "lost +queue: .*nothing can be queued" "$(cat "$out")"
matches "what needs none is looked at" "ok +configuration" "$(cat "$out")"
XDG_STATE_HOME=$SANDBOX/state
mkdir "$SANDBOX/odd"$'\e[31m'
XDG_CONFIG_HOME=$SANDBOX/odd$'\e[31m'
mkdir "$XDG_CONFIG_HOME/pgpu"
echo '=' >"$XDG_CONFIG_HOME/pgpu/pgpu.conf"
lacks "no name of a file is obeyed by the terminal" $'\e' "$(pgpu doctor)"
XDG_CONFIG_HOME=$SANDBOX/config

tree=$SANDBOX/small
mkdir "$tree"
if mount -t tmpfs -o size=8m,mode=700 pgpu-test "$tree" 2>"$err"; then
	check "a disk that is nearly full" sh -c "XDG_STATE_HOME=$tree pgpu doctor | grep -q '^lost  disk: .*a submit may fail'"
	XDG_STATE_HOME=$tree pgpu queue >"$out"
	mount -o remount,ro "$tree"
	check "one that is mounted read-only" sh -c "XDG_STATE_HOME=$tree pgpu doctor | grep -q '^lost  disk: .*read-only'"
	umount "$tree"
else
	for name in "a disk that is nearly full" "one that is mounted read-only"; do
		skip "$name" "no file system can be mounted: $(cat "$err")"
	done
fi
# statfs(2) as btrfs answers it: a terabyte, of files nothing.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null && [ "$(uname -m)" = x86_64 ]; then
	answer=$(python3 -c 'import struct
print(struct.pack("11Q", 0x9123683e, 4096, 1 << 28, 1 << 28, 1 << 28, 0, 0, 0, 255, 4096, 32).hex())')
	check "one that counts no files" sh -c \
		"strace -o trace -e trace=fstatfs -e inject=fstatfs:poke_exit=@arg2=$answer pgpu doctor | grep -qx 'ok    disk: 1.0T free for the queue'"
else
	skip "one that counts no files" "no strace here, or it may not trace"
fi

# --- the card: fixtures in place of /proc and /sys ---
fixtures=$REPO/tests/fixtures
export PGPU_PROCFS=$fixtures/amdgpu-rx9060xt/proc PGPU_SYSFS=$fixtures/amdgpu-rx9060xt/sys
check "a card is named, with its memory" finds ok card 'card[0-9]+ \(amdgpu\), 1[56](\.[0-9])?G'
unset PGPU_PROCFS PGPU_SYSFS

# --- the page for programs ---
exits 0 "pgpu help agents" pgpu help agents
cp "$out" page
equals "every command that it speaks of is one" '' \
	"$(grep -oE 'pgpu [a-z]+' page | cut -d ' ' -f 2 | sort -u | grep -vE '^(shares|failed|with)$' |
		while read -r word; do pgpu help "$word" >/dev/null 2>&1 || echo "$word"; done)"
equals "every option of a line is one of its command" '' \
	"$(sed -n 's/^  pgpu \([a-z]*\) \(.*\)/\1 \2/p' page | while read -r word rest; do
		grep -oE '(^| )--?[a-z-]+' <<<"${rest%% -- *}" | while read -r option; do
			pgpu help "$word" | grep -qE -- "(^|[ ,])$option([ ,]|$)" || echo "$word $option"
		done
	done)"
equals "and every one in its text some command's" '' \
	"$(pgpu help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | xargs -n 1 pgpu help >helps
	grep -oE -- '--[a-z][a-z-]*' page | sort -u | while read -r option; do grep -qE -- "$option([ ,)]|$)" helps || echo "$option"; done)"
if [ -e "$REPO/man/pgpu.1" ]; then
	equals "its exit codes are the manual's" '' "$(sed -n 's/^\.It \([0-9]*\) Ta .*/\1/p' "$REPO/man/pgpu.1" |
		while read -r code; do grep -qE "^  $code +[a-z]" page || echo "$code"; done)"
	equals "its states are the manual's" '' "$(grep -A1 '^STATES' page | tail -n 1 | tr ';:' '  ' | xargs -n 1 |
		while read -r state; do grep -qw -- "$state" "$REPO/man/pgpu.1" || echo "$state"; done)"
else
	skip "its exit codes and states are the manual's" "no manual here"
fi
equals "how to wait is right as it stands" 3 \
	"$(sed -n 's/^  \(id=.*\)/\1/p' page >try; printf '#!/bin/sh\nexit 3\n' >render.sh; chmod +x render.sh; sh ./try)"
pgpu run --help >wanted
exits 0 "pgpu help COMMAND is its --help" pgpu help run
same_bytes "word for word" wanted "$out"
exits 2 "of a command that is none" pgpu help rnu
matches "the nearest is named" "unknown command 'rnu'.*run" "$(cat "$err")"
exits 2 "a hidden one has none" pgpu help worker
finish
