# SPDX-License-Identifier: GPL-3.0-or-later
# manual.py PAGE…: the examples of the manuals, which are the literal blocks and the lines of .Dl, one below the other being
# one. Prints of each PAGE<tab>SECTION<tab>FIRST LINE; with --text PAGE N the text of that page's example number N.
import re
import sys

CHARACTERS = {"(dq": '"', "(aq": "'", "(ha": "^", "(ti": "~", "-": "-", "&": "", "e": "\\", "%": "", "~": " "}


def plain(line, where):
    def character(found):
        assert found.group(1) in CHARACTERS, f"{where}: unknown \\{found.group(1)}"
        return CHARACTERS[found.group(1)]
    return re.sub(r"\\(\(..|.)", character, line)


def examples(path):
    section, block, inside = "", [], False
    for number, line in enumerate(open(path), 1):
        line, where = line.rstrip("\n"), f"{path}:{number}"
        if line.startswith((".Dl ", ".D1 ")):
            block.append(plain(line[4:], where))
            continue
        if block and not inside:
            yield section, block
            block = []
        if inside and line == ".Ed":
            yield section, block
            block, inside = [], False
        elif inside:
            block.append(plain(line, where))
        elif line.startswith(".Bd "):
            assert line.startswith(".Bd -literal"), f"{where}: a display of another kind"
            inside = True
        elif re.match(r"\.S[hs] ", line):
            section = line[4:]
    assert not inside, f"{path}: a display without an end"


def main():
    if sys.argv[1] == "--text":
        print("\n".join(list(examples(sys.argv[2]))[int(sys.argv[3]) - 1][1]))
        return
    for path in sys.argv[1:]:
        for section, block in examples(path):
            print(path.rsplit("/", 1)[-1], section, block[0], sep="\t")


main()
