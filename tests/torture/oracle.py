# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be so when a torture is over: README.md, What the accounting must say. Each check returns a list of violations."""

import collections
import json
import os
import signal
import time

CANCELLED = 128 + signal.SIGTERM
LOST = 125
REPAIR_S = 2.5
SIGNALS = {"kill": signal.SIGKILL, "hup": signal.SIGHUP}


def read_marks(box, name):
    """The lines of a job's own file, as (what, id, attempt, time, pid)."""
    path = box.root / "marks" / name
    if not path.exists():
        return []
    marks = []
    for line in path.read_text(encoding="utf-8").splitlines():
        what, job, attempt, at, pid = line.split()
        marks.append((what, job, int(attempt), int(at), int(pid)))
    return marks


def starts_of(marks):
    return [mark for mark in marks if mark[0] == "start"]


def ends_of(marks):
    return [mark for mark in marks if mark[0] == "end"]


class Ledger:
    """Everything that is known at the end: by the queue, by the log, by the jobs' own files, by who did what to whom."""

    def __init__(self, torture):
        box = torture.box
        self.torture = torture
        self.jobs = collections.defaultdict(list)
        for entry in json.loads(box.call("queue", "--all", "--json").stdout):
            self.jobs[entry["id"]].append(entry)
        self.rows = collections.defaultdict(list)
        for row in json.loads(box.call("log", "--json").stdout):
            if row["outcome"] != "turn":
                self.rows[row["job"]].append(row)
        self.marks = {name: read_marks(box, name) for name in {**torture.spooled, **torture.runs}}
        self.calls = collections.defaultdict(list)
        for call in torture.calls:
            for word in call["words"][1:]:
                self.calls[word].append(call)
        self.rows_missing = 0  # whoever is killed before he wrote a row has not written it
        self.files = collections.Counter(name.split(":")[0] for name in box.names("ended"))

    def ids_of(self, name):
        """Of a blocking call, which tells nobody its id but its job."""
        rows = {job for job, rows in self.rows.items() if any(row["name"] == name for row in rows)}
        return rows | {mark[1] for mark in self.marks[name]}

    def called(self, job, command):
        return [call for call in self.calls[job] if call["do"] == command]

    def agreed(self, job, command):
        """Those that said that they did it."""
        return [call for call in self.called(job, command) if (job in call["stdout"].split() if command == "cancel" else call["process"].returncode == 0)]

    def sent(self, job, *actions):
        """Somebody was sent such a signal while he had this job, as far as was seen."""
        return [fault for fault in self.torture.faults if fault["do"] in actions and fault["job"] == job]


def check_held(torture):
    """Between rounds: whatever is held is held by our word, or because it was lost too often."""
    asked = {call["job"] for call in torture.calls if call["do"] == "hold"}
    limit = torture.plan["lost_limit"]
    wrong = []
    for name in torture.box.names("pending"):
        if name.endswith(":h"):
            job, _, _, restarts, *_ = name.split(":")
            if job not in asked and not (limit and int(restarts) >= limit):
                wrong.append(f"job {job} is held, and nobody asked for that: {name}")
    return wrong


def check_spooled(ledger, job, marks):
    """One job that was submitted."""
    found = ledger.jobs[job["id"]]
    who = f"job {job['id']} ({job['name']})"
    if len(found) != 1 or ledger.files[job["id"]] != 1:
        return [f"{who} is {len(found)} times in the queue and has {ledger.files[job['id']]} records in ended/"]
    entry, rows, starts = found[0], ledger.rows[job["id"]], starts_of(marks)
    restarts, outcome, code = entry["restarts"], entry["state"], entry["exit_code"]
    who += f", {outcome} {code}, {restarts} restarts, marks {[(m[0], m[2]) for m in marks]}, rows {[(r['outcome'], r['exit_code']) for r in rows]}"
    last = [mark for mark in marks if mark[2] == restarts and mark[0] in ("start", "end")]
    wrong = []

    if any(mark[1] != job["id"] for mark in marks):
        wrong.append(f"{who}: it was told another id")
    if len({mark[2] for mark in starts}) != len(starts) or any(mark[2] > restarts for mark in starts):
        wrong.append(f"{who}: it was started twice and its restart count does not say so")
    if len(rows) > restarts + 1:
        wrong.append(f"{who}: more rows than starts")
    ledger.rows_missing += max(0, len(starts) - len(rows))
    if outcome != "cancelled" and (outcome, code) not in [(row["outcome"], row["exit_code"]) for row in rows]:
        wrong.append(f"{who}: the log does not say so")
    if outcome in ("completed", "failed") and code == job["code"]:
        if [mark[0] for mark in last] != ["start", "end"] or (code == 0) != (outcome == "completed"):
            wrong.append(f"{who}: its own file says otherwise")
    elif outcome == "failed":
        by = {128 + signal.SIGKILL: "kill", 128 + signal.SIGHUP: "hup"}.get(code)
        if not by or not ledger.sent(job["id"], by):
            wrong.append(f"{who}: nobody sent it that")
    elif outcome == "cancelled":
        if not ledger.called(job["id"], "cancel") or code != CANCELLED:
            wrong.append(f"{who}: nobody cancelled it")
    elif outcome == "lost":
        if job["requeue"] or code != LOST:
            wrong.append(f"{who}: it was to go back in line")
    else:
        wrong.append(f"{who}: no outcome that it may have")
    return wrong + check_orders(ledger, job, entry, starts, who)


def check_orders(ledger, job, entry, starts, who):
    """What people asked of a spooled job and were told is done."""
    wrong = []
    requeues = ledger.called(job["id"], "requeue")
    for call in ledger.agreed(job["id"], "cancel"):
        if entry["state"] != "cancelled" and not any(again["ended"] > call["began"] for again in requeues):
            wrong.append(f"{who}: its cancel was agreed to")
    for call in ledger.agreed(job["id"], "hold"):
        freed = [other["began"] for other in ledger.called(job["id"], "release") if other["ended"] > call["began"]]
        # Requeued after its end it is not held any more; to be held it must have waited, so it ended by a cancel.
        freed += [other["began"] for other in requeues if other["ended"] > call["began"]]
        until = min(freed, default=float("inf"))
        if any(call["ended"] < mark[3] < until for mark in starts):
            wrong.append(f"{who}: it started while it was held")
    # Twice while it runs is once.
    if ledger.agreed(job["id"], "requeue") and not ledger.called(job["id"], "cancel") and entry["restarts"] == 0:
        wrong.append(f"{who}: it was requeued")
    return wrong


def check_run(ledger, run, marks):
    """One blocking call."""
    name, code, starts = run["name"], run["process"].returncode, starts_of(marks)
    ids = ledger.ids_of(name)
    rows = [row for job in ids for row in ledger.rows[job]]
    who = f"run {name} (job {'/'.join(ids) or '?'}), exit code {code}, marks {[m[0] for m in marks]}, rows {[(r['outcome'], r['exit_code']) for r in rows]}"
    told = (ledger.torture.box.root / "calls" / name).read_text(encoding="utf-8", errors="replace").strip()
    who += f", said {told!r}" if told else ""
    job = next(iter(ids), None)
    faults = [fault["do"] for fault in ledger.torture.faults if fault["process"] == (run["process"].pid, run["start"])]
    wrong = []

    if len(ids) > 1 or len(starts) > 1 or len(rows) > 1:
        wrong.append(f"{who}: more than once")
    if starts and not rows and "kill" in faults:
        ledger.rows_missing += 1
    elif starts and not rows:
        wrong.append(f"{who}: a start that is not in the log")
    if code == -signal.SIGKILL:
        if "kill" not in faults:
            wrong.append(f"{who}: nobody killed it")
        return wrong
    if starts and rows and rows[0]["exit_code"] != code:
        wrong.append(f"{who}: the log says otherwise")
    if code == run["code"] and len(starts) == 1 and len(ends_of(marks)) == 1:
        if rows and rows[0]["outcome"] != ("failed" if code else "completed"):
            wrong.append(f"{who}: the log's outcome says otherwise")
    elif code == 128 + signal.SIGKILL:
        if not ledger.sent(job, "kill"):
            wrong.append(f"{who}: nobody killed its job")
    elif code in (128 + signal.SIGHUP, -signal.SIGHUP):
        if "hup" not in faults and not ledger.sent(job, "hup"):
            wrong.append(f"{who}: nobody hung it up")
    elif code == CANCELLED:
        cancels = [call for call in ledger.torture.calls if call["do"] == "cancel"]
        if not (ledger.called(job, "cancel") if job else cancels):
            wrong.append(f"{who}: nobody cancelled it")
    else:
        wrong.append(f"{who}: no way that it may end")
    return wrong


def check_queue(torture, ledger):
    """The queue, its folders and the machine when all is over."""
    box, wrong = torture.box, []
    ids = {job["id"] for job in torture.spooled.values()}
    for job, found in ledger.jobs.items():
        if found[0]["kind"] == "spool" and job not in ids:
            wrong.append(f"job {job} was never submitted")
    for folder in ("pending", "running", "orders", "bad", "tasks"):
        names = [name for name in box.names(folder) if folder != "orders" or name.split(".")[0] in ids]
        if names:
            wrong.append(f"{folder}/ is not empty: {names}")
    # An order for a blocking call stays when that was killed; its id never comes again.
    killed_runs = sum(run["process"].returncode == -signal.SIGKILL for run in torture.runs.values())
    orders = {name.split(".")[0] for name in box.names("orders")} - ids
    if len(orders) > killed_runs:
        wrong.append(f"orders to blocking calls are left: {sorted(orders)}, of {killed_runs} that were killed")
    if box.tickets():
        wrong.append(f"tickets are left: {box.tickets()}")
    for lane in box.lanes():
        if lane["state"] != "free":
            wrong.append(f"a lane is not free: {lane}")
    # What a killed process leaves there is its own, and known.
    killed = {"%d-%d" % fault["process"] for fault in torture.faults if fault["do"] in ("kill", "hup")}
    for name in os.listdir(box.runtime):
        if not name.startswith(("said-", "asked-", "mortal-")) and name.split(".")[0] not in killed:
            wrong.append(f"a file is left in the runtime folder: {name}")
    if cells := box.cells():
        wrong.append(f"cells are left: {cells}")
    deaths = sum(fault["do"] in ("kill", "hup") and fault["role"] != "job" for fault in torture.faults)
    requeues = sum(call["do"] == "requeue" and call["process"].returncode == 0 for call in torture.calls)
    restarts = sum(found[0]["restarts"] or 0 for found in ledger.jobs.values() if found[0]["kind"] == "spool")
    if ledger.rows_missing > deaths:
        wrong.append(f"{ledger.rows_missing} rows are missing in the log, of {deaths} killed supervisors")
    if restarts > deaths + requeues:
        wrong.append(f"{restarts} restarts, of {deaths} killed supervisors and {requeues} requeues")
    return wrong


def check_calls(torture):
    """Commands end as they are documented: 0, or 1 with a line that says why.

    Or by our signal: whoever clears up after a dead one is its lane's owner meanwhile."""
    wrong = []
    sent = {(fault["process"][0], -SIGNALS[fault["do"]]) for fault in torture.faults if fault["do"] in SIGNALS}
    for call in torture.calls:
        code = call["process"].returncode
        if (call["process"].pid, code) in sent:
            continue
        if code not in (0, 1) or (code == 1 and not call["stderr"].startswith("pgpu: ")):
            wrong.append(f"pgpu {' '.join(call['words'])}: exit code {code}, {call['stderr'].strip()!r}")
    return wrong


def check_overlaps(ledger):
    """Each job that found no slot, and whose the slots were."""
    wrong = []
    folder = ledger.torture.box.root / "marks"
    for path in sorted(folder.glob("*.lanes")):
        wrong += [f"{path.stem}: {line}" for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    jobs = {mark[4]: (name, mark) for name, marks in ledger.marks.items() for mark in marks if mark[0] == "start"}
    for name, marks in ledger.marks.items():
        for mark in marks:
            if mark[0] in ("overlap", "beside"):
                wrong.append(f"{name} {mark}: " + ("more jobs live than there are lanes" if mark[0] == "overlap" else f"{jobs.get(mark[4])}"))
    return wrong


def check(torture):
    # What is missing in the log it writes again, but no row that a worker may be about to write: 2 s.
    time.sleep(REPAIR_S)
    rescued = torture.box.call("rescue")
    wrong = check_calls(torture)
    if rescued.returncode != 0:
        wrong.append(f"rescue: {rescued.stderr!r}")
    ledger = Ledger(torture)
    wrong += check_overlaps(ledger)
    for job in torture.spooled.values():
        wrong += check_spooled(ledger, job, ledger.marks[job["name"]])
    for run in torture.runs.values():
        wrong += check_run(ledger, run, ledger.marks[run["name"]])
    return wrong + check_queue(torture, ledger)
