# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out the plan of a seed against a real queue, waits until that is empty, and has every job accounted for.

    torture.py --build BUILD [--seed N] [--short | --rounds whole|KIND:SPOOLED:BLOCKING:ACTIONS,...] [--cells auto|off] [--plan] [--keep]

Prints TAP. README.md in this folder says what each action may do and what the accounting must say."""

import argparse
import collections
import os
import pathlib
import secrets
import signal
import sys
import time

import oracle
import plan as plans
import sandbox as sandboxes

PULSE_PATIENCE_S = 0.1  # a step does not wait longer than this for jobs to start: they may all be stopped
STUCK_S = 90            # a guard: nothing has moved for so long, and something could
CALM_S = 30             # the same, of the line after one fault

# KIND:SPOOLED:BLOCKING:ACTIONS of each round
WHOLE = "mixed:900:90:900,alone:200:20:60,mixed:700:70:700,alone:200:20:60"
SHORT = "mixed:90:16:80,alone:30:4:8"

SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "hup": signal.SIGHUP}


class Stuck(Exception):
    pass


class Torture:
    def __init__(self, args, plan):
        self.args, self.plan = args, plan
        lost = f"lost-limit = {plan['lost_limit']}"
        self.box = sandboxes.Sandbox(args.build, f"lanes = {plan['lanes']}\n{lost}\ngrace = \"1s\"\ncells = \"{plan['cells']}\"\n"
                                     "class \"truth\" { turns-as-after-wait = \"1s\" }\n")
        self.pulse = self.box.root / "pulse"
        self.pulse.touch()
        self.spooled, self.runs = {}, {}  # name -> {plan of the job, id} / {plan of the job, process}
        self.calls = []     # commands of ours, as they were and what came of them
        self.faults = []    # signals that were sent
        self.stopped = []   # [steps left or None, process, role]
        self.counts = collections.Counter()
        self.violations = []

    # --- jobs

    def words(self, job):
        return ["-J", job["name"], "--as", job["session"], "-p", job["class"]]

    def command(self, job):
        return ["--", f"{self.args.build}/tests/torture/job", f"{self.box.root}/marks/{job['name']}", str(self.pulse),
                f"{self.box.root}/slot", str(self.plan["lanes"]), str(job["ms"]), str(job["code"]), job["flags"]]

    def do_submit(self, step):
        back = [] if step["requeue"] else ["--no-requeue"]
        done = self.box.call("submit", *self.words(step), "-o", "/dev/null", *back, *self.command(step))
        if done.returncode != 0 or not done.stdout.strip().isdigit():
            self.violations.append(f"submit of {step['name']}: code {done.returncode}, {done.stdout!r}, {done.stderr!r}")
            return
        self.spooled[step["name"]] = {**step, "id": done.stdout.strip()}

    def do_run(self, step):
        with open(self.box.root / "calls" / step["name"], "wb") as said:
            process = self.box.start("run", "-q", *self.words(step), *self.command(step), stderr=said)
        self.runs[step["name"]] = {**step, "process": process, "start": sandboxes.start_of(process.pid)}

    # --- faults

    def victims(self, role):
        """(pid, start, id of the job) of those in that role now."""
        if role in ("standby", "second"):
            seat = self.box.seat(role)
            return [(*seat["owner"], "")] if seat.get("state") in ("running", "granted") and seat["owner"][0] else []
        if role in ("holder", "job"):
            key = "owner" if role == "holder" else "main"
            return [(*lane[key], lane.get("job", "")) for lane in self.box.lanes()
                    if lane.get("state") in ("running", "completing") and lane[key][0]]
        states = ("waiting",) if role == "waiter" else ("frozen",)
        return [(*entry["owner"], entry.get("job", "")) for _, entry in self.box.tickets() if entry.get("state") in states]

    def do_fault(self, step):
        if step.get("calm"):
            self.do_calm(step)
        found = self.victims(step["role"])
        if not found:
            self.counts[f"{step['do']} nobody"] += 1
            return
        pid, start, job = found[int(step["which"] * len(found))]
        if not self.box.signal(pid, start, SIGNALS[step["do"]]):
            self.counts[f"{step['do']} nobody"] += 1
            return
        await_effect((pid, start), step["do"])
        self.faults.append({"do": step["do"], "role": step["role"], "process": (pid, start), "job": job, "at": time.monotonic_ns()})
        self.counts[f"{step['do']} {step['role']}"] += 1
        if step["do"] == "stop":
            self.stopped.append([step["for"], (pid, start), step["role"]])

    do_kill = do_stop = do_hup = do_fault

    def continue_stopped(self, everyone=False):
        left = []
        for steps, process, role in self.stopped:
            if everyone or steps == 0:
                self.counts["cont"] += self.box.signal(*process, signal.SIGCONT)
            else:
                left.append([steps if steps is None else steps - 1, process, role])
        self.stopped = left

    # --- commands

    def ids(self, state):
        """Jobs in that state, by the files; the newest last."""
        if state == "blocking":
            entries = [entry for _, entry in self.box.tickets()] + self.box.lanes()
            return [entry["job"] for entry in entries if entry.get("kind", "run") == "run" and entry.get("job")]
        names = [name for name in self.box.names("pending" if state == "held" else state) if not name.startswith(".")]
        if state in ("pending", "held"):
            names = [name for name in names if name.endswith(":h") == (state == "held")]
        return [name.split(":")[0] for name in sorted(names, key=lambda name: int(name.split(":")[0]))]

    def call(self, *words, job=None):
        """Not waited for: a cancel of a job whose supervisor is stopped takes its time."""
        out = self.box.root / "calls" / str(len(self.calls))
        with open(f"{out}.out", "wb") as said, open(f"{out}.err", "wb") as complained:
            began = time.monotonic_ns()
            process = self.box.start(*words, stdout=said, stderr=complained)
        self.calls.append({"do": words[0], "words": words, "job": job, "process": process, "began": began, "ended": None, "out": out})
        self.counts[words[0]] += 1

    def reap(self):
        """How many of our calls have not returned."""
        open_calls = 0
        for call in self.calls:
            if call["ended"] is None and call["process"].poll() is not None:
                call["ended"] = time.monotonic_ns()
                call["stdout"] = pathlib.Path(f"{call['out']}.out").read_text(encoding="utf-8")
                call["stderr"] = pathlib.Path(f"{call['out']}.err").read_text(encoding="utf-8")
            open_calls += call["ended"] is None
        return open_calls

    def do_command(self, step):
        ids = self.ids(step["state"])
        # At most four calls at a time: they are not what is tested for load.
        if not ids or self.reap() >= 4:
            self.counts[f"{step['do']} nobody"] += 1
            return
        # Among the last 20: the others were long ago.
        late = ids[-20:]
        job = late[int(step["which"] * len(late))]
        self.call(step["do"], *step.get("words", []), job, job=job)

    do_cancel = do_hold = do_release = do_requeue = do_command

    def do_peek(self, step):
        if self.reap() < 4:
            self.call(*step["words"])

    # --- what the line needs after a fault

    def needs(self):
        """Something waits that could start, or a spooled job runs."""
        waits = [name for name in self.box.names("pending") if not name.startswith(".") and not name.endswith(":h")]
        tickets = [name for name, _ in self.box.tickets() if not name.endswith(":passed") and not name.endswith(":frozen")]
        return bool(waits or tickets or self.box.names("running"))

    def is_calm(self):
        """What tests/model/README.md says must hold: the standby's seat is filled, and two of those who watch can do so."""
        if not self.needs():
            return True
        standby, second = self.box.seat("standby"), self.box.seat("second")
        holders = [lane for lane in self.box.lanes() if lane.get("state") in ("running", "completing")]
        begun = [entry for _, entry in self.box.tickets() if entry.get("state") == "frozen"]
        if not all(sandboxes.alive(entry["owner"]) for entry in holders + begun):
            return False
        watchers = holders + [standby, second]
        living = {seat["owner"] for seat in watchers if seat and seat["owner"][0] and sandboxes.alive(seat["owner"], stopped=False)}
        # Nobody who died, or was stopped, is the standby; and of those who watch there are two.
        return bool(standby) and standby["owner"] in living and len(living) >= 2

    def wake_lone_standby(self):
        """A standby looks once in five minutes whether all others are stopped, and nobody else does: it is told to look now."""
        standby, second = self.box.seat("standby"), self.box.seat("second")
        holders = [lane for lane in self.box.lanes() if lane.get("state") in ("running", "completing")]
        stopped = [sandboxes.alive(lane["owner"]) and not sandboxes.alive(lane["owner"], stopped=False) for lane in holders]
        stopped += [not sandboxes.alive(second["owner"], stopped=False)] if second.get("owner", (0, 0))[0] else []
        if all(stopped) and standby:
            self.counts["lone standby"] += self.box.signal(*standby["owner"], signal.SIGURG)

    def do_calm(self, _step):
        end = time.monotonic() + CALM_S
        if not self.is_calm():
            self.wake_lone_standby()
        while not self.is_calm():
            if time.monotonic() > end:
                raise Stuck(f"the roles were not filled within {CALM_S} s of a fault: {self.faults[-1:]}")
            time.sleep(0.01)

    # --- the end of a round

    def at_rest(self, but=()):
        """Nothing waits but what is held, and nothing runs; `but`: owners of tickets that do not count."""
        waits = [name for name in self.box.names("pending") if not name.startswith(".") and not name.endswith(":h")]
        # That of a dead one is removed by who comes next.
        tickets = [name for name, entry in self.box.tickets() if entry["owner"] not in but and sandboxes.alive(entry["owner"])]
        lanes = [lane for lane in self.box.lanes() if lane.get("state") != "free" and lane["owner"] not in but]
        runs = [run for run in self.runs.values() if run["process"].poll() is None and (run["process"].pid, run["start"]) not in but]
        away = {entry["job"] for _, entry in self.box.tickets() if entry["owner"] in but}
        running = [name for name in self.box.names("running") if name.split(":")[0] not in away]
        return not (waits or tickets or lanes or runs or running)

    def moved(self):
        """Changes whenever anything has."""
        folders = tuple(os.stat(self.box.queue / name).st_mtime_ns for name in ("pending", "running", "ended"))
        lanes = tuple((lane.get("gen"), lane.get("state")) for lane in self.box.lanes())
        return folders, lanes, self.pulse.stat().st_size, sum(run["process"].poll() is None for run in self.runs.values()), self.reap()

    def drain(self, what, but=None):
        """Until all is at rest; nobody calls pgpu. A guard, no measure: STUCK_S without any change."""
        last, since = self.moved(), time.monotonic()
        while not self.at_rest(but() if but else ()) or self.reap():
            time.sleep(0.01)
            now = self.moved()
            if now != last:
                last, since = now, time.monotonic()
            if time.monotonic() - since > STUCK_S:
                raise Stuck(what)

    def left_stopped(self):
        """Who is stopped in line, or while its job is frozen there, stays so while all others go on."""
        waiting = {entry["owner"] for _, entry in self.box.tickets()}
        # A wrapper that is stopped, or was killed, keeps its lane until somebody waits for it: nobody watches it before.
        blocking = {lane["owner"] for lane in self.box.lanes() if lane.get("kind", "run") == "run"}
        left = {process for _, process, _ in self.stopped if process in waiting | blocking and not sandboxes.alive(process, stopped=False)}
        return left if self.needs() else left | {owner for owner in blocking if not sandboxes.alive(owner)}

    def run_round(self, kind, steps):
        for step in steps:
            end, before = time.monotonic() + PULSE_PATIENCE_S, self.pulse.stat().st_size
            while self.pulse.stat().st_size < before + step["after"] and time.monotonic() < end:
                time.sleep(0.002)
            self.continue_stopped()
            getattr(self, f"do_{step['do']}")(step)
            self.reap()
        # A job that is stopped has a lane until somebody continues it: that is for who stopped it. The rest is not.
        for entry in self.stopped:
            entry[0] = 0 if entry[2] == "job" else entry[0]
        if kind == "alone":
            self.stopped, jobs = [e for e in self.stopped if e[2] != "job"], [e for e in self.stopped if e[2] == "job"]
            for _, process, _ in jobs:
                self.counts["cont"] += self.box.signal(*process, signal.SIGCONT)
            self.drain("while those that were stopped in line stay stopped", but=self.left_stopped)
        self.continue_stopped(everyone=True)
        # Faults upon faults may have met two watchers within one repair: that is what the next call is for.
        if kind == "mixed":
            self.call("queue")
        self.drain(f"at the end of a {kind} round")

    def release_held(self):
        """Held by us, or lost too often: then its restarts say so."""
        for _ in range(20):
            held = self.ids("held")
            if not held:
                return
            self.call("release", *held)
            while self.reap():
                time.sleep(0.01)
            self.drain("after the release of all that were held")
        self.violations.append(f"jobs are held again and again: {held}")

    def watch_end(self):
        """Nothing waits: whoever watched goes home."""
        end = time.monotonic() + STUCK_S
        while pids := self.box.pids():
            if time.monotonic() > end:
                left = "; ".join(f"{pid} {sandboxes.describe(pid)}" for pid in pids)
                raise Stuck(f"the queue is empty and there are still processes: {left}")
            time.sleep(0.02)

    def go(self):
        try:
            for kind, steps in self.plan["rounds"]:
                self.run_round(kind, steps)
                self.violations += oracle.check_held(self)
                self.release_held()
            self.watch_end()
        except Stuck as stuck:
            self.violations.append(f"STUCK: {stuck}")
            self.violations += self.box.dump()
            self.violations += self.box.call("queue").stdout.splitlines()
            return
        self.violations += oracle.check(self)


def await_effect(process, action):
    """A signal that ends or stops takes a moment; who counts the living meanwhile counts one too many."""
    end = time.monotonic() + 1
    while action != "hup" and sandboxes.alive(process, stopped=action != "stop") and time.monotonic() < end:
        time.sleep(0.001)


def rounds_of(text):
    text = WHOLE if text == "whole" else text
    return [(kind, *map(int, counts)) for kind, *counts in (part.split(":") for part in text.split(","))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--rounds", default="whole")
    parser.add_argument("--short", dest="rounds", action="store_const", const=SHORT)
    parser.add_argument("--cells", choices=("auto", "off"), help="instead of what the seed says")
    parser.add_argument("--plan", action="store_true", help="print the plan and do nothing")
    parser.add_argument("--keep", action="store_true", help="leave the sandbox's files")
    args = parser.parse_args()
    args.build = os.path.realpath(args.build)
    seed = args.seed if args.seed is not None else secrets.randbelow(1_000_000_000)
    plan = plans.make(seed, rounds_of(args.rounds))
    plan["cells"] = args.cells or plan["cells"]
    print(f"# seed {seed}, plan {plans.digest(plan)}: lanes {plan['lanes']}, lost-limit {plan['lost_limit']}, cells {plan['cells']}", flush=True)
    if args.plan:
        for kind, steps in plan["rounds"]:
            print(f"# {kind}", *steps, sep="\n")
        return 0

    began = time.monotonic()
    torture = Torture(args, plan)
    try:
        torture.go()
    finally:
        for line in torture.violations:
            print(f"# {line}")
        if torture.violations:
            print(*(f"# {fault}" for fault in torture.faults), sep="\n")
            print(*(f"# {call['words']}, {call['began']} to {call['ended']}, code {call['process'].returncode}" for call in torture.calls), sep="\n")
        what = f"every job is accounted for exactly once ({len(torture.spooled)} spooled, {len(torture.runs)} blocking)"
        print(f"# {time.monotonic() - began:.0f} s; " + ", ".join(f"{name} {count}" for name, count in sorted(torture.counts.items())))
        if args.keep:
            torture.box.kill_all()
            print(f"# kept: {torture.box.root}")
        else:
            torture.box.close()
    print(f"not ok {what}: make torture SEED={seed}" if torture.violations else f"ok {what}", flush=True)
    return 1 if torture.violations else 0


if __name__ == "__main__":
    sys.exit(main())
