#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the README tells a newcomer to type, taken from it and typed: from the installation to a finished strip, a cancelled
# job, a held one and a report. Each command succeeds, and what it prints is what stands there, but for times and sizes.
. "$(dirname "$0")/lib.sh"
# A queue in which nothing has been yet; those of the sandbox are sorted by their ids.
export XDG_STATE_HOME=$SANDBOX/fresh TZ=UTC

if ! command -v povray >/dev/null; then
	skip "the tour of the README" "no povray here"
	finish
fi
if [ -n "$sanitizer" ]; then
	skip "the tour of the README" "it installs a build of its own"
	finish
fi

# steps SECTION: the commands in its blocks, each with what it prints below it.
steps() { awk -v section="## $1" '/^## / { inside = $0 == section } /^```/ { block = !block; next } inside && block' "$REPO/README.md"; }

# plain: a text without what differs from one machine and one evening to the next.
plain()
{
	sed -E "s,$HOME,/home/ada,g; s/\\b${REPO##*/}\\b/pgpu/; /^ *(held|frozen)? *\\|\\.|^\$/d
		s/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?/DATE/g; s/\\b([0-9]+[smhd])+\\b/TIME/g
		s/[0-9.]+[KMGT]\\b/SIZE/g; s/(-|SIZE) of SIZE/PEAK/; s/[0-9]+%/N%/g; s/(-|N%)\$/SHARE/; s/ +/ /g" | case $1 in
	"pgpu status"*) grep -E '^(lane|waiting)' ;;
	"pgpu log"* | "pgpu report"*) LC_ALL=C sort ;;
	*) cat ;;
	esac
}

# POV-Ray goes on when the queue was looked at, as if it were slow.
gate=$SANDBOX/gate
mkdir bin
printf '#!/bin/sh\nexec flock -s %s %s "$@"\n' "$gate" "$(command -v povray)" >bin/povray
printf '#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\ncat frames/strip*.png >"$1"\n' >bin/ffmpeg
chmod 755 bin/*
exec 9>"$gate" && flock 9
tour=$SANDBOX/usr/bin:$PWD/bin:${PATH#"$BUILD":} # for its commands alone

# shellcheck disable=SC2317 # the tour calls it
# Instead of a password and of changes to this machine: the packages are asked for, and all goes into the sandbox.
sudo()
{
	case $1 in
	apt) [ "$2" = update ] || printf '%s\n' "${@:3}" >>"$SANDBOX/packages" ;;
	*) "$@" ;;
	esac
}
# shellcheck disable=SC2317
make() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL BUILD="$BUILD" PREFIX="$SANDBOX/usr" make -s "$@"; }

# try COMMAND: what it prints goes to $out and $err.
try()
{
	local PATH=$tour

	eval "$1" >"$out" 2>"$err" 9>&- || { not_ok "$ $1" "exit code $?: $(cat "$err")"; return; }
	[ -z "$(cat "$err")" ] || not_ok "$ $1 says nothing else" "$(cat "$err")"
}

# step COMMAND WANTED: a look at the line or the history, again until it is as it stands there.
step()
{
	local end=$((SECONDS + 30)) wanted found
	case $1 in *"output -f"* | *"pgpu wait"*) exec 9>&- ;; esac
	wanted=$(plain "$1" <<<"$2")
	while :; do
		try "$1"
		found=$(plain "$1" <"$out")
		case $1 in "pgpu queue"* | "pgpu status"* | "pgpu log"* | "pgpu report"*) ;; *) break ;; esac
		if [ "$found" = "$wanted" ] || [ $SECONDS -ge $end ]; then break; fi
	done
	equals "$ $1" "$wanted" "$found"
}

# walk SECTION: all of its steps, in this shell.
walk()
{
	local command='' wanted='' line
	while IFS= read -r line; do
		if [[ $line = '$ '* ]]; then
			[ -z "$command" ] || step "$command" "$wanted"
			command=${line:2} wanted=
		else
			wanted+=${wanted:+$'\n'}$line
		fi
	done < <(steps "$1")
	[ -z "$command" ] || step "$command" "$wanted"
}

cd "$REPO" || exit 1
walk "Install"
try 'command -v pgpu'
equals "the pgpu that was installed is used" "$SANDBOX/usr/bin/pgpu" "$(cat "$out")"
walk "Ten minutes"
equals "it ends in the folder of the strip" "$HOME/strip" "$PWD"
equals "the strip is finished" 24 "$(find frames -name 'strip*.png' -size +1k | wc -l)"
equals "and packed" 24 "$(tar -tf strip.tar | grep -c '\.png$')"
state() { pgpu show "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])'; }
equals "one is cancelled, and the one that was held has run" "cancelled completed" "$(state 6) $(state 7)"
check "the page of the report is there" grep -q 'none\.pov' "$HOME/night.html"
rm frames/strip07.png
walk "A night of frames"
exits 0 "what was missing is rendered" pgpu wait 10
check "and only that" sh -c '[ "$(grep -c ^frame strip-9.log)" = 1 ] && [ -s strip.mp4 ]'
equals "the rest waits for the night" pending "$(state 11)"

# What it tells to install is what the build and the tour need, by their names in Debian.
needed=$(awk '$1 == "build" || $1 == "demo" { print $3 }' "$REPO/tests/deps.sh" | sed -E 's/^(gcc|make|libc6-dev)$/build-essential/' | sort -u)
equals "nothing has to be installed that it does not name" "$needed" "$(sort -u "$SANDBOX/packages")"
finish
