#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The report's page and picture in a browser: bars where they belong, light and dark, nothing run and nothing fetched.
. "$(dirname "$0")/lib.sh"
export TZ=UTC

width=1040 height=700
# browser LIGHT OPTION… URL: 1 is light, 0 dark.
browser()
{
	timeout -k 5 $((60 * slow)) chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --hide-scrollbars \
		--user-data-dir="$SANDBOX/profile" --window-size=$width,$height --force-device-scale-factor=1 --virtual-time-budget=5000 \
		--host-resolver-rules='MAP * ~NOTFOUND' --blink-settings=preferredColorScheme="$1" "${@:2}" 2>"$err"
}
if ! command -v chromium >/dev/null; then
	skip "the report in a browser" "no chromium here"
	finish
fi
echo '<p>here</p>' >probe.html
if ! browser 1 --dump-dom "file://$PWD/probe.html" >probe || ! grep -q here probe; then
	skip "the report in a browser" "chromium does not start here: $(tail -n 1 "$err")"
	finish
fi

evil='"><script>document.title = 1</script><img src=x onerror="document.title = 2">'
log=$(echo "$XDG_STATE_HOME"/pgpu/*/log.tsv)
row() { printf '%s\t%s\t%s\tfilm\t%s\t%s\tcmd\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$@"; }
{
	head -n 1 "$log"
	row 2026-11-01T23:00:00+00:00 101 run render long 60.000 3600.000 0.000 '' '' '' '' turn
	row 2026-11-02T00:00:00+00:00 102 run clip "$evil" 5.000 3600.000 0.000 9.000 900.000 '' 0 completed
	row 2026-11-02T00:30:00+00:00 103 run "$evil" beside 5.000 5400.000 0.000 9.000 5400.000 '' 9 oom
	row 2026-11-02T02:00:00+00:00 101 run render long 0.000 7200.000 3600.000 9.000 5400.000 2147483648 0 completed
} >"$SANDBOX/log" && cp "$SANDBOX/log" "$log"
span=(--since 2026-11-01T22:00 --until 2026-11-02T08:00)
check "a page" pgpu report "${span[@]}" --html page.html
check "a picture" pgpu report "${span[@]}" --svg picture.svg

browser 1 --dump-dom "file://$PWD/page.html" >dom
equals "names are text: the page keeps its title, no script and no image in it" "<title>pgpu report</title> 0" \
	"$(grep -o '<title>pgpu[^/]*</title>' dom) $(grep -ciE '<script|<img' dom)"
check "and stand there as they are" grep -qF '&gt;&lt;script&gt;document.title = 1&lt;/script&gt;' dom

# The same page, allowed to run one script: where its bars are, the picture being 1000 wide.
python3 - >measured.html <<'END'
import re
page = open("page.html").read()
page, policies = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
assert policies == 1
print(page.replace("</body>", """<script>
const frame = document.querySelector("svg").getBoundingClientRect(), scale = 1000 / frame.width;
const lines = [...document.querySelectorAll("svg rect[data-job]")].map(rect => {
	const box = rect.getBoundingClientRect(), at = number => Math.round(number * scale);
	return [rect.classList[0], rect.dataset.job, at(box.left - frame.left), at(box.width), at(box.top - frame.top)].join(" ")
		+ " @" + (box.left + box.width / 2) + "," + (box.top + 3);
});
lines.push("fetched " + performance.getEntriesByType("resource").length);
lines.push("across " + document.documentElement.scrollWidth);
const found = document.createElement("pre");
found.id = "found";
found.textContent = "\\n" + lines.join("\\n") + "\\n";
document.body.append(found);
</script></body>"""))
END
browser 1 --dump-dom "file://$PWD/measured.html" | sed -n '/id="found"/,/<\/pre>/p' >found
# 92 an hour, from 60 on; rows 26 apart.
equals "the bars are where their times are, in two rows and one for the frozen time" "hold 101 60 92 28
hold 102 152 92 28
hold 103 152 138 54
hold 101 244 184 28
frozen 101 152 92 80" "$(sed -n 's/ @.*//p' found)"
equals "nothing is fetched" "fetched 0" "$(grep fetched found)"
equals "the page is as wide as its window" "across $width" "$(grep across found)"

# The pictures: two lines, one of the paper and one of each bar, for light and dark.
mapfile -t points < <(sed -n 's/.* @//p' found)
# shot LIGHT FILE POINT…: size, whether it has colours, and those of the points.
shot()
{
	browser "$1" --screenshot="$PWD/shot.png" "file://$PWD/$2" >shot.log
	python3 "$REPO/tests/cli/picture.py" shot.png "${@:3}" | awk 'NR == 1 { print $1, ($2 > 20 ? "drawn" : "blank"); next } { print }' | paste -sd ' '
	rm -f shot.png
}
equals "in light colours" "${width}x$height drawn #fcfcfa #2a6fc9 #13805c #b3541e" \
	"$(shot 1 page.html 5,5 "${points[1]}" "${points[0]}" "${points[2]}")"
equals "in dark ones" "${width}x$height drawn #1a1a19 #6ea8f0 #4fbf94 #e2935c" \
	"$(shot 0 page.html 5,5 "${points[1]}" "${points[0]}" "${points[2]}")"
equals "the picture alone, light" "${width}x$height drawn #fcfcfa #2a6fc9 #13805c #b3541e" \
	"$(shot 1 picture.svg 5,5 198,31 106,31 222,58)"
equals "and dark" "${width}x$height drawn #1a1a19 #6ea8f0 #4fbf94 #e2935c" "$(shot 0 picture.svg 5,5 198,31 106,31 222,58)"
finish
