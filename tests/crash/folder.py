# SPDX-License-Identifier: GPL-3.0-or-later
"""The queue's folder against the state table of pgpu-spool(5)."""

import fcntl
import os
import re
import struct

_ID = r"(?P<id>[0-9]+(?:_[0-9]+)?)"
_HEAD = _ID + r":[a-zA-Z0-9_-]+:[A-Za-z0-9_.-]+:(?P<restarts>[0-9]+)(:m[0-9.]+[KMGT]?)?(:v[0-9.]+[KMGT]?)?(:c[0-9a-f.-]+)?(:n-?[0-9]+)?"
_NAMES = {
    "pending": re.compile(_HEAD + r"(:s[0-9]+|(:u[0-9]+)?(:b[0-9]+)?(:a)?(?P<array>:t[0-9]+)?(:r[0-9]+)?)(?P<held>:h)?$"),
    "running": re.compile(_HEAD + r"(:u[0-9]+)?(:b[0-9]+)?(:r[0-9]+)?$"),
    "ended": re.compile(_HEAD + r"(:u[0-9]+)?(:b[0-9]+)?(:r[0-9]+)?(:s[0-9]+)?:(?P<outcome>completed|failed|cancelled|timeout|stalled|oom|gpu-oom|lost)"
                        r":(?P<code>[0-9]+)$"),
}
_TEMPORARY = {  # what a writer that was killed may leave, by folder
    "pending": re.compile(r"\.[0-9].*\.([0-9]+|u[0-9]+)$"),
    "env": re.compile(r"\.[0-9a-f]+(-[0-9]+)?\.[0-9]+$"),
    "": re.compile(r"\.(counter|conf|served|log|drained|failures|pruned)[^/]*$"),
    "dedupe": re.compile(r"\..*$"),
    "tasks": re.compile(r"\..*$"),
    "reasons": re.compile(r"\..*$"),
}


def listing(folder):
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def records(queue):
    """id -> (folder, match of its name), of what has a right name."""
    found = {}
    for folder, names in _NAMES.items():
        for name in listing(queue / folder):
            if match := names.match(name):
                found[match["id"]] = (folder, match)
    return found


def problems(queue, scripts, killed, denied=False):
    """What the table does not have, one sentence each. `scripts`: id -> how its record must end. `killed`: a process was
    killed, so that files may lie there which nobody reads. `denied`: a file could not be opened for want of a right, as one of
    another user, and may have been set aside for it."""
    wrong = [] if denied else [f"bad/{name} was set aside" for name in listing(queue / "bad")]
    seen = {}
    for folder, names in _NAMES.items():
        for name in listing(queue / folder):
            if name.startswith("."):
                continue
            match = names.match(name)
            if not match:
                wrong.append(f"{folder}/{name} is no name of the table")
                continue
            if match["id"] in seen:
                wrong.append(f"job {match['id']} has two records, {seen[match['id']]} and {folder}/{name}")
            seen[match["id"]] = f"{folder}/{name}"
            wrong += _text_problems(queue, folder, name, match["id"], scripts)
    names = " ".join(seen.values())
    for folder in ("", "pending", "running", "ended", "env", "orders", "dedupe", "tasks", "reasons", "after", "bad"):
        for name in listing(queue / folder):
            allowed = killed and folder in _TEMPORARY and _TEMPORARY[folder].match(name)
            edited = re.match(r"\.[0-9_]+\.(u[0-9]+)$", name)  # the text of a record, and its name says so
            allowed = allowed or (edited and f":{edited[1]}" in names)
            if name.startswith(".") and not allowed:
                wrong.append(f"{folder}/{name} was left")
    return wrong


def _text_problems(queue, folder, name, number, scripts):
    text = (queue / folder / name).read_bytes()
    head = re.match(rb"---\n# pgpu version 1\n# pgpu id ([0-9_]+)\n(?:# pgpu .*\n)*?# pgpu env ([0-9a-f-]+)\n", text)
    if not head:
        return [f"{folder}/{name} is not a whole record"]
    wrong = []
    if head[1].decode() != number.split("_")[0]:
        wrong.append(f"{folder}/{name} holds the record of job {head[1].decode()}")
    environment = queue / "env" / head[2].decode()
    if not environment.exists() or not environment.read_bytes().endswith(b"\0"):
        wrong.append(f"{folder}/{name} has no whole environment")
    script = scripts.get(number.split("_")[0])
    if script is not None and not text.endswith(script.encode()):
        wrong.append(f"{folder}/{name} has another script than was submitted")
    return wrong


def unfinished(queue):
    """The records of jobs that wait, unless they are held, and of those that run."""
    return [f"{where}/{name}" for where in ("pending", "running") for name in listing(queue / where)
            if not name.startswith(".") and not name.endswith(":h")]


def at_rest(boot, queue, killed):
    """What is not at rest yet, once nothing waits or runs: one sentence each."""
    wrong = unfinished(queue)
    known = records(queue)
    wrong += [f"orders/{name}" for name in listing(queue / "orders")
              if not (killed and (name.endswith(".requeue") or name.split(".")[0] not in known))]
    wrong += [f"tickets/{name}" for name in listing(boot / "tickets")]
    for seat in [name for name in listing(boot) if name.startswith("lane-") or name in ("standby", "second", "standing-0")]:
        lines = (boot / seat).read_text().split("\n")
        if "end" not in lines:
            wrong.append(f"{seat} has no last line")
        elif "state free" not in lines[:lines.index("end")] and (seat.startswith("lane-") or _locked(boot / seat, lines)):
            wrong.append(f"{seat} is not free")
    return wrong


def _locked(path, lines):
    """Whether the byte of the seat's generation is locked: who was killed in a role leaves its text, and no lock."""
    generation = next((int(line.split()[1]) for line in lines if line.startswith("gen ")), 0)
    with open(path, "r+b") as seat:
        asked = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, generation, 1, 0)
        return struct.unpack("hhqqi", fcntl.fcntl(seat, fcntl.F_OFD_GETLK, asked))[0] != fcntl.F_UNLCK
