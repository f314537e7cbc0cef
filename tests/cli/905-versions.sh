#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What another version of pgpu wrote: newer is left alone and said, older is read; nothing goes to and fro.
. "$(dirname "$0")/lib.sh"

exits 0 "pgpu --version" pgpu --version
matches "is a name and a version" '^pgpu [0-9]+\.[0-9]+\.[0-9]+$' "$(cat "$out")"
equals "the one that the source has" "pgpu $(sed -n 's/^#define PGPU_VERSION "\(.*\)"/\1/p' "$REPO/runner/version.h")" "$(cat "$out")"
exits 0 "as a command too" pgpu version
matches "--help names it" 'pgpu --version' "$(pgpu --help)"

# --- records --------------------------------------------------------------------------------------------------------
conf 'lanes = 1'
pgpu run -q -- sh -c "$(gate a)" &
reached a
first=$(pgpu submit -q -o first -- echo first)
newer=$(pgpu submit -q -o newer -- echo newer)
named=$(pgpu submit -q -o named -- echo named)
behind=$(pgpu submit -q -o behind -- echo behind)
queue=$(echo "$XDG_STATE_HOME"/pgpu/*)
record() { echo "$queue"/pending/"$1":*; }
# set_version FROM TO FILE…: sed -i would make a file of its own in the spool, which is set aside.
set_version()
{
	local file
	for file in "${@:3}"; do
		sed "s/^# pgpu version $1\$/# pgpu version $2/" "$file" >changed && cat changed >"$file"
	done
}
set_version 1 2 "$(record "$newer")" "$(record "$named")"
# A newer version may know more marks in a name.
mv "$(record "$named")" "$(record "$named"):Z7"
cp "$(record "$named")" was
exits 0 "queue with a newer record" pgpu queue
matches "says so, once" "^pgpu: pending/[^ ]* is left alone: a newer pgpu wrote it$" "$(cat "$err")"
matches "and lists the others" " $first +PD .* $behind +PD " "$(paste -sd ' ' "$out")"
exits 1 "show of it" pgpu show "$newer"
matches "says what it is" 'its version 2 is newer than this pgpu|left alone: a newer pgpu wrote it' "$(cat "$err")"
exits 1 "update of it is refused" pgpu update "$newer" name=x
# Prune knows no environment of its own: none is removed.
touch -d '10 days ago' "$queue"/env/*
env=$(sed -n 's/^# pgpu env //p' "$(record "$named")")
rm -f "$queue/pruned"
open_gate a
exits 0 "those before it run" pgpu wait "$first"
exits 0 "those behind it, too" pgpu wait "$behind"
wait
exits 0 "after a rescue" pgpu rescue
equals "the newer ones are where they were" "$newer $named" "$(cd "$queue/pending" && printf '%s\n' *:* | cut -d: -f1 | sort -n | paste -sd ' ')"
same_bytes "as they were" was "$(record "$named")"
equals "none is set aside" '' "$(ls "$queue/bad" 2>/dev/null)"
equals "none has begun" 'no no' "$([ -e newer ] && echo yes || echo no) $([ -e named ] && echo yes || echo no)"
equals "nor counts as started" '0' "$(basename "$(record "$newer")" | cut -d: -f4)"
check "its environment is still there" test -s "$queue/env/$env"
# The newer one comes: here, the same program and records of its own version again.
pgpu drain 2>"$err"
mv "$(record "$named")" "$(record "$named" | sed 's/:Z7$//')"
set_version 2 1 "$(record "$newer")" "$(record "$named")"
until_true pgpu update "$newer" begin=now
pgpu undrain 2>"$err"
exits 0 "then they run" pgpu wait "$newer" "$named"
equals "each once" 'newer named' "$(cat newer named | paste -sd ' ')"
printf 'no record\n' >"$queue/pending/damaged:name"
exits 0 "a name that is none and no record of anybody" pgpu queue
check "is set aside as before" test -e "$queue/bad/damaged:name"

# --- the configuration in force -------------------------------------------------------------------------------------
# newer_copy: as a later pgpu would have written it.
newer_copy() { sed -i 's/^pgpu-conf .*/pgpu-conf 99/; /^lanes /a shape round' "$queue/conf"; cp "$queue/conf" copy; }
newer_copy
for words in queue status "run -q -- true" "submit -q -- true" rescue; do
	# shellcheck disable=SC2086 # a list of words
	exits 0 "$words beside a newer copy" pgpu $words
	same_bytes "leaves it alone" copy "$queue/conf"
done
pgpu wait "$(cat "$out")" 2>"$err"
pgpu run -q -- sh -c "$(gate b)" &
reached b
exits 75 "the file counts: one lane" pgpu run --no-wait -- true
conf $'lanes = 1\nshape = "round"'
newer_copy
exits 2 "where the file is a newer pgpu's, too, run is refused" pgpu run -- touch ran
matches "with the line that says why" "pgpu.conf:2: unknown key 'shape'" "$(cat "$err")"
exits 2 "and submit" pgpu submit -- touch ran
exits 0 "queue is not" pgpu queue
matches "it lists who runs" ' R ' "$(cat "$out")"
matches "and says that nothing is started by it" "a newer pgpu's, and this one starts nothing" "$(cat "$err")"
exits 0 "nor status" pgpu status
exits 0 "nor cancel" pgpu cancel "$(sed -n 's/^ *\([0-9]*\) R .*/\1/p' "$out" | head -n 1; pgpu queue 2>/dev/null | sed -n 's/^ *\([0-9]*\) R .*/\1/p')"
wait
same_bytes "the copy is as it was" copy "$queue/conf"
check "nothing ran" test ! -e ran
conf 'lanes = 1'
sed -i '1s/.*/pgpu-conf 7/' "$queue/conf"
exits 0 "an older copy" pgpu run -q -- true
equals "is written again" 'pgpu-conf 8' "$(head -n 1 "$queue/conf")"
stamp=$(stat -c '%i %z' "$queue/conf")
pgpu queue >"$out" && pgpu run -q -- true
equals "once" "$stamp" "$(stat -c '%i %z' "$queue/conf")"

# --- lanes, tickets, the log ----------------------------------------------------------------------------------------
pgpu run -q -- sh -c "$(gate c)" &
reached c
lane=$(echo "$queue"/boot-*/lane-0)
# A key that only a newer pgpu knows, in place, since its holder has it open.
python3 - "$lane" <<'END'
import sys
with open(sys.argv[1], "r+b") as f:
    text = f.read().rstrip(b"\n")
    f.seek(0)
    f.write((text[:-len(b"end")] + b"colour blue\nend\n").ljust(1024, b"\n"))
END
exits 0 "a lane with a key that is not known" pgpu queue
matches "is read for what is" ' R .* on lane 0' "$(cat "$out")"
open_gate c
wait
printf 'a\tb\tc\n2099-01-01T00:00:00+00:00\tx\tnewkind\n' >>"$queue/log.tsv"
exits 0 "lines of the log that are not ours" pgpu log
lacks "are passed over" 'newkind|2099' "$(cat "$out")"
sed -i '1s/$/\tcolour/; 2s/$/\tblue/' "$queue/log.tsv"
exits 0 "a column more" pgpu log
matches "is no harm" ' completed$' "$(sed -n 2p "$out")"
finish
