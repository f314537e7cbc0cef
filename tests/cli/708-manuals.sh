#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Each example in the manuals does what stands there. They are taken from the pages by manual.py, so that what is run here
# is what is read there; one without a check fails, and so does a check without one.
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"
export TZ=UTC
machine=$(basename "$(echo "$XDG_STATE_HOME"/pgpu/*)")
examples() { python3 "$REPO/tests/cli/manual.py" "$@"; }
examples "$REPO"/man/*.[1-9] >all 2>"$err" || not_ok "the pages are understood" "$(cat "$err")"
: >run

# example PAGE FIRST_LINE: its $text; it is noted as one that is run.
example()
{
	local number
	# By the environment, since -v reads backslashes.
	number=$(page=$1 first=$2 awk -F'\t' '$1 == ENVIRON["page"] { n++; if ($3 == ENVIRON["first"]) print n }' all)
	[ -n "$number" ] || { not_ok "$1 has the example: $2"; text=; return 1; }
	text=$(examples --text "$REPO/man/$1" "$number")
	printf '%s\t%s\n' "$1" "$2" >>run
}

# session NAME: types the commands of $text, those with a "$ "; each succeeds and prints what stands below it, if anything does.
session()
{
	local command wanted
	while IFS= read -r command; do
		wanted=$(awk -v command="\$ $command" '$0 == command { found = 1; next } found && /^\$ / { exit } found' <<<"$text")
		exits 0 "$1: $command" eval "$command"
		[ -z "$wanted" ] || equals "$1: it prints" "$wanted" "$(cat "$out")"
	done < <(sed -n 's/^\$ //p' <<<"$text")
}

# queue_from ID: a new queue, whose first job has this id.
queue_from()
{
	export XDG_STATE_HOME=$SANDBOX/queues/$1
	(umask 077 && mkdir -p "$XDG_STATE_HOME/pgpu/$machine" && echo $(($1 - 1)) >"$XDG_STATE_HOME/pgpu/$machine/counter")
}

# field ID KEY: of `show --json`.
field() { pgpu show --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$2"; }
# program NAME: a stand-in that notes its words, and lasts as long as $LASTS says; a real one of that name is not asked.
mkdir bin
PATH=$PWD/bin:$PATH
program()
{
	printf '#!/bin/sh\nprintf "%%s\\n" "${0##*/} $*" >>"%s"\nexec sleep "${LASTS:-0}"\n' "$SANDBOX/noted" >"bin/$1"
	chmod 755 "bin/$1"
}
program blender

# --- the usages ---------------------------------------------------------------------------------------------------------
while IFS=$'\t' read -r page _ first; do
	[[ $first = 'usage: pgpu '* ]] || continue
	read -r _ _ command _ <<<"$first"
	example "$page" "$first"
	equals "$page: the usage of $command" "$(pgpu "$command" --help)" "$text"
	sed -n 's/^usage: \(pgpu \)/\1/p; s/^       \(pgpu \)/\1/p' <<<"$text" >>usages
done <all
example pgpu.1 'pgpu run [options] -- CMD [ARG...]'
equals "pgpu.1: the SYNOPSIS is all of them" "$(cat usages)" "$text"

# --- pgpu-job(5) --------------------------------------------------------------------------------------------------------
conf 'ram = "64G"'
# has NAME: what the job $id has of the spelling's header, and that it ran as it says.
has()
{
	pgpu wait "$id"
	equals "pgpu-job.5: $1" "completed render 28800 ${2:-34359738368}" \
		"$(field "$id" state) $(field "$id" class) $(field "$id" budget_s | cut -d. -f1) $(field "$id" memory_bytes)"
	equals "pgpu-job.5: $1: its command" 'blender -b scene.blend -a' "$(tail -n 1 "$SANDBOX/noted")"
}
example pgpu-job.5 '---'
cat >front.yaml <<<"$text"
exits 0 "pgpu-job.5: front matter is taken" pgpu submit front.yaml
id=$(cat "$out")
has "front matter"
example pgpu-job.5 '#!/bin/bash'
sed '$i echo "$OCIO"' >script.sh <<<"$text"
exits 0 "pgpu-job.5: a script is taken" pgpu submit --memory 24G script.sh
id=$(cat "$out")
has "a script" 25769803776
equals "pgpu-job.5: a script: its environment" /opt/aces/config.ocio "$(pgpu output "$id")"
example pgpu-job.5 'class: render'
cat >scene.yaml <<<"$text"
exits 0 "pgpu-job.5: plain YAML is taken" pgpu submit scene.yaml
id=$(cat "$out")
has "plain YAML"

# POV-Ray is there, or stands for itself.
povray=$(command -v povray) || { program povray; povray=; }
printf 'camera { location -3*z look_at 0 } light_source { -9, 1 } sphere { clock*x/120, 1 pigment { rgb 1 } }\n' >dusk.pov
printf 'Width=16\nHeight=9\nDisplay=off\nVerbose=off\nAll_Console=off\n' >povray.ini
export POVINI=$PWD/povray.ini
example pgpu-job.5 '#!/bin/sh'
cat >dusk.sh <<<"$text"
example pgpu-job.5 '$ pgpu submit dusk.sh -- 1 120'
text=${text/ 120/ 12} # a start of POV-Ray's takes half a second
session pgpu-job.5
id=$(cat "$out")
exits 0 "pgpu-job.5: dusk.sh runs" pgpu wait "$id"
check "pgpu-job.5: its output is where it says" test -e "logs/dusk-$id.log"
equals "pgpu-job.5: its limit is two hours" 7200 "$(field "$id" limit_s | cut -d. -f1)"
if [ -n "$povray" ]; then
	equals "pgpu-job.5: twelve frames" 12 "$(find . -name 'dusk-*.png' | wc -l)"
	check "pgpu-job.5: the sphere moves on from frame to frame" sh -c '! tail -c +200 dusk-1.png | cmp -s - dusk-10.png'
else
	equals "pgpu-job.5: twelve frames" 12 "$(grep -c '^povray' "$SANDBOX/noted")"
fi

example pgpu-job.5 'env: { RAW: !!binary "/+o=" }'
printf '%s\ncommand: printf %%s "$RAW" | od -An -tx1\n' "$text" >raw.yaml
exits 0 "pgpu-job.5: text that is not UTF-8" pgpu submit raw.yaml
id=$(cat "$out")
pgpu wait "$id"
equals "pgpu-job.5: the job has its bytes" ' ff ea' "$(pgpu output "$id")"

# says LINE CHECK: the lines of errors, each with a file that gives it: what it names is the file, `CHECK FILE` the command.
declare -A files=(
	["unknown key 'clas'"]=$'name: x\nclas: render\n'
	["budget: '30'"]=$'budget: 30\n'
	["class: unknown class 'rendr'"]=$'#!/bin/sh\n#SBATCH -J x\n#SBATCH -t 5 -p rendr\n'
	["memory: 900G is above ram"]=$'memory: 900G\ncommand: "true"\n'
	["unknown key 'lane'"]=$'#\n#\nlane = 3\n'
	["lanes: 'x'"]=$'lanes = x\n'
	["lanes: 3 is not the number"]=$'lanes = 3\nlane "a" { card = "0000:03:00.0" }\nlane "b" { card = "0000:83:00.0" }\n'
	["card: 'card0'"]=$'#\n#\nlane "a" {\n\tcard = "card0"\n}\n'
	["class 'night' is new"]=$'#\nclass "night" { rank = 4 }\n'
	["capabilities: unknown capability"]=$'#\n#\n#\nclass "render" {\n\tcapabilities = { "sys_nic" }\n}\n'
)
says()
{
	local line key found file
	while IFS= read -r line; do
		found=
		for key in "${!files[@]}"; do [[ $line != *"$key"* ]] || found=$key; done
		[ -n "$found" ] || { not_ok "a file that gives: $line"; continue; }
		file=${line#pgpu: } file=${file%%:*}
		printf '%s' "${files[$found]}" >"$file"
		"${@:2}" "$file" >"$out" 2>"$err" && not_ok "refused: $line"
		# The machine's RAM is its own.
		equals "$1: $line" "${line//21G/SIZE}" "$(sed -E 's/ram, [0-9.]+[MGT] \(/ram, SIZE (/' "$err")"
	done <<<"$text"
}
conf 'lanes = 2'
example pgpu-job.5 "pgpu: scene.yaml:2:1: unknown key 'clas', did you mean 'class'?"
mkdir refused && cd refused || exit 1
[ "$(awk '/^MemTotal/ { print int($2 * 0.9 / 1048576) }' /proc/meminfo)" -lt 900 ] ||
	text=$(grep -vF 900G <<<"$text") # a machine that has it refuses nothing
says pgpu-job.5 pgpu submit
cd ..

# --- pgpu.conf(5) -------------------------------------------------------------------------------------------------------
# Two cards, in a tree in place of /sys.
tree=$SANDBOX/tree
mkdir -p "$tree/proc"
for card in 0:0000:03:00.0 1:0000:83:00.0; do
	mkdir -p "$tree/sys/class/drm/card${card%%:*}/device"
	printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=%s\n' "${card#*:}" >"$tree/sys/class/drm/card${card%%:*}/device/uevent"
done
cards=(env PGPU_PROCFS="$tree/proc" PGPU_SYSFS="$tree/sys")
example pgpu.conf.5 "pgpu: pgpu.conf:3: unknown key 'lane', did you mean 'lanes'?"
says pgpu.conf.5 "${cards[@]}" pgpu conf --check

example pgpu.conf.5 '$ pgpu conf                 # what is in force, and where each value is from'
echo 'lanes = 7' >FILE
session pgpu.conf.5
exits 0 "pgpu.conf.5: pgpu conf prints what is in force" pgpu conf
matches "pgpu.conf.5: and where each value is from" 'lanes += 2 +# [^ ]*pgpu.conf:1' "$(tr '\t' ' ' <"$out")"
example pgpu.conf.5 'KEY = VALUE'
awk '/^KEY/ { $0 = "memory = \"16G\"" } /^class/ { sub(/NAME/, "late") } /^class/, /}/ { sub(/KEY = VALUE/, "rank = 4\n\tbudget = \"1h\"") }
	/^lane/, /}/ { sub(/KEY = VALUE/, "card = \"0000:03:00.0\"") } { print }' <<<"$text" >syntax.conf
exits 0 "pgpu.conf.5: the SYNTAX, with keys and values" "${cards[@]}" pgpu conf --check syntax.conf
lacks "pgpu.conf.5: all of it" 'KEY|VALUE' "$(cat syntax.conf)"

# in_force: $text is the configuration; jobs stand at gates by their names.
in_force() { conf "$text" && exits 0 "pgpu.conf.5: $1: it is right" pgpu conf --check "$XDG_CONFIG_HOME/pgpu/pgpu.conf"; }
at_gate() { pgpu submit -q -J "$1" -p "${2:-render}" -- sh -c "$(gate "$1")" && reached "$1"; }
waits() { until_true queue_shows " PD .* $1 " && ok "$2"; }
example pgpu.conf.5 'lanes = 3'
in_force "three lanes"
for name in one two three; do at_gate "$name"; done >ids
pgpu submit -q -p night -- sh -c 'echo night >>order' >>ids
pgpu submit -q -p render -J render -- sh -c 'echo render >>order' >>ids
waits render "pgpu.conf.5: three run at once, and the fourth waits"
equals "pgpu.conf.5: three run" 3 "$(pgpu queue | grep -c ' R ')"
# One lane alone is free for the two.
open_gate one
# shellcheck disable=SC2046 # a list of words
pgpu wait $(tail -n 2 ids)
for name in two three; do open_gate "$name"; done
# shellcheck disable=SC2046 # a list of words
pgpu wait $(cat ids)
equals "pgpu.conf.5: and the night goes last" 'render night' "$(paste -sd ' ' order)"

example pgpu.conf.5 'lanes = 1'
in_force "one lane"
id=$(pgpu submit -q -p clip -J clip -- sh -c "$(gate clip)")
reached clip
other=$(pgpu submit -q -J other -- true)
waits other "pgpu.conf.5: one job at a time"
equals "pgpu.conf.5: a clip may take an hour" 3600 "$(field "$id" budget_s | cut -d. -f1)"
open_gate clip
pgpu wait "$id" "$other"

example pgpu.conf.5 'class "night" { rank = 4  budget = "12h"  turns = "forced"  min-hold = "1m" }'
matches "pgpu.conf.5: a minute at least" 'min-hold = "1m"' "$text"
text=${text/1m/1s} # no minute is spent here
in_force "a preview does not wait"
id=$(pgpu submit -q -p night -a 1-2 -J renders -- sleep 1000)
until_true sh -c '[ "$(pgpu queue | grep -c " R .* renders ")" = 2 ]'
exits 0 "pgpu.conf.5: with both lanes taken for hours, a preview runs" pgpu run -q -J preview -- true
until_true sh -c 'pgpu log --outcome turn | grep -q renders' && ok "pgpu.conf.5: one of the renders was frozen for it"
pgpu cancel "$id" >"$out"

example pgpu.conf.5 'class "render" { capabilities = {}  no-new-privileges = true }'
in_force "no root"
exits 0 "pgpu.conf.5: a render has no capability, and can gain none" pgpu run -q -p render -- grep -E '^(CapPrm|CapEff|NoNewPrivs)' /proc/self/status
equals "pgpu.conf.5: none" $'CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1' "$(cat "$out")"

example pgpu.conf.5 'lane "left"  { card = "0000:03:00.0" }'
export PGPU_PROCFS=$tree/proc PGPU_SYSFS=$tree/sys
in_force "lanes of two cards"
for name in a b c; do at_gate "$name" >>lanes; done
equals "pgpu.conf.5: two jobs on one card, one on the other" '0000:03:00.0 0000:03:00.0 0000:83:00.0' \
	"$(pgpu status --json | python3 -c 'import json, sys; print(*[lane["card"] for lane in json.load(sys.stdin)["lanes"] if lane["job"]])')"
for name in a b c; do open_gate "$name"; done
# shellcheck disable=SC2046 # a list of words
pgpu wait $(cat lanes)
unset PGPU_PROCFS PGPU_SYSFS
conf 'lanes = 2'

# --- pgpu(1) ------------------------------------------------------------------------------------------------------------
# Jobs 10 and 11 have the lanes, like ones of which took twelve minutes; 9 was held meanwhile, and is ahead of 12.
queue_from 6
for name in render bench ahead; do pgpu run -q -J "$name" -- true; done
log=$(echo "$XDG_STATE_HOME"/pgpu/*/log.tsv)
awk -F'\t' -v OFS='\t' 'NR > 1 { $9 = 720 } { print }' "$log" >log.new && cp log.new "$log"
ahead=$(pgpu submit -q -H -J ahead -p interactive -- true)
for name in render bench; do pgpu run -q -J "$name" -- sh -c "$(gate "$name")" & reached "$name"; done
pgpu release "$ahead"
pgpu run -- true 2>waits &
until_true test -s waits
example pgpu.1 'pgpu: waiting for a lane as job 12: 2 of 2 busy (10 render, 11 bench), 1 ahead, about 12m left'
time_aside() { sed -E 's/about [0-9hms]+ left/about TIME left/'; }
equals "pgpu.1: what a run says when it has to wait" "$(time_aside <<<"$text")" "$(time_aside <waits)"
open_gate render
open_gate bench
wait
# What it may say: each line was printed now, or is in the source, but for what stands for something.
cp waits said
pgpu run --budget 1s --limit 2s -- sleep 1000 2>>said
pgpu run -- sh -c 'sleep 1000 & sleep 1000 &' 2>>said
pgpu run -J all -- sh -c "$(gate one)" & reached one
pgpu run -J all -- sh -c "$(gate two)" & reached two
pgpu run --max-wait 1s -- true 2>>said
pgpu run -J late -- true 2>>said & until_true queue_shows ' PD .* late '
pgpu cancel --name late >"$out"
open_gate one
open_gate two
wait
example pgpu.1 'waiting for a lane as job N: B of LANES busy[ (ID NAME, ...[ and K more])], A ahead[, about TIME left]'
python3 - "$REPO" >unknown <<-END
	import glob, re, sys
	said = open("said").read()
	source = "".join(open(name).read() for name in glob.glob(sys.argv[1] + "/runner/**/*.c", recursive=True))
	for line in re.sub(r"\n +", " ", """$text""").split("\n"):
	    stands = r"\b[A-Z]+\b"
	    pattern = re.sub(stands, ".+", re.escape(line).replace(r"\[", "(").replace(r"\]", ")?").replace(r"\.\.\.", ".+"))
	    if re.search(f"^pgpu: {pattern}$", said, re.M):
	        print("printed")
	        continue
	    for part in re.split(stands + r"%?|[][]|\.\.\.", line):
	        part = part.strip(" (),:;")
	        if len(part) > 3 and part not in source:
	            print(f"{part!r} of {line!r}")
END
check "pgpu.1: lines that run prints are printed" test "$(grep -c '^printed$' unknown)" -ge 6
equals "pgpu.1: the others are the program's" '' "$(grep -v '^printed$' unknown)"

example pgpu.1 'echo "$frame/250 of dusk" >"$PGPU_PROGRESS"'
id=$(frame=25 pgpu submit -q -J dusk -- sh -c "$text; $(gate progress)")
reached progress
matches "pgpu.1: how far it is" '25/250 10%.*of dusk' "$(pgpu queue "$id")"
open_gate progress
pgpu wait "$id"

example pgpu.1 'loginctl enable-linger'
program loginctl
program systemctl
exits 0 "pgpu.1: the unit is enabled" sh -euc "$text"
equals "pgpu.1: with these words" $'loginctl enable-linger\nsystemctl --user enable --now pgpu-rescue.timer' "$(tail -n 2 "$SANDBOX/noted")"
check "pgpu.1: and there is such a unit" test -e "$REPO/conf/pgpu-rescue.timer"

example pgpu.1 '$ pgpu run -- glxinfo -B'
program glxinfo
conf 'lanes = 1'
pgpu run -q -- sh -c "$(gate viewer)" &
reached viewer
id=$(pgpu submit -q -- sh -c "tail -n 1 $SANDBOX/noted >before")
session pgpu.1 &
until_true queue_shows ' PD interactive .* glxinfo '
open_gate viewer
wait
pgpu wait "$id"
equals "pgpu.1: it went first" 'glxinfo -B' "$(cat before)"

example pgpu.1 '$ pgpu run --max-wait 1m -p test -- ./check-shader || echo "code $?"'
printf '#!/bin/sh\nexit 4\n' >check-shader && chmod 755 check-shader
session pgpu.1
equals "pgpu.1: a free lane: the command's code" 'code 4' "$(cat "$out")"
matches "pgpu.1: for a minute at most" 'max-wait 1m' "$text"
text=${text/1m/1s}
pgpu run -q -- sh -c "$(gate busy)" &
reached busy
session pgpu.1
equals "pgpu.1: no lane in time" 'code 75' "$(cat "$out")"
open_gate busy
wait

# One after the other, as they stand there: 101, 102, 103.
queue_from 101
conf 'ram = "64G"'
example pgpu.1 '$ pgpu submit scene.yaml'
LASTS=1000 session pgpu.1
pgpu wait 101
equals "pgpu.1: 101 is taken out again" cancelled "$(field 101 state)"
example pgpu.1 '$ pgpu submit -J dusk -t 2h -o dusk-%j.log -- povray +Idusk.pov +Odusk.png'
session pgpu.1
equals "pgpu.1: its name and limit" "dusk 7200" "$(field 102 name) $(field 102 limit_s | cut -d. -f1)"
example pgpu.1 '$ pgpu output -f 102; pgpu wait 102; echo $?'
session pgpu.1
equals "pgpu.1: its code" 0 "$(tail -n 1 "$out")"
[ -z "$povray" ] || check "pgpu.1: the picture is there" test -s dusk.png
check "pgpu.1: and its output file" test -e dusk-102.log
example pgpu.1 '$ pgpu submit -W render.sh -- 1 250 && echo rendered'
printf '#!/bin/sh\necho "frames $1 to $2"\n' >render.sh
session pgpu.1
equals "pgpu.1: id and word" $'103\nrendered' "$(cat "$out")"
equals "pgpu.1: the script has its arguments" 'frames 1 to 250' "$(pgpu output 103)"
example pgpu.1 '$ pgpu submit --dry-run scene.yaml'
session pgpu.1
matches "pgpu.1: what would be spooled" $'\nlimit: 16h\nmemory: 32G\n' "$(cat "$out")"
equals "pgpu.1: nothing is" '' "$(pgpu queue)"
held=$(pgpu submit -q -H -- true)
gone=$(pgpu submit -q -H --class test -- true)
example pgpu.1 "pgpu queue --format id,state,starts_in_s | awk -F '\\t' '\$2 == \"pending\" { print \$1, \$3 }'"
exits 0 "pgpu.1: the queue's members, for awk" eval "$text"
equals "pgpu.1: a job that is held has no time to start at" "$held"$'\n'"$gone" "$(sed 's/ *$//' "$out" | sort -n)"
exits 0 "pgpu.1: that was all" pgpu cancel "$held" "$gone"
example pgpu.1 '$ pgpu log --since 8h --json'
until_true sh -c 'pgpu log | grep -q " 103 "' # the row may come a moment after the end
session pgpu.1
equals "pgpu.1: what held a lane" "101 102 103" "$(python3 -c 'import json, sys; print(*[row["job"] for row in json.load(sys.stdin)])' <"$out")"

# --- pgpu-spool(5) ------------------------------------------------------------------------------------------------------
example pgpu-spool.5 '# pgpu version 1'
id=$(pgpu submit -q -H -- true)
# One line for a kind of value: what it is differs.
kinds() { sed -E 's/ [0-9]{4}-[0-9-]+T[0-9:]+[+-][0-9:]+ \+[0-9]+ns$/ WHEN/; s/ [0-9a-f]{16}$/ HASH/; s, /.*, FOLDER,; s/(limits)( (-|[0-9]+)){16}$/\1 LIMITS/; s/id [0-9]+/id ID/'; }
equals "pgpu-spool.5: the head of a record" "$(kinds <<<"$text")" "$(grep '^# pgpu ' "$XDG_STATE_HOME"/pgpu/*/pending/"$id":* | kinds)"
equals "pgpu-spool.5: right behind the first line" "---" "$(head -n 1 "$XDG_STATE_HOME"/pgpu/*/pending/"$id":*)"
pgpu cancel "$id" >"$out"
example pgpu-spool.5 'ended job kind session class name command waited_s ran_s frozen_s'
equals "pgpu-spool.5: the columns of the log" "$(paste -sd ' ' <<<"$text")" "$(head -n 1 "$XDG_STATE_HOME"/pgpu/*/log.tsv | tr '\t' ' ')"
# A foreign process on a card takes a card; 804 has rows of it.
example pgpu-spool.5 'seen pid start comm kfd vram_bytes job'
check "pgpu-spool.5: the columns of foreign.tsv" grep -aqF "${text// /$'\t'}" "$(command -v pgpu)"

# --- all of them --------------------------------------------------------------------------------------------------------
equals "each example of the manuals is run here" "$(cut -f 1,3 all | sort)" "$(sort run)"
export XDG_STATE_HOME=$SANDBOX # for the cells of all queues
finish
