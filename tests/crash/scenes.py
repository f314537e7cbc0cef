# SPDX-License-Identifier: GPL-3.0-or-later
"""The operations that are broken off: how each is set up, which process is the target, and what must be true afterwards."""

import json
import os
import signal

import folder
from box import PATIENCE_S, Stuck, until


class Scene:
    """`target(box)` is the words of a pgpu command that is the target, or the pid of a process that is there already."""

    crumbs = False  # the setup leaves what a killed writer leaves
    denied = False  # the target is told that it may not do something, which is no error that passes
    alone = True  # the rest of the queue goes on without any call of pgpu

    def setup(self, box):
        pass

    def target(self, box):
        raise NotImplementedError

    def go(self, box, tracer):
        """What happens once the target is traced."""

    def verify(self, box, end):
        """What is wrong once the queue is at rest. `end`: (code, stdout, stderr) of a command that ended by itself, else None."""
        return []

    def set_aside(self, box):
        """Whether a record went to bad/, as one of another user does: it is not this queue's any more."""
        return self.denied and folder.listing(box.queue / "bad")


class Command(Scene):
    alone = False  # a call that is killed may leave to the next call what it was to start


def _records(box):
    return folder.records(box.queue)


def _outcome(box, number):
    where, match = _records(box).get(number, (None, None))
    return match["outcome"] if where == "ended" else where


def _restarts(box, number):
    where, match = _records(box).get(number, (None, None))
    return match and match["restarts"]


def _is(box, number, *outcomes):
    found = _outcome(box, number)
    return [] if found in outcomes else [f"job {number} is {found}, not {' or '.join(map(str, outcomes))}"]


def _after_order(box, number, end, obeyed, ignored):
    """A command that said yes was obeyed; one that did not may have been, or not."""
    return _is(box, number, obeyed) if end and end[0] == 0 else _is(box, number, obeyed, ignored)


class Submit(Command):
    """A submit behind a busy lane: a standby is appointed for it."""

    header = ""

    def setup(self, box):
        box.holder()
        self.path = box.file("new", box.script(), self.header)

    def target(self, box):
        return ["submit", self.path]

    def verify(self, box, end):
        number = end[1].strip() if end else ""
        there = [found for found in _records(box) if found not in box.jobs]
        if end and end[0] == 0 and not number:
            return ["it says yes and prints no id"]
        if number:
            return _is(box, number, "completed")
        if end and end[0] != 0 and there and there[0] not in end[2]:
            return [f"it failed and left job {there[0]}"]
        return []


class SubmitFree(Submit):
    """A submit that finds a free lane: a worker is started on it."""

    def setup(self, box):
        self.path = box.file("new", box.script(), self.header)


class SubmitArray(Submit):
    """An array that waits for another job."""

    def setup(self, box):
        box.holder()
        self.header = f"array: 1-3\nafter: afterok:{box.submit('first', box.script())}\n"
        self.path = box.file("new", box.script(), self.header)

    def verify(self, box, end):
        tasks = sorted(number for number in _records(box) if "_" in number)
        if end and end[0] == 0:
            number = end[1].strip()
            return [wrong for task in (1, 2, 3) for wrong in _is(box, f"{number}_{task}", "completed")]
        if tasks and len(tasks) != 3:
            return [f"only the tasks {tasks}"]
        return []


class Pending(Command):
    """A command on a job that waits behind a busy lane."""

    def setup(self, box):
        box.holder()
        self.number = box.submit("waits", box.script())


class Update(Pending):
    """Its nice is in the record's name, its limit in the text: both change or none."""

    def target(self, box):
        return ["update", self.number, "nice=5", "limit=33m", "memory=3G"]

    def verify(self, box, end):
        wrong = _is(box, self.number, "completed")
        shown = json.loads(box.call("show", "--json", self.number).stdout)
        new = (shown["nice"] == 5, shown["limit_s"] == 1980, shown["memory_bytes"] == 3 << 30)
        if len(set(new)) != 1:
            wrong.append(f"half of an update: nice {shown['nice']}, limit {shown['limit_s']}, memory {shown['memory_bytes']}")
        if end and (end[0] == 0) != new[0] and not (new[0] and "which is changed" in end[2]):
            wrong.append(f"it ended with {end[0]}, and the job {'is' if new[0] else 'is not'} changed")
        return wrong


class CancelPending(Pending):
    def target(self, box):
        return ["cancel", self.number]

    def verify(self, box, end):
        return _after_order(box, self.number, end, "cancelled", "completed")


class Hold(Pending):
    def target(self, box):
        return ["hold", self.number]

    def verify(self, box, end):
        return _after_order(box, self.number, end, "pending", "completed")


class Release(Pending):
    def setup(self, box):
        super().setup(box)
        box.call("hold", self.number)

    def target(self, box):
        return ["release", self.number]

    def verify(self, box, end):
        return _after_order(box, self.number, end, "completed", "pending")


class Running(Command):
    """A command on a spooled job that runs."""

    def setup(self, box):
        self.number = box.submit("runs", box.script(box.gate("runs").text()))
        box.gate("runs").reached()


class CancelRunning(Running):
    def target(self, box):
        return ["cancel", self.number]

    def verify(self, box, end):
        return _after_order(box, self.number, end, "cancelled", "completed")


class RequeueRunning(Running):
    def target(self, box):
        return ["requeue", self.number]

    def go(self, box, tracer):
        tracer.process.wait()

    def verify(self, box, end):
        wrong = _is(box, self.number, "completed", "cancelled")
        if end and end[0] == 0 and _restarts(box, self.number) == "0":
            wrong.append("requeued, and no restart is counted")
        return wrong


class RequeueEnded(Command):
    def setup(self, box):
        self.number = box.submit("over", box.script())
        box.call("wait", self.number)

    def target(self, box):
        return ["requeue", self.number]

    def verify(self, box, end):
        wrong = _is(box, self.number, "completed")
        restarts = _restarts(box, self.number)
        if end and end[0] == 0 and restarts != "1":
            wrong.append(f"requeued, and {restarts} restarts are counted")
        return wrong


class Run(Command):
    """A blocking job that finds a free lane, and a spooled one behind it."""

    def target(self, box):
        return ["run", "-q", "--", "sh", "-c", box.script()]

    def verify(self, box, end):
        begun = [mark for mark in box.marks() if mark[0] == "begin"]
        if end and end[0] == 0 and len(begun) != 1:
            return [f"it says yes, and its job began {len(begun)} times"]
        return [] if len(begun) <= 1 else ["its job began twice"]


class RunWaits(Scene):
    """A blocking job from its first step in line to its end, with a spooled job behind it."""

    def setup(self, box):
        box.holder()
        self.after = box.submit("behind", box.script())

    def target(self, box):
        return ["run", "-q", "--", "sh", "-c", box.script()]

    def go(self, box, tracer):
        until("it waits", lambda: tracer.process.poll() is not None or os.listdir(box.boot / "tickets"))
        box.gate("holder").open()

    def verify(self, box, end):
        return _is(box, self.after, "completed")


class HolderEnds(Scene):
    """The wrapper of a blocking job from its job's end on: a run and a spooled job wait for its lane."""

    def setup(self, box):
        self.wrapper = box.holder().pid
        self.waits = box.start(["run", "-q", "--", "sh", "-c", box.script()])
        until("a run waits", lambda: os.listdir(box.boot / "tickets"))
        self.after = box.submit("behind", box.script())

    def target(self, box):
        return self.wrapper

    def go(self, box, tracer):
        box.gate("holder").open()

    def verify(self, box, end):
        code = self.waits.wait(timeout=30)
        return _is(box, self.after, "completed") + ([f"the run that waited ends with {code}"] if code else [])


class HandOn(Scene):
    """A worker that is standby: it takes a task of an array, its last task, a job that waits for the array, and leaves."""

    def setup(self, box):
        box.holder()
        array = box.submit("array", box.script(), "array: 1-2\n")
        self.numbers = [f"{array}_1", f"{array}_2", box.submit("after", box.script(), f"after: afterok:{array}\n")]
        until("a worker is standby", lambda: box.owner("standby"))

    def target(self, box):
        return box.owner("standby")

    def go(self, box, tracer):
        box.gate("holder").open()

    def told(self, box):
        return any((box.queue / "reasons" / number).exists() for number in self.numbers)

    def verify(self, box, end):
        if self.denied and self.told(box):
            return []
        return [wrong for number in self.numbers for wrong in _is(box, number, "completed")]


class WorkerStarts(Scene):
    """A worker from its first instruction: it is stopped as it is executed, and its spawner with it, until it is traced."""

    def setup(self, box):
        path = box.file("new", box.script())
        self.spawner = box.start_stopped(["submit", path])
        first = box.trace(self.spawner.pid, "trace=execve,poll", "inject=execve:signal=STOP:when=1", "inject=poll:delay_enter=9s:when=2+")
        os.kill(self.spawner.pid, signal.SIGCONT)
        until("it is pgpu", lambda: box.is_stopped(self.spawner.pid) and box.words(self.spawner.pid)[1:2] == [b"submit"])
        os.kill(self.spawner.pid, signal.SIGCONT)
        self.worker = until("a worker starts", lambda: next((pid for pid in box.pids() if box.words(pid)[1:3] == [b"worker", b"0"] and
                                                             box.is_stopped(pid)), None))
        until("its spawner waits for it", lambda: box.status(self.spawner.pid, "State") == "t")
        os.kill(self.spawner.pid, signal.SIGSTOP)
        first.terminate()
        first.wait(timeout=PATIENCE_S)

    def target(self, box):
        return self.worker

    def go(self, box, tracer):
        for pid in box.of_pgpu():
            os.kill(pid, signal.SIGCONT)

    def verify(self, box, end):
        if self.denied and folder.listing(box.queue / "reasons"):
            return []
        return [wrong for number in _records(box) for wrong in _is(box, number, "completed")] or \
            ([] if _records(box) else ["the job is gone"])


class Turn(Scene):
    """The wrapper of a blocking job that steps aside for another, and comes back."""

    def setup(self, box):
        gate = box.gate("holder")
        text = box.script(f"{gate.text()}; {box.pgpu} turn", alone=False)
        self.wrapper = box.holder(script=text)
        self.waits = box.start(["run", "-q", "--class", "interactive", "--", "sh", "-c", box.script(alone=False)])
        until("a run waits", lambda: os.listdir(box.boot / "tickets"))

    def target(self, box):
        return self.wrapper.pid

    def go(self, box, tracer):
        box.gate("holder").open()

    def verify(self, box, end):
        code = self.waits.wait(timeout=30)
        return [f"the run that waited ends with {code}"] if code else []


class Dead(Command):
    """A rescue of a job whose worker was killed, and everybody else with it, an order to hold back and a half-written record."""

    crumbs = True

    def setup(self, box):
        self.number = box.submit("lost", box.script(box.gate("lost").text()))
        box.gate("lost").reached()
        for sign in signal.SIGSTOP, signal.SIGKILL:
            for pid in box.of_pgpu():
                os.kill(pid, sign)
        until("they are gone", lambda: not box.of_pgpu())
        (box.queue / "pending" / f".99:test:work:0.{os.getpid()}").write_text("half")

    def target(self, box):
        return ["rescue"]

    def verify(self, box, end):
        wrong = _is(box, self.number, "completed")
        if _restarts(box, self.number) not in ("1", "2"):
            wrong.append("its restart is not counted")
        return wrong


class Boot(Dead):
    """The first call after a boot: the sweep."""

    def setup(self, box):
        super().setup(box)
        box.kill_all()
        until("no cell outlives the machine", box.remove_cells)
        (box.queue / "orders" / "77.cancel").touch()
        box.boot.rename(box.queue / "boot-00000000-0000-0000-0000-000000000000")


SCENES = {
    "submit": Submit, "submit-free": SubmitFree, "submit-array": SubmitArray, "update": Update, "cancel-pending": CancelPending,
    "cancel-running": CancelRunning, "hold": Hold, "release": Release, "requeue-ended": RequeueEnded,
    "requeue-running": RequeueRunning, "run": Run, "run-waits": RunWaits, "holder-ends": HolderEnds, "hand-on": HandOn, "worker-starts": WorkerStarts,
    "turn": Turn, "rescue": Dead, "boot": Boot,
}
