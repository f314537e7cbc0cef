#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every example does what it says.
. "$(dirname "$0")/lib.sh"
cp -r "$REPO/examples/." . && cp -r strip part

# ended ID WANTED_CODE NAME: waits for a spooled job and shows its output when it ended otherwise.
ended()
{
	local code=0
	pgpu wait "$1" >"$out" 2>"$err" || code=$?
	if [ $code -eq "$2" ]; then ok "$3"; else not_ok "$3" "exit code $code; $(cat "$err"); $(pgpu output "$1" 2>&1 | tail -n 5)"; fi
}

exits 0 "command.yaml is taken" pgpu submit command.yaml
id=$(cat "$out")
ended "$id" 0 "command.yaml runs"
equals "in the file it names, with the environment it sets" "step 3 of 3 on $(uname -n)" "$(tail -n 1 "figures-$id.txt")"

exits 0 "night.conf is a right configuration" pgpu conf --check night.conf
exits 0 "its default class is its own" env PGPU_CONF="$PWD/night.conf" pgpu submit -- true
equals "night" night "$(pgpu show "$(cat "$out")" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["class"])')"
ended "$(cat "$out")" 0 "and its jobs run"

# Blender itself is large: one that notes how it was called stands in for it.
mkdir bin && printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >bin/blender && chmod 755 bin/blender
exits 0 "blender.yaml is taken" env PATH="$PWD/bin:$PATH" pgpu submit --memory 512M blender.yaml
id=$(cat "$out")
ended "$id" 0 "blender.yaml runs"
equals "with the arguments Blender expects" '--background scene.blend --engine CYCLES --render-output //frames/#### --render-anim' \
	"$(tr '\n' ' ' <"scene-$id.log" | sed 's/ $//')"

# Programs that note how they were called stand in for a desktop and for a mailer.
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >"$PGPU_SUBMIT_DIR/noted.new"; mv "$PGPU_SUBMIT_DIR/noted.new" "$PGPU_SUBMIT_DIR/noted"\n' >bin/notify-send
printf '#!/bin/sh\n{ echo "$@"; cat; } >"$PGPU_SUBMIT_DIR/mailed.new"; mv "$PGPU_SUBMIT_DIR/mailed.new" "$PGPU_SUBMIT_DIR/mailed"\n' >bin/sendmail
chmod 755 bin/*
printf 'name: dusk\ncommand: "echo so far; exit 3"\non-end: [%s/on-end/desktop.sh]\n' "$PWD" >desktop.yaml
printf 'name: "d\303\244mmer"\ncommand: "echo so far; exit 3"\non-end: [%s/on-end/mail.sh, ada]\n' "$PWD" >mail.yaml
id=$(PATH="$PWD/bin:$PATH" pgpu submit desktop.yaml)
until_true test -s noted
equals "on-end/desktop.sh tells of a job that failed" "dusk ($id): failed, exit code 3" "$(sed -n 3p noted)"
id=$(PATH="$PWD/bin:$PATH" pgpu submit mail.yaml)
until_true test -s mailed
equals "on-end/mail.sh as well" "-i -- ada
To: ada
Subject: [pgpu] d??mmer ($id): failed, exit code 3
so far" "$(sed -n '1,3p; $p' mailed)"

if command -v povray >/dev/null; then
	cd part || exit 1
	exits 0 "frames.sh is taken" pgpu submit frames.sh -- 2 4
	id=$(cat "$out")
	ended "$id" 0 "frames.sh runs"
	equals "and renders the frames it was given" 'strip02.png strip03.png strip04.png' "$(cd frames && echo *)"
	equals "and says so as it goes" $'frame 2\nframe 3\nframe 4' "$(pgpu output "$id")"
	cd .. && mkdir elsewhere && cd elsewhere || exit 1
	exits 0 "array.yaml is taken in a folder without the scene" pgpu submit -a 3 ../strip/array.yaml
	id=$(cat "$out")
	ended "$id" 1 "and fails"
	pgpu output "${id}_3" >"$out" 2>"$err"
	if grep -q '^frame 3 failed: .' "$out"; then ok "its output says why"; else not_ok "its output says why" "$(cat "$out")"; fi
	cd ../strip || exit 1
	exits 0 "strip.yaml is taken" pgpu submit strip.yaml
	ended "$(cat "$out")" 0 "strip.yaml runs"
	equals "and renders the whole strip" 24 "$(find frames -name 'strip*.png' -size +1k | wc -l)"
else
	skip "the strip is rendered" "no povray here"
fi
finish
