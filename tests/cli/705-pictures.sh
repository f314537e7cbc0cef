#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The pictures of the README: small, whole, with nothing to fetch; and the words in them are what the program prints now.
. "$(dirname "$0")/lib.sh"
pictures=$REPO/examples/pictures

# words FILE: the texts of a picture, each once, without what differs from one evening to the next: times, how far a job
# is, and which bars are wide enough for their name (each has it in its title, too).
words()
{
	python3 - "$1" <<-'END'
		import re, sys, xml.etree.ElementTree as tree
		found = set()
		for part in tree.parse(sys.argv[1]).getroot().iter():
		    name = part.tag.split("}")[-1]
		    if name not in ("text", "title") or part.get("class") == "name":
		        continue
		    text = re.sub(r"\d+-\d+-\d+ ", "", part.text)
		    text = re.sub(r"\b(\d+:\d+:\d+|\d+[smhd])+\b", "TIME", text)
		    found.add(re.sub(r"\d/6 \d+%", "SHARE", text))
		print(*sorted(found), sep="\n")
	END
}

for picture in queue report; do
	file=$pictures/$picture.svg
	check "$picture.svg is small" test "$(stat -c %s "$file")" -lt 30000
	check "$picture.svg is well-formed" words "$file"
	equals "nothing to fetch in $picture.svg" 'http://www.w3.org/2000/svg' "$(grep -oE 'https?:[^"]*|url\(|src=|href=|@import' "$file")"
	check "$picture.svg has a dark side" grep -q 'prefers-color-scheme:dark' "$file"
	check "the README shows $picture.svg" grep -qF "](examples/pictures/$picture.svg)" "$REPO/README.md"
done
exits 0 "any text becomes a picture" python3 "$pictures/terminal.py" <<<$'<a & b>  "c"\n\n\td'
cp "$out" any.svg
equals "its words are as they were" $'"c"\n<a & b>\nd' "$(words any.svg | LC_ALL=C sort)"

if [ -n "$sanitizer" ]; then
	skip "the pictures are what the program prints now" "an evening of seconds, and the program is slow here"
	finish
fi
exits 0 "make.sh makes them" env BUILD="$BUILD" TMPDIR="$SANDBOX" "$pictures/make.sh" .
for picture in queue report; do
	equals "the words of $picture.svg are what the program prints now" "$(words "$picture.svg")" "$(words "$pictures/$picture.svg")"
done
finish
