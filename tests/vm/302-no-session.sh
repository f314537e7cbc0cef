#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs of system services, in no session of their user, while the user's runtime folder goes and comes back.
# scenes: root
. "$(dirname "$0")/lib.sh"
cp "$BUILD/pgpu" "$SANDBOX" && chmod 755 "$SANDBOX" && touch "$SANDBOX/ran" && chmod 666 "$SANDBOX/ran" || exit 1
home=$SANDBOX/of-other
mkdir -p "$home/.config/pgpu" && echo 'lanes = 2' >"$home/.config/pgpu/pgpu.conf" && chown -R other "$home" || exit 1
as_other=(HOME="$home" XDG_RUNTIME_DIR=/run/user/1001 XDG_STATE_HOME= XDG_CONFIG_HOME=)

# start NAME: a blocking run of a system service that notes its name and stays until its gate is opened.
start()
{
	gate_pipes "$1" && chmod 666 "$SANDBOX/$1".*
	systemd-run -q --uid=1001 --unit="test-$1" -p RemainAfterExit=yes "${as_other[@]/#/--setenv=}" --working-directory="$home" \
		"$SANDBOX/pgpu" run -q --name "$1" -- sh -c "echo $1 >>$SANDBOX/ran; $(gate "$1")"
}
other() { env "${as_other[@]}" setpriv --reuid 1001 --regid 1001 --clear-groups "$SANDBOX/pgpu" "$@"; }
states() { other queue --json | grep -oE '"(name|state)":"[^"]*"' | cut -d '"' -f 4 | paste -sd ' '; }
# shellcheck disable=SC2317 # until_true calls it
says() { [ "$(states)" = "$1" ]; }
id_of() { other queue | awk -v name="$1" '$5 == name { print $1 }'; }

systemctl start user@1001.service
start a && reached a && start b && reached b && start c
until_true says "running a running b pending c"
systemctl stop user@1001.service
until_true [ ! -e /run/user/1001 ]
equals "the line is whole without the folder" "running a running b pending c" "$(states)"
systemctl start user@1001.service
start d
until_true says "running a running b pending c pending d"
equals "two lanes run two jobs" "a b" "$(paste -sd ' ' "$SANDBOX/ran")"
open_gate a
reached c
exits 0 "a job from before is cancelled" other cancel "$(id_of b)"
reached d
equals "those that waited have the lanes" "running c running d" "$(states)"
open_gate c && open_gate d
until_true says ""
equals "each ran once, in order" "a b c d" "$(paste -sd ' ' "$SANDBOX/ran")"
equals "and each is accounted for" "a completed b cancelled c completed d completed" \
	"$(cut -f 6,15 "$home"/.local/state/pgpu/*/log.tsv | tr '\t' ' ' | grep '^[a-d] ' | sort | paste -sd ' ')"
systemctl stop test-a.service test-b.service test-c.service test-d.service user@1001.service
finish
