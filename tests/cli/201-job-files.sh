#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Job files that are right: what is submitted is what runs, byte for byte and with the surroundings of its submit (I6).
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

# made HEADER_LINES… -- BODY: a job file in the --- spelling; its name is job.yaml.
made() { { echo ---; printf '%s\n' "$1"; echo ---; printf '%s' "$2"; } >job.yaml; }
# ran NAME WANTED FILE…: submits FILE…, waits, and compares the job's output.
ran()
{
	local id
	id=$(pgpu submit "${@:3}" 2>"$err") || { not_ok "$1" "submit: $(cat "$err")"; return; }
	pgpu wait "$id" 2>"$err"
	equals "$1" "$2" "$(pgpu output "$id" 2>&1)"
}

# Three spellings, one meaning.
made 'name: spelled' $'#!/bin/sh\necho "$PGPU_JOB_NAME"\n'
ran "front matter" spelled job.yaml
printf '#!/bin/sh\n#PGPU name: spelled\necho "$PGPU_JOB_NAME"\n' >job.sh
ran "comments" spelled job.sh
printf 'name: spelled\ncommand: [sh, -c, echo "$PGPU_JOB_NAME"]\n' >job.yaml
ran "plain YAML with a list" spelled job.yaml
printf 'name: spelled\ncommand: echo "$PGPU_JOB_NAME"\n' >job.yaml
ran "plain YAML with a shell line" spelled job.yaml
printf 'name: spelled\nscript: |\n  echo "$PGPU_JOB_NAME"\n  echo second\n' >job.yaml
ran "plain YAML with a script" $'spelled\nsecond' job.yaml
ran "standard input" 'stdin' - < <(printf '#!/bin/sh\necho "$PGPU_JOB_NAME"\n')
ran "a command" "it's \$HOME" -- echo "it's \$HOME"
printf '#!/bin/sh\nprintf "<%%s>" "$@"\n' >args.sh
ran "a script with arguments" "<a b><><*><--class>" args.sh -- 'a b' '' '*' --class
equals "the name is the file's without its ending" args "$(pgpu submit args.sh >id; pgpu show "$(cat id)" --json | python3 -c '
import json, sys; print(json.load(sys.stdin)["name"])')"
pgpu submit job.yaml args.sh job.sh >ids
equals "three files are three jobs, an id a line" '3 3' "$(wc -l <ids) $(sort -un ids | wc -l)"
xargs pgpu wait <ids

# C049, C021, C065, C103: text stays text, scripts stay scripts.
made 'name: t' $'#!/bin/sh\ncat <<E\n---\nx: 1\n--- \nE\n#PGPU class: nothing\n#SBATCH --nothing'
ran "C049 the body keeps its --- lines" $'---\nx: 1\n--- ' job.yaml
made 'name: no
env: {COUNTRY: NO, DEBUG: on, Y: y, VER: 1.10, X: 1e10, H: 0x1F, D: 2026-01-02, V: .inf}' \
	$'#!/bin/sh\necho $PGPU_JOB_NAME $COUNTRY $DEBUG $Y $VER $X $H $D $V\n'
ran "C021 C065 words and numbers stay text" 'no NO on y 1.10 1e10 0x1F 2026-01-02 .inf' job.yaml
made 'name: t' $'#!/bin/bash\na=(x y); echo "${a[1]} ${BASH_VERSION:+bash}"\n'
ran "C103 only the #! line counts" 'y bash' job.yaml
mkdir "my run's" && cd "my run's" || exit 1
made "output: 'a b \$x.out'" $'#!/bin/sh\npwd\n'
ran "C085 names are taken literally" "$PWD" job.yaml
check "C085 also the output's" test -s 'a b $x.out'
cd ..
made 'name: t
output: same.out' $'#!/bin/sh\necho once\n'
ran "C027 a second job" once job.yaml
ran "C027 appends to the log of the first" $'once\nonce' job.yaml

# C007, C097: the environment is the submit's.
pgpu submit -- sh -c "$(gate a)" >id
reached a
printf '#!/bin/bash\necho "$FOO"; f; printf %%s "$N" | od -An -c | tr -d " \\n"\n' >job.sh
# shellcheck disable=SC2317 # the job calls it
one=$(f() { echo hi; }; export -f f; N=$'a\nb=c\n--- \xff' FOO=a pgpu submit job.sh)
# shellcheck disable=SC2317
two=$(f() { echo ho; }; export -f f; N='' FOO=b pgpu submit job.sh)
three=$(cd / && umask 027 && pgpu submit -o "$PWD/work/three.out" -D / -- sh -c 'pwd; umask') 2>"$err" || three=
mkdir later && echo '#!/bin/sh' >later/job.sh && echo 'echo first' >>later/job.sh
four=$(pgpu submit later/job.sh)
printf '#!/bin/sh\necho changed\n' >later/job.sh
five=$(cd later && pgpu submit -o "$SANDBOX/work/five.out" -- pwd)
rm -r later
open_gate a
for id in $one $two $four $five; do pgpu wait "$id" 2>>"$err"; done
equals "C007 C097 one job's environment" $'a\nhi\na\\nb=c\\n---377' "$(pgpu output "$one")"
equals "C007 C097 another's" $'b\nho' "$(pgpu output "$two")"
equals "a file changed after submit runs as submitted" first "$(pgpu output "$four")"
exits 127 "C019 a folder that is gone" pgpu wait "$five"
matches "C019 is named" 'later' "$(pgpu show "$five"; cat five.out 2>&1)"
[ -z "$three" ] || pgpu wait "$three"

# Signals and descriptors of a spooled job are defaults (C105, C023).
# Signals 32 and 33 are the C library's own: no program can set them.
ran "C105 signals are defaults" $'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000' -- \
	sh -c 'grep -E "SigBlk|SigIgn" /proc/self/status | sed s/00000001800/00000000000/'
ran "C023 stdin is empty, no descriptor but 0, 1 and 2 and ls's own" '0 1 2 3' -- sh -c 'cat; ls /proc/self/fd | paste -sd " "'
equals "C023 submit returns at once, also into a pipe" 1 "$(pgpu submit -- sh -c "$(gate b)" | wc -l)"
reached b
worker=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$(main_of sh)/status")
equals "C023 its worker has none of the caller's descriptors" '/dev/null /dev/null /dev/null' \
	"$(for fd in 0 1 2; do readlink "/proc/$worker/fd/$fd"; done | paste -sd ' ')"
equals "C023 and leads a session of its own" "$worker" "$(ps -o sid= -p "$worker" | tr -d ' ')"
open_gate b

# A job that submits its successor and ends does not take it along.
id=$(pgpu submit -- sh -c "pgpu submit -o '$PWD/next.out' -- sh -c 'echo next' >'$PWD/next'")
pgpu wait "$id"
equals "a job submits its successor" 0 "$?"
exits 0 "which runs when it is gone" pgpu wait "$(cat next)"
equals "as submitted" next "$(cat next.out)"
finish
