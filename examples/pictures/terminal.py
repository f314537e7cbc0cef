# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of what stands in a terminal: text on standard input, SVG on standard output.

    { echo '$ pgpu queue'; pgpu queue; } | python3 terminal.py >queue.svg

Each run of words has its own place and width, so that columns stand below each other in any font. Light or dark as the
reader's system is.
"""

import re
import sys
from xml.sax.saxutils import escape

CHARACTER, LINE, SIZE, MARGIN = 7.5, 18, 12.5, 14
STYLE = """:root{color-scheme:light dark;--paper:#fcfcfa;--ink:#1c1c1a;--typed:#2a6fc9;--edge:#dcdad3}
@media (prefers-color-scheme:dark){:root{--paper:#1a1a19;--ink:#f0efe9;--typed:#6ea8f0;--edge:#3d3c38}}
text{font:%spx ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:var(--ink)}
.typed{fill:var(--typed);font-weight:bold}rect{fill:var(--paper);stroke:var(--edge)}""" % SIZE


def runs(line):
    """The words of a line with the columns they begin at; one blank alone is part of a run."""
    return [(found.start(), found.group()) for found in re.finditer(r"\S+(?: \S+)*", line)]


def picture(lines):
    width = round(max(map(len, lines)) * CHARACTER + 2 * MARGIN)
    height = len(lines) * LINE + 2 * MARGIN
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    yield "<!-- SPDX-License-Identifier: GPL-3.0-or-later -->"
    yield f"<style>{STYLE}</style>"
    yield f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="6"/>'
    for number, line in enumerate(lines):
        typed = ' class="typed"' if line.startswith("$ ") else ""
        y = MARGIN + (number + 0.75) * LINE
        for column, words in runs(line):
            yield (f'<text{typed} x="{MARGIN + column * CHARACTER:g}" y="{y:g}" lengthAdjust="spacingAndGlyphs"'
                   f' textLength="{len(words) * CHARACTER:g}">{escape(words)}</text>')
    yield "</svg>"


if __name__ == "__main__":
    print("\n".join(picture(sys.stdin.read().expandtabs().splitlines())))
