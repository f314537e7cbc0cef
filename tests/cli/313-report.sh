#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a span of time held: the report as text, and that its page and picture are whole.
. "$(dirname "$0")/lib.sh"
export TZ=UTC

# What a terminal obeys or a page would run, bytes that are not UTF-8, and what XML does not have.
evil=$'<script>alert("1")</script>\'&amp;\e[31m\x9b\xc2\x9b\xff\xef\xbf\xbf\x7f'
printf '%s\n' one two three four five six $'10%\r50%\rover\r' "bad $evil" last >said
frames=$(pgpu submit -q -p render -J 'frames <script>alert("1")</script>' -m 1G -- sh -c 'cat said; exit 3')
errors=$(pgpu submit -q -p clip -o out.log -e err.log -J errors -- sh -c 'echo out; echo err >&2; exit 4')
twice=$(pgpu submit -q -p clip -J twice --retries 1 -- sh -c 'echo attempt; exit 5')
pgpu submit -q -p clip -J fine -- true >"$SANDBOX/fine"
pgpu wait "$frames" "$errors" "$(cat "$SANDBOX/fine")" 2>"$err"
log=$(echo "$XDG_STATE_HOME"/pgpu/*/log.tsv)
until_true test "$(grep -cE $'\t(frames|errors|fine|twice)' "$log")" -ge 4

exits 0 "a report" pgpu report
cp "$out" report
equals "says nothing else" '' "$(cat "$err")"
matches "its headline" '^From [0-9 :-]+ to [0-9 :-]+, 12h: 5 jobs ended: 2 completed, 3 failed\.' "$(cat report)"
matches "a job's line, with its ceiling" "$frames render       frames <script>alert\(\"1\" failed +[0-9a-z]+ +[0-9a-z]+ +0s +[0-9.KMGB-]+ of 1\.0G +(-|[0-9]+%)" "$(cat report)"
matches "a run's line has no ceiling" '1 interactive  true +completed +0s +0s +0s +(-|[0-9.]+[KMGB]+) +(-|[0-9]+%)' "$(cat report)"
matches "why it failed" "$frames frames <script>.* \(render, work\): failed, exit code 3"$'\n'" +output $PWD/pgpu-$frames.out"$'\n' "$(cat report)"
equals "the last six lines of its output, what was written over aside" $'four\nfive\nsix\nover' "$(sed -n "/output.*-$frames.out/,/last/ s/^ *| //p" report | head -n 4)"
check "with '?' for what a terminal would obey" grep -qxF $'       | bad <script>alert("1")</script>\'&amp;?[31m???\xef\xbf\xbf?' report
equals "no byte that a terminal would obey" '' "$(LC_ALL=C grep -naP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' report; iconv -f UTF-8 -t UTF-8 report | cmp - report)"
matches "error file and output" "output $PWD/out.log"$'\n +\\| out\n'" +error $PWD/err.log"$'\n +\\| err' "$(cat report)"
matches "the timeline has a letter for each class" $'\n +held \\|\\.+[irc]' "$(cat report)"
equals "failures come last" "Failures:" "$(grep -B1 -m1 -E "^ +$frames frames .*: failed, exit code 3\$" report | head -n 1)"
lacks "what succeeded is no failure" 'fine \(' "$(cat report)"

# Page and picture.
# parsed FILE: the text of an XML file, or what is wrong with it.
parsed() { python3 -c 'import sys, xml.etree.ElementTree as tree; print("".join(tree.parse(sys.argv[1]).getroot().itertext()))' "$1" 2>&1; }
exits 0 "a page" pgpu report --html night.html
equals "nothing is printed" '' "$(cat "$out" "$err")"
equals "it is its owner's alone" 600 "$(stat -c %a night.html)"
pgpu report --html - >printed.html
equals "the same on standard output" "$(grep -c . night.html)" "$(grep -c . printed.html)"
matches "it is well-formed, and has names and outputs whole" 'frames <script>alert\("1"\)</script>.*bad <script>alert\("1"\)</script>'"'"'&amp;'$'\xef\xbf\xbd''\[31m' "$(parsed night.html)"
lacks "no script in it, and nothing to fetch" '<script|<img|<link|https?:|url\(|src=|href=|@import' "$(cat night.html)"
exits 0 "a picture" pgpu report --svg night.svg
matches "which is well-formed" "$frames frames <script>alert\\(\"1\"\\)</script> \\(render, work\\): failed, " "$(parsed night.svg)"
equals "nothing to fetch in it" 'http://www.w3.org/2000/svg' "$(grep -oE 'https?:[^"]*|url\(|src=|href=|@import' night.svg)"
exits 2 "both at once" pgpu report --html a --svg b
equals "is refused" "pgpu: report: either --html or --svg" "$(cat "$err")"
everything() { find . -mindepth 1 -maxdepth 1 | sort; }
everything >"$SANDBOX/before"
echo old >old.html
mkdir folder && mkfifo fifo && ln -s old.html link
while read -r file reason; do
	exits 1 "a page at $file" pgpu report --html "$file"
	equals "is told" "pgpu: cannot write $file: $reason" "$(cat "$err")"
done <<-'END'
	none/night.html No such file or directory
	folder it is no regular file
	folder/ that is no name of a file
	fifo it is no regular file
	link it is no regular file
	old.html/night.html Not a directory
END
exits 1 "a page without a name" pgpu report --html ''
exits 1 "a page to a full disk" sh -c 'pgpu report --html - >/dev/full'
matches "is told" 'No space left' "$(cat "$err")"
if mount -t tmpfs -o size=64k pgpu-test folder 2>"$err"; then
	echo old >folder/night.html
	head -c 100000 /dev/zero >folder/fill 2>"$err"
	exits 1 "a page on a full disk" pgpu report --html folder/night.html
	equals "is told as well" "pgpu: cannot write folder/night.html: No space left on device" "$(cat "$err")"
	equals "the old one stands, and nothing else is left" "old fill night.html" "$(cat folder/night.html - <<<"$(ls -A folder)" | paste -sd ' ')"
	umount folder
else
	skip "a page on a full disk" "no file system can be mounted: $(cat "$err")"
fi
equals "a page that could not be written leaves nothing" "./fifo ./folder ./link ./old.html" "$(everything | comm -13 "$SANDBOX/before" - | paste -sd ' ')"
exits 0 "over an old one" pgpu report --svg old.html
check "it is there as a whole" grep -q '^</svg>$' old.html

# Outputs that are not what they were.
mkfifo pipe
rm "pgpu-$frames.out" out.log err.log
ln -s /etc/passwd "pgpu-$frames.out"
ln pipe out.log
exits 0 "an output that is a link or a pipe" timeout 20 pgpu report
matches "a link is not followed" "output cannot open $PWD/pgpu-$frames.out: Too many levels" "$(cat "$out")"
matches "a pipe is not waited for" "output cannot read $PWD/out.log: it is no regular file" "$(cat "$out")"
matches "one that is gone is named" "error cannot open $PWD/err.log: No such file" "$(cat "$out")"
lacks "nothing of the link's end is shown" 'root:' "$(cat "$out")"
: >err.log
matches "one that is empty" "error $PWD/err.log is empty" "$(pgpu report)"
head -c 100000 /dev/zero | tr '\0' x >err.log
exits 0 "a line without an end" pgpu report
equals "of which the last 4096 bytes are shown" 4096 "$(grep -oE 'x{100,}' "$out" | tr -d '\n' | wc -c)"
yes 'a line' | head -n 100000 | head -c 600001 >err.log
equals "six lines of many, the last one cut" 6 "$(pgpu report | grep -cE '\| a li?n?e?$')"
head -c 20 /dev/zero >err.log
matches "bytes that are 0" "$(printf '\\?%.0s' {1..20})"$'\n' "$(pgpu report)"

# Which rows: a made log.
pgpu cancel "$twice" 2>"$err" >&2
row() { printf '%s\t%s\t%s\tfilm\t%s\t%s\tcmd\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$@"; }
{
	head -n 1 "$log"
	row 2026-11-01T21:00:00+00:00 100 run render early 1.000 1800.000 0.000 1.000 '' '' 0 completed
	row 2026-11-01T23:00:00+00:00 101 run render long 60.000 3600.000 0.000 '' '' '' '' turn
	row 2026-11-02T00:00:00+00:00 102 run clip short 5.000 3600.000 0.000 9.000 900.000 1073741824 0 completed
	row 2026-11-02T00:30:00+00:00 103 run clip beside 5.000 5400.000 0.000 9.000 5400.000 '' 9 oom
	row 2026-11-02T02:00:00+00:00 101 run render long 0.000 7200.000 3600.000 9.000 5400.000 2147483648 0 completed
	row 2026-11-02T03:00:00+00:00 104 run truth away 0.000 3600.000 0.000 '' '' '' '' turn
	row 2026-11-02T09:00:00+00:00 105 run render late 0.000 60.000 0.000 1.000 '' '' 0 completed
} >"$SANDBOX/log" && cp "$SANDBOX/log" "$log"
since='2026-11-01T22:00' until='2026-11-02T08:00'
exits 0 "a span" pgpu report --since $since --until $until
cp "$out" report
equals "its headline" "From 2026-11-01 22:00:00 to 2026-11-02 08:00:00, 10h: 3 jobs ended: 2 completed, 1 oom; 1 gave the lane up and did not come back.
The lanes were held for 6h30m in all, at least one of them for 5h, 50% of the time." "$(head -n 2 report)"
equals "the jobs that ended in it, each with the sums of its holds" "102 clip short completed 5s 1h 0s 1.0G 25%
103 clip beside oom 5s 1h30m 0s - 100%
101 render long completed 1m 3h 1h 2.0G 50%
104 truth away turn 0s 1h 0s - -" "$(sed -n '/ JOB /,/^$/p' report | awk 'NR > 1 && NF { $1 = $1; print }')"
equals "the timeline: two rows, and one for the frozen time" "held |rrrrrrrrrccccccccccrrrrrrrrrrrrrrrrrrrttttttttttt...............................................|
|.........cccccccccccccccc.......................................................................|
frozen |.........~~~~~~~~~~~............................................................................|" \
	"$(sed -n 's/^ *\(.*|.*|\)$/\1/p' report)"
matches "a legend" $'\n +c clip  r render  t truth'$'\n' "$(cat report)"
equals "a span with nothing in it" "From 2026-11-03 22:00:00 to 2026-11-03 23:00:00, 1h: 0 jobs ended." "$(pgpu report --since 2026-11-03T22:00 --until 2026-11-03T23:00)"
matches "without --since it is 12 hours" '^From 2026-11-01 20:00:00 to 2026-11-02 08:00:00, 12h: 4 jobs' "$(pgpu report --until $until)"
exits 2 "a time that is none" pgpu report --since 25:00
matches "is named" "^pgpu: report: --since: '25:00' is no time" "$(cat "$err")"
exits 2 "an end before the beginning" pgpu report --since $until --until $since
equals "is named as well" "pgpu: report: --until is not after --since" "$(cat "$err")"
matches "centuries are no trouble" '5 jobs ended' "$(pgpu report --since 1700-01-01 --until 2261-01-01)"

# Ends are in whole seconds: whoever followed seems to have begun before the one that it followed.
{
	head -n 1 "$log"
	row 2026-11-02T05:46:10+00:00 1 run render echo 0.000 0.003 0.000 '' '' '' 0 completed
	row 2026-11-02T05:46:16+00:00 2 run render long 0.000 6.168 0.000 '' '' '' 0 completed
	row 2026-11-02T05:46:16+00:00 3 run render other 0.000 6.100 0.000 '' '' '' 0 completed
} >one-after-the-other && cp one-after-the-other "$log"
equals "no more rows than lanes were held at once" 2 "$(pgpu report --since 2026-11-02T05:46 --until 2026-11-02T05:47 | grep -c '^ *\(held\)\? |')"

# Figures that no job has had.
{ cat "$SANDBOX/log"; row 2026-11-02T07:00:00+00:00 106 run "$evil" "$evil" 9223372035.000 9223372035.999 9223372035.000 9223372035.000 9223372035.000 9223372036854775807 2147483647 lost
	for i in {1..80}; do row 2026-11-02T07:00:00+00:00 $((200 + i)) run "class$i" many 1.000 3600.000 0.000 1.000 '' '' 0 completed; done; } >"$log"
exits 0 "any figures, and many rows" pgpu report --since $since --until $until
cp "$out" many
equals "no more rows than there can be lanes" 64 "$(grep -c '^ *\(held\)\? |' many)"
matches "sums stay what they can be" '106 .* lost +106751d' "$(cat many)"
pgpu report --since $since --until $until --html any.html
pgpu report --since $since --until $until --svg any.svg
matches "a page of them is well-formed" "<script>alert\(.1.\)</script>'&amp;"$'\xef\xbf\xbd' "$(parsed any.html)"
matches "and a picture" "<script>alert\(.1.\)</script>'&amp;"$'\xef\xbf\xbd' "$(parsed any.svg)"

# A span that begins between two seconds, as `--since 1s` does.
pgpu report --since 1s --svg second.svg
matches "a span of a second has a line" '<path class="grid" ' "$(cat second.svg)"
lacks "and none before its beginning" '[" M]-[0-9]' "$(grep '<path class="grid" ' second.svg)"

# Begun anew by size, and empty.
cp "$SANDBOX/log" "$log.1"
head -n 1 "$SANDBOX/log" >"$log"
row 2026-11-02T04:00:00+00:00 104 run truth away 0.000 1800.000 1800.000 9.000 '' '' 0 completed >>"$log"
matches "a job whose holds lie in two files" '104 truth        away                     completed +0s +1h30m +30m' "$(pgpu report --since $since --until $until)"
rm "$log.1"
: >"$log"
matches "an empty log" ': 0 jobs ended\.$' "$(pgpu report)"
exits 0 "a page of nothing" pgpu report --html nothing.html
matches "is a page" '0 jobs ended\.' "$(parsed nothing.html)"
exits 0 "a picture of nothing" pgpu report --svg nothing.svg
equals "is a picture" '' "$(parsed nothing.svg | tr -d '0-9: \n' | grep -v svg)"
matches "none" ': 0 jobs ended\.$' "$(XDG_STATE_HOME=$SANDBOX/other pgpu report)"
finish
