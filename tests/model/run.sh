#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Searches the model of the line's protocol (line.pml, README.md): one line a scenario, exit 1 when a verdict is not the
# expected one. Hash compaction (-DHC4) everywhere: two different states are taken for one with a chance below 1e-6.
# Needs spin and a C compiler. Two scenarios at a time; everything lies in a temporary folder.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
if ! command -v spin >/dev/null || ! command -v "${CC:-cc}" >/dev/null; then
	echo "ok the model is searched # SKIP no spin or no C compiler here"
	exit 0
fi

# check NAME VERDICT FLAGS...: VERDICT is holds or fails
check() {
	name=$1 want=$2
	shift 2
	mkdir "$tmp/$name" && cd "$tmp/$name" || return 1
	if ! spin -a "$@" "$here/line.pml" >out 2>&1 ||
	   ! "${CC:-cc}" -w -O2 -DSAFETY -DNOREDUCE -DHC4 -DMEMLIM=2000 -DVECTORSZ=2048 -o pan pan.c >>out 2>&1; then
		echo "not ok $name does not compile"
		head -5 out >&2
		return 1
	fi
	timeout "${MODEL_TIMEOUT:-280}" ./pan -E -m20000 -w22 >out 2>&1
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' out)
	if grep -q 'errors: 0$' out && ! grep -q 'max search depth too small\|not completed' out; then
		got=holds
	elif grep -q '^pan:1: assertion violated' out; then
		got=fails
		grep -q '^pan:1: assertion violated (i<' out && got="needs more worker slots"
	else
		got="not finished"
	fi
	cd "$tmp" && rm -rf "${tmp:?}/$name"
	if [ "$got" = "$want" ]; then
		echo "ok $name states=$states ($got, as expected)"
	else
		echo "not ok $name states=$states ($got, expected: $want)"
		return 1
	fi
}

# kill: -DF1=1, stop: -DF1=2, either: -DF1=3; -DF2: a second one after the repair
rows() {
	cat <<-'ROWS'
	blocking-2-kill holds -DNR=2 -DF1=1
	blocking-2-stop holds -DNR=2 -DF1=2
	blocking-2-two-faults holds -DNR=2 -DNW=4 -DF1=3 -DF2=3 -DLONG
	blocking-3-kill holds -DNR=3 -DF1=1 -DLONG
	blocking-3-stop holds -DNR=3 -DF1=2 -DLONG
	better-ticket-kill holds -DNR=3 -DLASTFIRST -DF1=1 -DLONG
	better-ticket-stop holds -DNR=3 -DLASTFIRST -DF1=2 -DLONG
	spooled-1-either holds -DNB=1 -DNW=5 -DF1=3
	spooled-1-two-kills holds -DNB=1 -DNW=5 -DF1=1 -DF2=1 -DLONG
	spooled-1-stop-then-kill holds -DNB=1 -DNW=5 -DF1=2 -DF2=1 -DLONG
	watchers-die-in-turn holds -DNB=1 -DNW=5 -DGATED -DF1=1 -DF2=1
	watchers-stop-then-kill holds -DNB=1 -DNW=5 -DGATED -DF1=2 -DF2=1 -DLONG
	spooled-2-kill holds -DNB=2 -DNW=5 -DF1=1 -DLONG
	mixed-kill holds -DNR=1 -DNB=1 -DNW=5 -DF1=1 -DLONG
	mixed-stop holds -DNR=1 -DNB=1 -DNW=5 -DF1=2 -DLONG
	mixed-job-first-either holds -DNR=1 -DNB=1 -DNW=5 -DJOBSFIRST -DF1=3 -DLONG
	submit-inside-either holds -DINSIDE -DNR=1 -DNW=5 -DF1=3
	two-lanes-blocking-kill holds -DL=2 -DNR=3 -DF1=1 -DLONG
	two-lanes-mixed-kill holds -DL=2 -DNR=1 -DNB=1 -DNW=5 -DF1=1 -DLONG
	turn-2-either holds -DTURN -DNR=2 -DF1=3 -DLONG
	turn-3-kill holds -DTURN -DNR=3 -DF1=1 -DLONG
	turn-mixed-job-first-kill holds -DTURN -DNR=1 -DNB=1 -DNW=5 -DJOBSFIRST -DF1=1 -DLONG
	logout-blocking-2 holds -DLOGOUT -DNR=2 -DF1=4 -DF2=1
	logout-mixed holds -DLOGOUT -DNR=1 -DNB=1 -DNW=5 -DF1=4 -DLONG
	logout-two-lanes-mixed holds -DLOGOUT -DL=2 -DNR=1 -DNB=1 -DNW=5 -DF1=4 -DLONG
	logout-turn holds -DLOGOUT -DTURN -DNR=2 -DF1=4 -DLONG
	logout-after-a-kill holds -DLOGOUT -DNB=1 -DNW=5 -DF1=1 -DF2=4 -DLONG
	broken-nobody-calls-after-a-logout fails -DLOGOUT -DBREAK_NOCALL -DNB=1 -DNW=5 -DF1=4
	broken-job-gone-not-remembered fails -DNO_STUCK -DNR=2 -DF1=2
	broken-standby-does-not-look fails -DNO_STANDBYLOOKS -DNB=1 -DNW=5 -DF1=2
	broken-only-a-held-role-vacant fails -DNO_SBGONE -DNR=2 -DF1=3
	broken-second-does-not-look fails -DNO_SECONDLOOKS -DNB=1 -DNW=5 -DGATED -DF1=2
	broken-stopped-child fails -DNO_SPAWNCONT -DNB=1 -DNW=5 -DF1=2
	broken-stopped-spawner fails -DNO_SPAWNER -DJOBSFIRST -DNR=1 -DNB=1 -DNW=5 -DLONG -DF1=2
	broken-no-look-after-pidfd fails -DNO_AGAIN -DNR=2 -DNW=4 -DF1=1 -DF2=1 -DLONG
	broken-stale-grant fails -DNO_STANDBYEXPIRES -DNB=1 -DNW=5 -DF1=1 -DF2=2 -DLONG
	broken-turn-not-watched fails -DTURN -DNO_TURNWATCH -DNR=3 -DF1=1 -DLONG
	broken-turn-does-not-look fails -DTURN -DNO_TURNLOOKS -DNR=2 -DF1=1 -DLONG
	broken-turn-does-not-rescue fails -DTURN -DNO_TURNRESCUES -DNR=3 -DF1=1 -DLONG
	broken-frozen-lock fails -DBREAK_FROZENLOCK -DNR=2 -DF1=2
	ROWS
}
rows > "$tmp/rows"
half() {
	awk -v k="$1" 'NR % 2 == k' "$tmp/rows" | {
		bad=0
		while read -r n v f; do
			# shellcheck disable=SC2086
			check "$n" "$v" $f || bad=1
		done
		return $bad
	}
}
half 0 & first=$!
half 1; bad=$?
wait "$first" || bad=1
exit "$bad"
