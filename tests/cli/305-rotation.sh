#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The log is begun anew by size: no row is lost and none is there twice, whoever renames it, and all files are read.
. "$(dirname "$0")/lib.sh"
conf $'lanes = 4\nlog-size = "2K"'

folder=$(dirname "$(find "$XDG_STATE_HOME" -name counter)")
# The job column of all files; a header's says "job".
rows() { cat "$folder"/log.tsv* 2>/dev/null | cut -f2 | grep -v job | sort -n; }
logged() { pgpu log --json | python3 -c 'import json, sys; print(*(row["job"] for row in json.load(sys.stdin)))'; }

for i in {1..60}; do pgpu run -q -J "run $i" -- true & pids[i]=$!; done
wait "${pids[@]}"
check "a log that is large is begun anew" test -e "$folder/log.tsv.1"
check "also a second time" test -e "$folder/log.tsv.2"
check "no file is much larger than it may be" test "$(stat -c %s "$folder"/log.tsv* | sort -n | tail -n 1)" -lt 2500
equals "sixty runs at once: no row is lost, none is there twice" "61 61" "$(rows | wc -l) $(rows | sort -u | wc -l)"
equals "each file begins with the header" "$(find "$folder" -name 'log.tsv*' -size +0 | wc -l)" "$(head -qn 1 "$folder"/log.tsv* | grep -c ^ended)"
equals "log reads them all, in the order of writing" "$(for n in 4 3 2 1; do cat "$folder/log.tsv.$n"; done 2>/dev/null | cat - "$folder/log.tsv" | cut -f2 | grep -v job | paste -sd ' ')" "$(logged)"
equals "queue --all, too" 61 "$(pgpu queue --all --json | grep -o '"id":' | wc -l)"
equals "and the sums" 61 "$(pgpu log --sum class --json | python3 -c 'import json, sys; print(sum(row["jobs"] for row in json.load(sys.stdin)))')"
oldest=$(logged | cut -d' ' -f2)
matches "show finds a row of an old file" 'completed' "$(pgpu show "$oldest" --json)"

# What is beyond the fourth old file goes, and is not written again.
for i in {1..8}; do pgpu submit -q -J "spooled $i" -- true; done >ids
xargs pgpu wait <ids
until_true sh -c "[ \$(cut -f3 '$folder'/log.tsv* | grep -cx spool) -ge 8 ]"
before=$(rows | md5sum)
rm -rf "$folder"/boot-*/swept
pgpu rescue
equals "the rescue writes no row again that is in an old file" "$before" "$(rows | md5sum)"
for i in {1..200}; do pgpu run -q -- true & pids[i]=$!; [ $((i % 25)) -ne 0 ] || wait; done
wait
check "four old files are kept" test -e "$folder/log.tsv.4" -a ! -e "$folder/log.tsv.5"
equals "the spooled jobs' rows have gone" 0 "$(cut -f3 "$folder"/log.tsv* | grep -cx spool)"
before=$(rows | wc -l)
pgpu rescue
rm -rf "$folder"/boot-*/swept
pgpu rescue
equals "the rescue does not write them again" "$before" "$(rows | wc -l)"

# A gap, as a kill between two renames leaves it, is filled; what is behind it is read all the same.
rm "$folder/log.tsv.2"
before=$(rows | sort -u | wc -l)
equals "what is behind a gap is read" "$before" "$(logged | wc -w)"
third=$(stat -c %i "$folder/log.tsv.3") fourth=$(stat -c %i "$folder/log.tsv.4")
until [ -e "$folder/log.tsv.2" ]; do pgpu run -- true; done
equals "the gap is filled, and what is behind it stays" "$third $fourth" "$(stat -c %i "$folder/log.tsv.3" "$folder/log.tsv.4" | paste -sd ' ')"

# A person's logrotate, while jobs end.
rm "$folder"/log.tsv*
conf $'lanes = 4\nlog-size = "0"'
for i in {1..40}; do
	pgpu run -q -- true & pids[i]=$!
	[ $((i % 10)) -ne 0 ] || { for n in 3 2 1; do mv -n "$folder/log.tsv.$n" "$folder/log.tsv.$((n + 1))"; done; mv -n "$folder/log.tsv" "$folder/log.tsv.1"; } 2>"$err"
done
wait
equals "a person renames it: no row is lost" "40 40" "$(rows | grep -vcx -f ids) $(rows | grep -vx -f ids | sort -u | wc -l)"
equals "log reads what a person renamed" "$(rows | wc -l)" "$(logged | wc -w)"
ln -s /etc/passwd "$folder/log.tsv.4" 2>"$err" || { rm "$folder/log.tsv.4"; ln -s /etc/passwd "$folder/log.tsv.4"; }
exits 0 "an old file that is none of ours is passed over" pgpu log
conf $'lanes = 4\nlog-size = "lots"'
exits 2 "a size that is none" pgpu run -- true
finish
