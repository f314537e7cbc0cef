#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The recipes of examples/ that 701 to 705 do not run, each with a stand-in for its heavy program.
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"
cp -r "$REPO/examples/." .
here=$PWD
mkdir bin

# field ID KEY: of `show --json`.
field() { pgpu show --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$2"; }
# outcomes NAME REGEX: its holds have ended so, in their order; the last row may come a moment after the end.
outcomes() { pgpu log --json | python3 -c 'import json, re, sys; sys.exit(not re.search(sys.argv[2], " ".join([row["outcome"] for row in json.load(sys.stdin) if row["name"] == sys.argv[1]])))' "$@"; }

# --- the list of recipes ----------------------------------------------------------------------------------------------
recipes() { (cd "$REPO/examples" && find . -type f ! -path ./README.md ! -name '*.svg' ! -path '*/__pycache__/*' ! -path './strip/strip.[ip]*' -printf '%P\n' | sort); }
equals "README.md has each file, and no others" "$(recipes)" "$(grep -o '](\([^)]*\))' README.md | sed 's/](//; s/)$//; s,^slurm$,slurm/README.md,' | sort -u)"

# links FILE: where its links lead that lead nowhere.
links()
{
	local target
	grep -oE '\]\([^)#]+' "$1" | sed 's/..//' | while read -r target; do
		[[ $target = http* ]] || [ -e "${1%/*}/$target" ] || echo "$target"
	done
}
for page in README.md examples/README.md examples/slurm/README.md examples/from-tsp-and-nq.md examples/after-a-boot.md; do
	equals "each link of $page leads to a file" '' "$(links "$REPO/$page")"
done

# --- a class with hours ----------------------------------------------------------------------------------------------------
cp hours.conf "$XDG_CONFIG_HOME/pgpu/pgpu.conf"
exits 0 "hours.conf is right" pgpu conf --check hours.conf
# at HOUR: a zone in which the clock shows that hour now.
at() { echo "test$((10#$(TZ=UTC date +%H) - $1))"; }
export TZ
TZ=$(at 12)
night=$(pgpu submit -q -p night -- true)
matches "at noon a job of the night waits" "^ *$night PD night .*22:00" "$(pgpu queue "$night" | tail -n 1)"
TZ=$(at 2)
pgpu rescue
exits 0 "at two it runs" pgpu wait "$night"
unset TZ

# --- turns: Blender, a training loop ------------------------------------------------------------------------------------
# Blender as far as an animation goes: its arguments in their order, the module bpy with its handlers, a file for each
# frame, and the handlers behind it with the scene. It waits at a gate in its second frame.
cat >bin/blender <<'END'
#!/usr/bin/env python3
import os, runpy, sys, types
scene = types.SimpleNamespace(frame_start=1, frame_end=4, frame_current=0)
handlers = types.SimpleNamespace(render_post=[], persistent=lambda call: call)
sys.modules["bpy"] = types.SimpleNamespace(app=types.SimpleNamespace(handlers=handlers))
words = sys.argv[1:]
assert words[:2] == ["--background", "scene.blend"], words
while words:
    word = words.pop(0)
    if word == "--python":
        runpy.run_path(words.pop(0))
    if word == "--render-anim":
        for scene.frame_current in range(scene.frame_start, scene.frame_end + 1):
            if scene.frame_current == 2:
                open(os.environ["HERE"], "w").write("here\n")
                open(os.environ["OPEN"]).read()
            open("%04d.png" % scene.frame_current, "w").close()
            for call in handlers.render_post:
                call(scene, None)
END
chmod 755 bin/blender
conf 'lanes = 1'
cd turns || exit 1
gate_pipes frame
strip=$(HERE=$SANDBOX/frame.here OPEN=$SANDBOX/frame.open PATH="$here/bin:$PATH" pgpu submit -q -m 512M blender-strip.yaml)
reached frame
until_true queue_shows '1/4 25%.*frames' "$strip" && ok "Blender says how far it is"
pgpu run -q -J guest -- sh -c 'ls *.png >seen' &
until_true queue_shows ' PD .* guest '
open_gate frame
wait $!
equals "who waits goes between two frames" $'0001.png\n0002.png' "$(cat seen)"
exits 0 "the strip goes on" pgpu wait "$strip"
equals "to its end" 4 "$(find . -name '*.png' | wc -l)"
until_true outcomes strip '^turn completed$' && ok "it gave its lane up once"
cd "$here/train" || exit 1

training=$(STEPS=1000000 STEP_S=0.002 pgpu submit -q train.yaml)
until_true test -s checkpoint.json
exits 0 "who comes while it trains" pgpu run -q -J guest -- cat checkpoint.json
matches "is let in between two steps" '"step": [0-9]*0,' "$(cat "$out")"
until_true queue_shows '[0-9]+/1000000 0%.*steps' "$training" && ok "a training says how far it is"
exits 0 "cancelled" pgpu cancel "$training"
matches "it saves first" '^from step 0 to step [1-9][0-9]*, weight' "$(paste -sd ' ' "train-$training.log")"
until_true outcomes train '^(turn )+cancelled$' && ok "it gave its lane up"

rm checkpoint.json
sed "s/^budget: 1h$/budget: $((3 * slow))s/; s/@5m$/@$((1 * slow))s/" checkpoint.yaml >short.yaml
equals "a training by the hour, with seconds for hours" 2 "$(diff checkpoint.yaml short.yaml | grep -c '^>')"
training=$(STEPS=$((300 * slow)) STEP_S=0.01 pgpu submit -q short.yaml)
exits 0 "comes to its end" pgpu wait "$training"
until_true test "$(field "$training" state)" = completed
check "having been back in line" test "$(field "$training" restarts)" -ge 1
log=$(pgpu output "$training")
matches "with a checkpoint each time" $'^from step 0\nto step ([0-9]+), .*\nback in line\nfrom step ([0-9]+)\n' "$log"
[[ $log =~ to\ step\ ([0-9]+).*from\ step\ ([1-9][0-9]*) ]]
equals "no step is done twice" "$(sed -n 's/^to step \([0-9]*\),.*/\1/p' <<<"$log" | head -n 1)" "$(sed -n 's/^from step //p' <<<"$log" | sed -n 2p)"
matches "or left out" "to step $((300 * slow)), weight" "$log"

# --- CI -----------------------------------------------------------------------------------------------------------------
cd "$here" || exit 1
exits 3 "the suite's code is the CI's" env CI_JOB_NAME=shaders ./ci.sh sh -c 'echo "$@"; exit 3' sh 'two words'
equals "its words are its own" 'two words' "$(cat "$out")"
equals "the job is the session's, class and name as in the CI" "ci test shaders" \
	"$(pgpu log --json | python3 -c 'import json, sys; row = json.load(sys.stdin)[-1]; print(row["session"], row["class"], row["name"])')"
pgpu run -q -- sh -c "$(gate busy)" &
reached busy
exits 75 "no lane in time" env CI_GPU_WAIT=0s ./ci.sh true
open_gate busy
wait $!

# --- a model server -------------------------------------------------------------------------------------------------------
cat >bin/llama-server <<'END'
#!/bin/sh
[ "$1" = --model ] && [ "$5" = --host ] && [ "$7" = --port ] || exit 2
exec python3 -u "$PORTS" "$6"
END
cat >"$SANDBOX/server.py" <<'END'
import http.server, os, sys
server = http.server.HTTPServer((sys.argv[1], 0), http.server.SimpleHTTPRequestHandler)
with open("port.new", "w") as file:
    file.write(str(server.server_port))
with open("pid", "w") as file:
    file.write(str(os.getpid()))
os.rename("port.new", "port")
server.serve_forever()
END
chmod 755 bin/llama-server
# answers: the server is there.
answers() { python3 -c 'import sys, urllib.request as u; u.urlopen("http://127.0.0.1:%s/ci.sh" % open("port").read(), timeout=9)'; }
conf 'lanes = 2
standing-after = "0s"
grace = "2s"'
llama=$(PORTS=$SANDBOX/server.py PATH="$here/bin:$PATH" pgpu submit -q llama-server.yaml)
until_true answers && ok "the server is up"
rm port
exits 0 "a job sends it away" pgpu run -q -- sh -c 'test -s pid && ! kill -0 "$(cat pid)"'
until_true outcomes llama '^turn$' && ok "it had made room"
until_true answers && ok "it is back when the job has ended"
exits 0 "and goes when it is cancelled" pgpu cancel "$llama"

# --- a file of Slurm's ------------------------------------------------------------------------------------------------------
cd slurm || exit 1
conf 'lanes = 2'
exits 2 "train.sbatch without its partition" pgpu submit train.sbatch
matches "is refused" "partition|class 'gpu'" "$(cat "$err")"
exits 0 "partitions.conf is right" pgpu conf --check partitions.conf
cp partitions.conf "$XDG_CONFIG_HOME/pgpu/pgpu.conf"
# What the page says, in a shell of its own.
sed -n 's/^    //p' README.md | grep -A9 '^srun' >typed.sh
exits 0 "submitted as the page has it" env STEPS=20 bash -eu typed.sh
id=$(cat "$out")
matches "what was read is said" 'read from #SBATCH: name train, class gpu, limit 8h, memory 8(G|192M), output' "$(cat "$err")"
matches "and what was not" '--mail-type=END is not read' "$(cat "$err")"
exits 0 "it runs" pgpu wait "$id"
matches "with Slurm's variables, and srun" "^job $id of gpu on [^ ]+, 1 task"$'\nfrom step 0\nto step 20,' "$(cat "train-$id.log")"
exits 0 "-p on the command line will do" pgpu submit -q --dry-run -p render train.sbatch
finish
