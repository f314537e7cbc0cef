#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the pictures of the README, in this folder or in the one that is named, from an evening in fast motion: real jobs
# that sleep, in a queue of their own. `pgpu` is the one of build/.
#
#     examples/pictures/make.sh [FOLDER]
set -u
here=$(cd "$(dirname "$0")" && pwd)
into=$(realpath "${1:-$here}")
build=$(realpath "${BUILD:-$here/../../build}")

sandbox=$(mktemp -d "${TMPDIR:-/tmp}/pgpu-pictures.XXXXXX")
export HOME=$sandbox/home XDG_CONFIG_HOME=$sandbox/config XDG_STATE_HOME=$sandbox/state XDG_RUNTIME_DIR=$sandbox/run
export PATH=$build:$PATH TZ=UTC
unset PGPU_CONF PGPU_CLASS
mkdir -m 700 "$HOME" "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"
mkdir "$HOME/film"
cd "$HOME/film" || exit 1

leave()
{
	pgpu cancel --all >/dev/null 2>&1
	rm -rf "$sandbox"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# job NAME CLASS COMMAND…: spooled; its id goes to a file.
job() { pgpu submit -q -J "$1" -p "$2" -o "$1.log" -- sh -c "$3" >>ids || exit 1; }

# shown REGEX [COMMAND]: until queue, or log, shows a line like this.
shown()
{
	local end=$((SECONDS + 60))
	until pgpu "${2:-queue}" | grep -qE "$1"; do
		[ $SECONDS -lt $end ] || { echo "$0: never in ${2:-queue}: $1" >&2; pgpu queue >&2; exit 1; }
		sleep 0.1
	done
}

pgpu run -q -- true || exit 1
sleep 1 # the report counts whole seconds
begun=$(date +%FT%T)
job dusk render 'for frame in 1 2 3 4 5 6; do echo "$frame/6 of dusk" >"$PGPU_PROGRESS"; sleep 1; pgpu turn; done'
job waves clip 'sleep 6'
shown ' dusk .* on lane'
shown ' waves .* on lane'
job dawn render 'sleep 3'
job weigh truth 'sleep 3; echo "weigh: no such table"; exit 1'
pgpu submit -q -J later --hold --as web -- true >held || exit 1
pgpu run -q -J preview --as web -- sleep 4 &
shown ' preview .* on lane'
shown ' S .* dusk '
{ echo '$ pgpu queue' && pgpu queue; } >queue.txt
pgpu submit -q -J strip -a 1-6 -o strip.log -- sleep 1 >>ids || exit 1
wait $! || exit 1
# shellcheck disable=SC2046 # a list of words
pgpu wait $(cat ids) >/dev/null 2>&1
for job in dusk waves dawn weigh; do shown " $job .* (completed|failed)$" log; done
for task in 1 2 3 4 5 6; do shown "_$task .* completed$" log; done
pgpu cancel "$(cat held)" >/dev/null || exit 1

python3 "$here/terminal.py" <queue.txt >queue.svg || exit 1
pgpu report --since "$begun" --svg report.new || exit 1
sed '1a<!-- SPDX-License-Identifier: GPL-3.0-or-later -->' report.new >report.svg
cp queue.svg report.svg "$into"
