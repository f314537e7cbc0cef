#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# make demo: an overnight render in fast motion. Eight spooled jobs render three pictures each of the strip, a preview is
# asked for meanwhile and does not wait for all of them. The queue lives in a folder of its own and goes when this ends.
set -u
cd "$(dirname "$0")/.." || exit 1

build=$(realpath "${BUILD:-build}")
demo=$build/demo
frames=24
part=3

sandbox=$(mktemp -d "${TMPDIR:-/tmp}/pgpu-demo.XXXXXX")
export HOME=$sandbox/home XDG_CONFIG_HOME=$sandbox/config XDG_STATE_HOME=$sandbox/state XDG_RUNTIME_DIR=$sandbox/run
export PATH=$build:$PATH
unset PGPU_CONF
mkdir -m 700 "$HOME" "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"

leave()
{
	code=$?
	trap '' INT TERM
	pgpu cancel --all >/dev/null 2>&1
	rm -rf "$sandbox"
	exit $code
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# One line that is written over on a terminal, and a line each eight frames elsewhere.
progress()
{
	if [ -t 1 ]; then
		printf '\r%d of %d frames' "$1" $frames
		[ "$1" -lt $frames ] || echo
	elif (($1 % 8 == 0)); then
		echo "$1 of $frames frames"
	fi
}

rm -rf "$demo"
cp -r examples/strip "$demo"
cd "$demo" || exit 1

echo "Submitting the night's strip, $part frames a job:"
echo "    pgpu submit frames.sh -- FIRST LAST"
jobs=()
for ((first = 1; first <= frames; first += part)); do
	jobs+=("$(pgpu submit frames.sh -- $first $((first + part - 1)))") || exit 1
done
echo "Jobs ${jobs[*]}. A preview beside them, which waits for its lane and no longer:"
echo "    pgpu run -- povray strip.ini +W80 +H45 +SF12 +EF12 +Opreview"
pgpu run -- povray strip.ini +W80 +H45 +SF12 +EF12 +Opreview >preview.log 2>&1 &
preview=$!
echo
pgpu queue
echo

done=0
for job in "${jobs[@]}"; do
	while read -r word _; do
		[ "$word" != frame ] || progress $((++done))
	done < <(pgpu output "$job" -f)
done
failed=0
wait $preview || { echo "the preview failed: $demo/preview.log"; failed=1; }
for job in "${jobs[@]}"; do
	pgpu wait "$job" || { echo "job $job failed: $demo/pgpu-$job.out"; failed=1; }
done
cp "$XDG_STATE_HOME"/pgpu/*/log.tsv log.tsv || failed=1

# The head of a picture tells when it was made; behind it lie its pixels.
different=$(for picture in frames/*.png; do tail -c +300 "$picture" | cksum; done | sort -u | wc -l)
if [ "$different" -ne $frames ]; then
	echo "$different different pictures in $demo/frames, not $frames" >&2
	failed=1
fi
[ $failed = 0 ] || exit 1
echo
echo "The strip:  $demo/frames/strip01.png to strip$frames.png"
echo "The log:    $demo/log.tsv, $(($(wc -l <log.tsv) - 1)) jobs"
