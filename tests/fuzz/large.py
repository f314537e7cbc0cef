#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""large.py FOLDER: writes inputs of just under 64 KB into FOLDER/TARGET/, of which each has one thing very often: what
takes time by the square of it, or memory by many times of it, is seen by replay.c."""
import os
import sys

HEAD = "name: a\ncommand: x\n"
ROW = "2026-11-29T20:08:30+00:00\t%d\trun\tf%d\tc%d\te\te\t1\t1\t0\t0\t\t4\t0\tcompleted\n"


def numbered(text, count):
    return "".join(text.replace("#", str(i)) for i in range(1, count + 1))


INPUTS = {
    "jobfile": [
        HEAD + "env:\n" + numbered("  A#: b\n", 5500),
        "#!/bin/sh\n#PGPU env:\n" + numbered("#PGPU  A#: b\n", 4000),
        "#!/bin/sh\n" + "#\n" * 31000,
        "name: a\ncommand: [" + "a," * 31000 + "b]\n",
        HEAD + "export: [" + numbered("A#,", 8000) + "B]\n",
        HEAD + "after: [" + numbered("afterok:#,", 4400) + "afterok:1]\n",
        'name: "' + "\\x41" * 15000 + '"\ncommand: x\n',
        "---\nenv: " + "[" * 60000, "---\nenv: " + "{a: " * 15000, "? " * 30000, "- " * 30000, ": " * 30000,
        "name: \n" + "\n" * 60000 + "x\n", "name:" + " " * 60000 + "x\n", "script: |\n" + "  \n" * 20000,
    ],
    "sbatch": [
        "--nice=1 " * 7000, "--nice=1\n" * 3000, "--array=" + numbered("#,", 11000) + "1\n",
        "--dependency=" + numbered("afterok:#,", 4400) + "afterok:1\n", '--comment="' + '\\"' * 30000 + '"\n',
        "--export=" + numbered("A#=b,", 7000) + "B=c\n", "--unknown " * 6000,
    ],
    "conf": [
        numbered('class "c#" { rank = 1 budget = "1m" }\n', 1500), "lanes = 2\n" * 6000,
        'class "render" { rank = 1 }\n' * 2300, "on-end = {" + '"a",' * 15000 + '"b"}\n', "/*" + "*" * 60000,
        "#\n" * 30000, 'memory = "' + "a" * 60000 + '"\n', numbered('lane "l#" { card = "0000:03:00.0" }\n', 1600),
        'class "a" {' * 5000, "pgpu-conf 8\nsource /x\n" + "on-end a\n" * 6000,
    ],
    "fdinfo": [
        "drm-driver:\tamdgpu\ndrm-client-id:\t5\n" + numbered("drm-engine-e#:\t1 ns\n", 2700), "\n" * 64000,
    ],
    "word": [
        "array " + numbered("#,", 11000) + "1", "array 0-999999", "after " + numbered("afterok:#,", 4400) + "singleton",
        "id 12_[" + numbered("#,", 11000) + "1]", "id 12_[0-999999]", "words " + "a" * 64000,
        "hours " + "22:00-07:00," * 5000, "caps " + "sys_nice " * 7000, "base64 " + "AAAA" * 15000,
        "entry " + "gen 1\n" * 10000 + "end\n", "progress 1/2 " + "x" * 60000, "output " + "%x" * 30000,
    ],
    "queuefile": [
        "@ log.tsv\n" + "".join(ROW % (i, i, i) for i in range(1, 900)), "@ served\n" + numbered("s# #\n", 5000),
        "@ env/0\n" + "A=b\0" * 15000, "@ failures\n" + numbered("c# 1 12 failed 2 counting\n", 2000),
        "@ foreign.tsv\n" + "2026-11-29T20:08:30+00:00\t77\t1\ta\tyes\t4\t12\n" * 1300,
        "@ tasks/12\n0-59999\n" + "." * 60000, "@ tasks/12\n0-999999\n" + "." * 60000,
    ],
    "cgroup": ["@ cgroup.procs\n" + "77\n" * 21000, "drm/0000:03:00.0/vram max\n" * 2400],
    "message": ["id 100000\n" * 6000],
}

for target, inputs in INPUTS.items():
    os.makedirs(os.path.join(sys.argv[1], target), exist_ok=True)
    for number, text in enumerate(inputs):
        with open(os.path.join(sys.argv[1], target, str(number)), "w", encoding="ascii") as out:
            out.write(text[:65000])
