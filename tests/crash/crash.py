# SPDX-License-Identifier: GPL-3.0-or-later
"""crash.py [--mode kill|error] [--every N] BUILD SCENE…: breaks an operation off at each of its system calls. README.md is the manual."""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import time

import folder
from box import PATIENCE_S, Box, Stuck, until
from scenes import SCENES
from tracer import Tracer

PATIENCE_TARGET_S = 20


def rehearse(build, scene_class, kills):
    """Runs the scene once, unbroken, and returns all of its points; it must be right by itself."""
    points, wrong, _ = attempt(build, scene_class, None, kills)
    if wrong:
        raise Stuck("without any fault: " + "; ".join(wrong))
    return points


def attempt(build, scene_class, point, kills):
    """One broken run: (all points of an unbroken one, what is wrong afterwards, whether the point was met)."""
    box, scene = Box(build), scene_class()
    scene.denied = point is not None and point.what == "EACCES"
    try:
        tracer = Tracer(box, point)
        scene.setup(box)
        target = scene.target(box)
        if isinstance(target, int):
            tracer.attach(target)
        else:
            tracer.start(target)
        scene.go(box, tracer)
        if scene.alone:
            open_all(box)
        if point and not kills:
            start_what_was_put_off(box, tracer)
        end = tracer.end(PATIENCE_TARGET_S)
        points = list(tracer.points(kills)) if not point else []
        met = point is None or tracer.met()
        wrong = [] if isinstance(target, int) or kills and point else said_wrong(end, point)
        wrong += judge(box, scene, end if not isinstance(target, int) and end[0] >= 0 else None, scene.crumbs or kills and point is not None)
        return points, wrong, met
    except (Stuck, subprocess.TimeoutExpired) as stuck:
        return [], [f"stuck: {stuck}: {state(box)}"], True
    finally:
        box.close()


def open_all(box):
    for gate in box.gates.values():
        gate.open()


def said_wrong(end, point):
    """Of a command that had an error: it ends by itself, and says why in lines that begin with its name."""
    code, _, err = end
    if not point:
        return [f"exit {code}: {err}"] if code else []
    if code < 0:
        return [f"it died of signal {-code}"]
    if code > 127 or code and not err.strip():
        return [f"exit {code} and says: {err.strip()!r}"]
    return [f"it says: {line!r}" for line in err.splitlines() if "pgpu: " not in line and "job " not in line][:1]


def judge(box, scene, end, killed):
    """What is wrong once the rest of the queue had the chance to go on."""
    wrong = []
    if not scene.alone:
        box.call("rescue")
    open_all(box)
    if not killed:
        start_what_was_put_off(box, None)
    if scene.alone:
        # Twice: one look through /proc may miss who was started by a process that then ended.
        until("all of pgpu has ended", lambda: not box.of_pgpu() and not box.of_pgpu())
        wrong = [f"{name} has nobody" for name in folder.unfinished(box.queue)]
        box.call("rescue")  # a lane whose holder was killed, when nobody waits for it
    until_rest(box, killed)
    wrong += folder.problems(box.queue, box.jobs, killed, scene.denied)
    wrong += marks_wrong(box)
    said = box.call("rescue").stderr.strip()
    if said:
        wrong.append(f"a rescue at the end finds: {said}")
    shown = [job["id"] for job in json.loads(box.call("queue", "--json").stdout) if job["reason"] != "held"]
    if shown:
        wrong.append(f"queue shows {shown}")
    return wrong if scene.set_aside(box) else wrong + scene.verify(box, end)


def start_what_was_put_off(box, tracer):
    """A job that the machine could not start is put off for 30 s: until the target has ended, or until there is none."""
    end = time.monotonic() + PATIENCE_TARGET_S
    while time.monotonic() < end:
        late = [number for number, (where, match) in folder.records(box.queue).items() if where == "pending" and ":b" in match.string]
        for number in late:
            box.call("update", number, "begin=now", fine=False)
        if (tracer.process.poll() is not None) if tracer else not late:
            break
        time.sleep(0.02)


def until_rest(box, killed):
    rest = []

    def quiet():
        rest[:] = folder.at_rest(box.boot, box.queue, killed)
        if not rest:
            rest[:] = [f"process {pid}" for pid in box.pids()] + box.cells()
        return not rest
    try:
        until("rest", quiet)
    except Stuck:
        raise Stuck("not at rest: " + ", ".join(rest)) from None


def marks_wrong(box):
    wrong = []
    begun, ended = collections.Counter(), collections.Counter()
    for what, number in box.marks():
        if what == "overlap":
            wrong.append(f"job {number} ran beside another")
        (begun if what == "begin" else ended)[number] += 1
    for number, (where, match) in folder.records(box.queue).items():
        if begun[number] > int(match["restarts"]) + 1:
            wrong.append(f"job {number} began {begun[number]} times, and {match['restarts']} restarts are counted")
        if where == "ended" and match["outcome"] == "completed" and not ended[number]:
            wrong.append(f"job {number} is completed and was never at its end")
    return wrong


def state(box):
    try:
        return box.call("queue", fine=False).stdout.replace("\n", " | ")
    except (Stuck, subprocess.TimeoutExpired):
        return "queue does not answer"


def play(build, name, args):
    """Prints one line for the scene; True when nothing was wrong."""
    kills = args.mode == "kill"
    name_of = f"{name} is killed" if kills else f"{name} has errors"
    try:
        points = rehearse(build, SCENES[name], kills)
    except Stuck as stuck:
        print(f"not ok {name_of}: {stuck}", flush=True)
        return False
    met = 0
    fine = True
    for point in points[args.first::args.every]:
        if args.only and not re.fullmatch(args.only, str(point)):
            continue
        _, wrong, reached = attempt(build, SCENES[name], point, kills)
        met += reached
        if wrong:
            fine = False
            print(f"# {name}: {point}: " + "; ".join(wrong), flush=True)
    print(f"{'ok' if fine else 'not ok'} {name_of}: {met} of {len(points)} points", flush=True)
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["kill", "error"], default="kill")
    parser.add_argument("--list", action="store_true", help="the names of the scenes")
    parser.add_argument("--every", type=int, default=1, help="only each Nth point")
    parser.add_argument("--first", type=int, default=0, help="from this one on")
    parser.add_argument("--only", help="these points alone: a regular expression of what is printed")
    parser.add_argument("build")
    parser.add_argument("scene", nargs="*", help=" ".join(SCENES))
    args = parser.parse_args()
    if args.list:
        print("\n".join(SCENES))
        return 0
    fine = [play(os.path.abspath(args.build), name, args) for name in args.scene or SCENES]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
