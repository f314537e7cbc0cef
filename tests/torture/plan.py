# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a seed: a list of steps, made before anything runs, the same for the same seed, counts and kind of round.

A step names its victim by role or state and a fraction: which process or job that is, the run decides when it comes to it,
since who has a lane at that moment is not in anybody's hands."""

import hashlib
import json
import random

SESSIONS = ("ada", "bob", "cyd")
CLASSES = ("interactive", "test", "render", "render", "truth")
# Whom a fault is for. A waiter is a blocking call in line, a frozen one the supervisor of a job in a turn.
ROLES = ("holder", "holder", "standby", "standby", "second", "waiter", "job", "job", "frozen")
BACKLOG = 12
# weight, action
MIXED = ((14, "kill"), (10, "stop"), (5, "hup"), (8, "cancel"), (4, "hold"), (4, "release"), (8, "requeue"), (5, "peek"))
ALONE = ((10, "kill"), (10, "stop"), (3, "hup"))


def job(chance, name, longer=1):
    """What one job is to do."""
    ms = chance.choice((0, 1, 5, 10, 20, 30, 40, 60))
    if chance.random() < 0.03:
        ms = 400
    flags = "".join(flag for flag, odds in (("t", 0.12), ("c", 0.06), ("i", 0.03)) if chance.random() < odds)
    return {"name": name, "ms": ms * longer, "code": chance.choice((0, 0, 0, 0, 3)), "flags": flags or "-",
            "session": chance.choice(SESSIONS), "class": chance.choice(CLASSES), "requeue": chance.random() < 0.85}


def fault(chance, action, left):
    step = {"do": action, "role": chance.choice(ROLES), "which": chance.random()}
    if action == "stop":
        # So many steps later it is continued; None: when the round is over and everything else has ended.
        step["for"] = None if left and chance.random() < 0.5 else chance.randint(1, 8)
    return step


def command(chance, action):
    if action == "peek":
        return {"do": "peek", "words": chance.choice((["queue"], ["status"], ["rescue"], ["log"], ["queue", "--all", "--json"]))}
    states = {"cancel": ("pending", "running", "blocking"), "hold": ("pending",), "release": ("held",),
              "requeue": ("running", "ended", "ended")}[action]
    step = {"do": action, "state": chance.choice(states), "which": chance.random()}
    if action == "cancel":
        step["words"] = chance.choice(([], ["--no-wait"]))
    return step


def mixed(chance, numbers, spooled, blocking, actions):
    """Jobs come all the time, and everything is done to them. `after`: so many jobs start before the next step."""
    steps = []
    arrivals = [("submit", f"s{next(numbers)}") for _ in range(spooled)] + [("run", f"r{next(numbers)}") for _ in range(blocking)]
    chance.shuffle(arrivals)
    kinds = ["arrive"] * len(arrivals) + chance.choices([name for _, name in MIXED], [weight for weight, _ in MIXED], k=actions)
    chance.shuffle(kinds)
    # So that there is a line from the start.
    for number, kind in enumerate(["arrive"] * min(BACKLOG, len(arrivals)) + kinds):
        if kind == "arrive" and not arrivals:
            continue
        if kind == "arrive":
            how, name = arrivals.pop()
            step = {"do": how, **job(chance, name)}
        elif kind in ("kill", "stop", "hup"):
            step = fault(chance, kind, left=False)
        else:
            step = command(chance, kind)
        steps.append({**step, "after": 0 if number < BACKLOG else chance.choice((0, 0, 0, 1, 1))})
    return steps


def alone(chance, numbers, spooled, blocking, actions):
    """All jobs are there before the first fault, and nobody calls pgpu from then on: what waits must start by itself."""
    steps = [{"do": "submit", **job(chance, f"s{next(numbers)}", 3), "after": 0} for _ in range(spooled)]
    steps += [{"do": "run", **job(chance, f"r{next(numbers)}", 3), "after": 0} for _ in range(blocking)]
    steps.append({"do": "calm", "after": 0})
    for kind in chance.choices([name for _, name in ALONE], [weight for weight, _ in ALONE], k=actions):
        # One after the other: two deaths within one repair are too many, and that is said.
        steps.append({**fault(chance, kind, left=True), "after": chance.choice((0, 0, 1, 2)), "calm": True})
    steps.append({"do": "calm", "after": 0})
    return steps


def make(seed, rounds):
    """`rounds`: (kind, spooled, blocking, actions) each. Returns the lanes, lost-limit, cells, and the steps of each round."""
    chance = random.Random(seed)
    numbers = iter(range(1, 1_000_000))
    makers = {"mixed": mixed, "alone": alone}
    setting = {"lanes": chance.choice((1, 2, 2, 3)), "lost_limit": chance.choice((0, 3, 3)), "cells": chance.choice(("auto", "auto", "off"))}
    return {**setting, "rounds": [(kind, makers[kind](chance, numbers, *counts)) for kind, *counts in rounds]}


def digest(plan):
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()[:12]
