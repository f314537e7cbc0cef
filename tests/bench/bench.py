# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints a row for each bar: median, 90th percentile, ratio, the bar, met or missed. README.md says how each is measured."""

import argparse
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

from scale import Scale

PATIENCE_S = 60


class Bench(Scale):
    def __init__(self, args):
        self.args = args
        self.pgpu = f"{args.bin}/pgpu"
        self.stamp = f"{args.bin}/stamp"
        self.rows = []
        self.missed = 0

    # --- sandboxes: a queue of its own for each configuration

    def queue(self, name, conf):
        """The variables of a queue of its own, with `conf` in force."""
        home = pathlib.Path(self.args.disk, name)
        runtime = pathlib.Path(self.args.memory, name)
        (home / "config" / "pgpu").mkdir(parents=True)
        runtime.mkdir(mode=0o700)
        (home / "config" / "pgpu" / "pgpu.conf").write_text(conf)
        variables = {"HOME": str(home), "XDG_CONFIG_HOME": f"{home}/config", "XDG_STATE_HOME": f"{home}/state",
                     "XDG_RUNTIME_DIR": str(runtime)}
        self.call(variables, "run", "-q", "--", "true")
        return variables

    def call(self, variables, *words):
        return subprocess.run([self.pgpu, *words], env={**os.environ, **variables}, stdin=subprocess.DEVNULL, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.args.disk).stdout

    def start(self, variables, *words):
        return subprocess.Popen([self.pgpu, *words], env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.args.disk)

    # --- samples

    def measure(self, mode, rounds, contenders, *rest, inside=None):
        """`contenders`: name -> (variables, argument vector). Returns name -> sorted milliseconds. `inside`: the variables of a
        queue of which the whole measurement is a job."""
        spec = pathlib.Path(self.args.disk, "spec")
        lines = []
        for name, (variables, argv) in contenders.items():
            lines.append("\t".join([name, *(f"{key}={value}" for key, value in variables.items()), "--", *argv]))
        spec.write_text("\n".join(lines) + "\n")
        wrapper = [self.pgpu, "run", "-q", "--"] if inside else []
        out = subprocess.run([*wrapper, f"{self.args.bin}/spawn", mode, str(self.rounds(rounds)), spec, *rest], check=True,
                             stdout=subprocess.PIPE, text=True, cwd=self.args.disk, env={**os.environ, **(inside or {})}).stdout
        samples = {name: [] for name in contenders}
        for line in out.splitlines():
            name, took = line.split("\t")
            samples[name].append(int(took) / 1e6)
        return {name: sorted(list_) for name, list_ in samples.items()}

    def rounds(self, full):
        return max(5, full // 5) if self.args.quick else full

    def figures(self, name):
        """What `turn` wrote: a list of integers for each line of its file, which is removed."""
        file = pathlib.Path(self.args.memory, name)
        lines = [[int(word) for word in line.split()] for line in file.read_text().splitlines()]
        file.unlink()
        return lines

    # --- rows

    def row(self, what, figure, p90="", ratio="", bar="", met=None):
        self.rows.append((what, figure, p90, ratio, bar, "" if met is None else "met" if met else "missed"))
        self.missed += met is False

    def timed(self, what, samples, base, bar=None):
        """A row of times with its ratio to the base's median; `bar` is the most that ratio may be."""
        middle = statistics.median(samples)
        ratio = middle / base
        self.row(what, f"{middle:.2f} ms", f"{samples[len(samples) * 9 // 10]:.2f}", f"{ratio:.2f}", f"{bar:.1f}" if bar else "",
                 ratio <= bar if bar else None)

    def title(self, text):
        self.rows.append((text, "", "", "", "", ""))

    # --- the bars

    def bench_start(self):
        plain = self.queue("start", 'cells = "off"\n')
        contenders = {"true": ({}, ["/usr/bin/true"]), "pgpu": (plain, [self.pgpu, "run", "-q", "--", "true"])}
        cell = self.queue("cell", "")
        has_cells = "cells: none" not in self.call(cell, "status")
        if has_cells:
            contenders["pgpu, with a cell"] = (cell, [self.pgpu, "run", "-q", "--", "true"])
        if shutil.which("flock"):
            contenders["flock"] = ({}, ["/usr/bin/flock", f"{self.args.disk}/lock", "true"])
        if shutil.which("tsp"):
            server = {"TS_SOCKET": f"{self.args.memory}/ts-start", "TMPDIR": self.args.memory}
            contenders["task-spooler"] = (server, ["/usr/bin/tsp", "-fn", "true"])
        samples = self.measure("start", 400, contenders)
        self.end_tsp("ts-start")
        base = statistics.median(samples["true"])
        self.title("start, against plain true")
        self.timed("  true", samples["true"], base)
        self.timed("  pgpu run -q -- true", samples["pgpu"], base, 2.5)
        if has_cells:
            self.timed("  pgpu run -q -- true, with a cell", samples["pgpu, with a cell"], base, 2.8)
        else:
            self.row("  pgpu run -q -- true, with a cell", "no cell can be made here", bar="2.8")
        for name, command in (("flock", "flock FILE true"), ("task-spooler", "tsp -fn true")):
            if name in samples:
                self.timed(f"  {command}", samples[name], base)

    def end_tsp(self, name):
        if shutil.which("tsp"):
            subprocess.run(["tsp", "-K"], env={**os.environ, "TS_SOCKET": f"{self.args.memory}/{name}"}, check=False)

    def bench_hand_on(self):
        one = self.queue("hand", 'cells = "off"\nlanes = 1\n')
        contenders = {"pair": ({}, ["@pair"]), "pgpu": (one, [self.pgpu, "run", "-q", "--"])}
        if shutil.which("flock"):
            contenders["flock"] = ({}, ["/usr/bin/flock", f"{self.args.disk}/lock"])
        if shutil.which("tsp"):
            server = {"TS_SOCKET": f"{self.args.memory}/ts-hand", "TMPDIR": self.args.memory}
            contenders["task-spooler"] = (server, ["@list", "/usr/bin/tsp", "/usr/bin/tsp", "-fn"])
        folder = pathlib.Path(self.args.memory, "stamps")
        folder.mkdir()
        shutil.copy(self.stamp, folder / "stamp")
        samples = self.measure("hand-on", 200, contenders, folder)
        self.end_tsp("ts-hand")
        self.title("hand-on, from the holder's last instruction to the waiter's first, against a bare pair of processes")
        base = statistics.median(samples["pair"])
        self.timed("  pidfd, socket, posix_spawn", samples["pair"], base)
        mine = statistics.median(samples["pgpu"])
        bar = statistics.median(samples["flock"]) if "flock" in samples else None
        self.row("  pgpu run, one lane", f"{mine:.2f} ms", f"{samples['pgpu'][len(samples['pgpu']) * 9 // 10]:.2f}", f"{mine / base:.2f}",
                 "flock's" if bar else "", mine < bar if bar else None)
        for name, command in (("flock", "flock FILE"), ("task-spooler", "tsp -fn")):
            if name in samples:
                self.timed(f"  {command}", samples[name], base)

    def bench_wait(self):
        one = self.queue("wait", 'cells = "off"\nlanes = 1\n')
        holder = self.start(one, "run", "-q", "--", self.stamp, "pause")
        self.until(lambda: '"running"' in self.call(one, "queue", "--json"))
        waiters = [self.start(one, "run", "-q", "--", "true")]
        bare = subprocess.Popen([f"{self.args.bin}/pause", "pause"])
        try:
            self.until(lambda: self.in_line(one, waiters))
            alone = (figure(waiters[0].pid, "status", "VmRSS"), figure(waiters[0].pid, "smaps_rollup", "Pss"))
            bare_alone = (figure(bare.pid, "status", "VmRSS"), figure(bare.pid, "smaps_rollup", "Pss"))
            waiters += [self.start(one, "run", "-q", "--", "true") for _ in range(199)]
            self.until(lambda: self.in_line(one, waiters))
            shared = [figure(waiter.pid, "smaps_rollup", "Pss") for waiter in waiters]
        finally:
            for process in [*reversed(waiters), bare, holder]:
                process.send_signal(signal.SIGTERM)
            for process in [*waiters, bare, holder]:
                process.wait()
        mean = statistics.mean(shared)
        self.title("memory of a waiting wrapper")
        self.row("  one pgpu run, resident", f"{alone[0]} kB", ratio=f"{alone[0] / bare_alone[0]:.2f}", bar="1500 kB", met=alone[0] <= 1500)
        self.row("  one pgpu run, proportional", f"{alone[1]} kB", ratio=f"{alone[1] / bare_alone[1]:.2f}")
        self.row("  200 pgpu run, mean proportional", f"{mean:.0f} kB", ratio=f"{mean / bare_alone[1]:.2f}", bar="200 kB", met=mean <= 200)
        self.row("  pause() on libc, resident", f"{bare_alone[0]} kB", ratio="1.00")
        self.row("  pause() on libc, proportional", f"{bare_alone[1]} kB", ratio="1.00")

    def in_line(self, variables, waiters):
        """As many tickets as waiters, and every one of them asleep."""
        tickets = sum(len(os.listdir(folder)) for folder in pathlib.Path(variables["XDG_STATE_HOME"]).glob("pgpu/*/boot-*/tickets"))
        return tickets == len(waiters) and all(
            pathlib.Path(f"/proc/{waiter.pid}/stat").read_text().rpartition(")")[2].split()[0] == "S" for waiter in waiters)

    def until(self, condition):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                sys.exit("bench.py: what was waited for did not come")
            time.sleep(0.001)

    def line_of_four(self, name):
        """One spooled job runs and three wait."""
        one = self.queue(name, 'cells = "off"\nlanes = 1\n')
        for _ in range(4):
            self.call(one, "submit", "-o", "/dev/null", "--", self.stamp, "pause")
        self.until(lambda: '"running"' in self.call(one, "queue", "--json"))
        return one

    def end_line(self, variables):
        self.call(variables, "cancel", "--all")
        self.until(lambda: self.call(variables, "queue", "--json").strip() == "[]")

    def bench_lists(self):
        one = self.line_of_four("lists")
        samples = self.measure("start", 300, {
            "true": ({}, ["/usr/bin/true"]),
            "status": (one, [self.pgpu, "status"]),
            "queue": (one, [self.pgpu, "queue"]),
        })
        self.end_line(one)
        base = statistics.median(samples["true"])
        self.title("lists, one job running and three waiting, against plain true")
        self.timed("  true", samples["true"], base)
        self.timed("  pgpu status", samples["status"], base, 1.5)
        self.timed("  pgpu queue", samples["queue"], base, 1.5)

    def card_tree(self):
        """500 processes of ten descriptors each; twenty of them are each two clients of the one card."""
        tree = pathlib.Path(self.args.memory, "tree")
        device = tree / "sys/class/drm/card0/device"
        device.mkdir(parents=True)
        (device / "uevent").write_text("DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n")
        client = pathlib.Path(self.args.tree, "tests/fixtures/amdgpu-rx9060xt/proc/4102/fdinfo/7").read_text()
        for pid in range(1000, 1500):
            one = tree / f"proc/{pid}"
            (one / "fd").mkdir(parents=True)
            (one / "fdinfo").mkdir()
            (one / "stat").write_text(f"{pid} (one) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {pid} 0 0\n")
            (one / "comm").write_text("one\n")
            for fd in range(10):
                card = pid % 25 == 0 and fd >= 8
                (one / f"fd/{fd}").symlink_to("/dev/dri/renderD128" if card else "/dev/null" if fd < 3 else f"socket:[{fd}]")
                (one / f"fdinfo/{fd}").write_text(client.replace("client-id:\t30", f"client-id:\t{pid}{fd}") if card else "pos:\t0\n")
        return tree

    def bench_card(self):
        tree = self.card_tree()
        roots = {"PGPU_PROCFS": f"{tree}/proc", "PGPU_SYSFS": f"{tree}/sys"}
        out = subprocess.run([f"{self.args.bin}/probe", "20" if self.args.quick else "100"], env={**os.environ, **roots}, check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        rounds = [line.split() for line in out.splitlines()]
        self.title("one look at the cards: 500 processes, 40 clients")
        for name, column in (("a first look", 0), ("the next one", 1)):
            samples = sorted(int(line[column]) / 1e6 for line in rounds)
            middle = statistics.median(samples)
            self.row(f"  {name}", f"{middle:.2f} ms", f"{samples[len(samples) * 9 // 10]:.2f}", "", "3.0 ms", middle <= 3)
        fixture = pathlib.Path(self.args.tree, "tests/fixtures/amdgpu-rx9060xt")
        one = {**self.queue("card", "lanes = 2\n"), "PGPU_PROCFS": f"{fixture}/proc", "PGPU_SYSFS": f"{fixture}/sys"}
        samples = self.measure("start", 300, {"true": ({}, ["/usr/bin/true"]), "status": (one, [self.pgpu, "status"])})
        base = statistics.median(samples["true"])
        self.timed("  true", samples["true"], base)
        self.timed("  pgpu status of a fixture", samples["status"], base, 2.5)

    def bench_submit(self):
        one = self.line_of_four("submit")
        floor = pathlib.Path(one["XDG_STATE_HOME"], "floor")
        floor.mkdir()
        submit = [self.pgpu, "submit", "-o", "/dev/null", "--", "true"]
        # An environment younger than a minute is synced again, so ours is made older once it is there.
        self.measure("start", 1, {"submit": (one, submit)})
        for stored in pathlib.Path(one["XDG_STATE_HOME"]).glob("pgpu/*/env/*"):
            os.utime(stored, (0, 0))
        samples = self.measure("start", 100, {
            "true": ({}, ["/usr/bin/true"]),
            "durable": ({}, ["@durable", str(floor)]),
            "submit": (one, submit),
            "first": ({**one, "ROUND": "%r"}, submit),
        })
        self.end_line(one)
        base, disk = (statistics.median(samples[name]) for name in ("true", "durable"))
        self.title("submit, against plain true and the disk's own write, fsync, rename, fsync: (submit - true) / disk")
        self.timed("  write, fsync, rename, fsync", samples["durable"], disk)
        self.row("  true", f"{base:.2f} ms", f"{samples['true'][len(samples['true']) * 9 // 10]:.2f}")
        for name, what, bar in (("submit", "pgpu submit -- true", 1.5), ("first", "the first of a new environment", 2.3)):
            middle = statistics.median(samples[name])
            ratio = (middle - base) / disk
            self.row(f"  {what}", f"{middle:.2f} ms", f"{samples[name][len(samples[name]) * 9 // 10]:.2f}", f"{ratio:.2f}", f"{bar:.1f}",
                     ratio <= bar)

    def bench_turn(self):
        plain = self.queue("turn", 'cells = "off"\nlanes = 1\n')
        cell = self.queue("turn-cell", "lanes = 1\n")
        has_cells = "cells: none" not in self.call(cell, "status")
        samples = self.measure("start", 400, {"true": ({}, ["/usr/bin/true"]), "turn": ({}, [self.pgpu, "turn"])}, inside=plain)
        base = statistics.median(samples["true"])
        self.title("turn, nobody waiting, against plain true")
        self.timed("  true", samples["true"], base)
        self.timed("  pgpu turn", samples["turn"], base, 1.5)
        self.title("turn by the socket, nobody waiting, against a process that only answers")
        self.asked(plain)
        self.title("turn with another job waiting: from one's message to the other's first instruction")
        self.handed_on("  without a cell", plain)
        if has_cells:
            self.handed_on("  with a cell", cell)
        else:
            self.row("  with a cell", "no cell can be made here", bar="5.0 ms")

    def asked(self, queue):
        """The three in turn, in small parts, so that each meets the same machine."""
        name, samples = f"{self.args.memory}/asked", {"bare": [], "run": [], "spooled": []}
        for _ in range(self.rounds(20)):
            words = [f"{self.args.bin}/turn", "ask", "200", name]
            subprocess.run([words[0], "bare", *words[2:]], check=True)
            samples["bare"] += self.figures("asked")
            self.call(queue, "run", "-q", "--", *words)
            samples["run"] += self.figures("asked")
            self.call(queue, "submit", "--wait", "-o", "/dev/null", "--", *words)
            samples["spooled"] += self.figures("asked")
        base = statistics.median(one[0] for one in samples["bare"])
        for key, what in (("bare", "  accept, receive, send, close"), ("run", "  of a run"), ("spooled", "  of a spooled job")):
            took = sorted(one[0] for one in samples[key])
            middle = statistics.median(took)
            bar, met = ("", None) if key == "bare" else ("50 us", middle <= 50000)
            self.row(what, f"{middle / 1e3:.1f} us", f"{took[len(took) * 9 // 10] / 1e3:.1f}", f"{middle / base:.2f}", bar, met)

    def handed_on(self, what, queue):
        """Two jobs that take turns; a sample is one's `left` with the other's `back` behind it and nothing in between."""
        rounds = str(self.rounds(200))
        jobs = [self.start(queue, "run", "-q", "-p", "clip", "--as", name, "--", f"{self.args.bin}/turn", "pass", rounds,
                           f"{self.args.memory}/{name}") for name in ("one", "two")]
        if any(job.wait() != 0 for job in jobs):
            sys.exit("bench.py: a job that takes turns failed")
        events = sorted((stamp, name, column) for name in ("one", "two") for line in self.figures(name) for column, stamp in enumerate(line))
        took = sorted((then[0] - now[0]) / 1e6 for now, then in zip(events, events[1:])
                      if (now[2], then[2]) == (0, 1) and now[1] != then[1])
        if len(took) < int(rounds):
            sys.exit(f"bench.py: {len(took)} turns of 2 x {rounds} were handed on")
        middle = statistics.median(took)
        self.row(what, f"{middle:.2f} ms", f"{took[len(took) * 9 // 10]:.2f}", "", "5.0 ms", middle <= 5)

    def bench_watch(self):
        queue = self.queue("watch", "lanes = 2\n")
        jobs = {"  of a quiet job": ["pause"], "  of a busy job": ["spin"]}
        programs = {"pause": self.stamp, "spin": f"{self.args.bin}/turn"}
        wrappers = {what: self.start(queue, "run", "-q", "--", programs[words[0]], *words) for what, words in jobs.items()}
        try:
            self.until(lambda: self.call(queue, "queue", "--json").count('"running"') == 2)
            before, began = {what: cpu_ns(one.pid) for what, one in wrappers.items()}, time.monotonic()
            time.sleep(self.rounds(60))
            took_ns = (time.monotonic() - began) * 1e9
            used = {what: (cpu_ns(one.pid) - before[what]) / took_ns * 100 for what, one in wrappers.items()}
        finally:
            for one in wrappers.values():
                one.send_signal(signal.SIGTERM)
                one.wait()
        self.title("watching a running job, of one processor")
        for what, percent in used.items():
            self.row(what, f"{percent:.4f} %", bar="0.1 %", met=percent < 0.1)

    def bench_size(self):
        size = os.stat(self.pgpu).st_size
        source = pathlib.Path(self.args.disk, "source")
        source.mkdir()
        for part in ("Makefile", "conf", "submit", "runner"):
            whole = pathlib.Path(self.args.tree, part)
            shutil.copytree(whole, source / part) if whole.is_dir() else shutil.copy(whole, source)
        began = time.monotonic()
        subprocess.run(["make", "-j2", f"BUILD={self.args.disk}/out", f"{self.args.disk}/out/pgpu"], cwd=source, check=True,
                       stdout=subprocess.DEVNULL)
        took = time.monotonic() - began
        self.title("size")
        self.row("  binary, stripped", f"{size} bytes", bar="400000", met=size < 400000)
        self.row("  clean build, make -j2", f"{took:.1f} s", bar="10", met=took < 10)


ROWS = ("start", "hand_on", "wait", "lists", "card", "submit", "turn", "watch", "size", "drain", "many", "waiters", "idle", "rescue")


def cpu_ns(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def figure(pid, file, key):
    for line in pathlib.Path(f"/proc/{pid}/{file}").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise KeyError(key)


def machine():
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
    return f"{model}, {os.cpu_count()} processors, Linux {os.uname().release}, load {os.getloadavg()[0]:.1f}"


def table(rows):
    heads = ("", "median", "p90", "ratio", "bar", "")
    width = max(len(row[0]) for row in rows if row[1])
    lines = [machine(), ""]
    for row in (heads, *rows):
        if row[0] and not any(row[1:]):
            lines += ["", row[0]]
            continue
        what, middle, p90, ratio, bar, verdict = row
        lines.append(f"{what:{width}}  {middle:>13}  {p90:>7}  {ratio:>6}  {bar:>8}  {verdict}".rstrip())
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    for name in ("tree", "bin", "disk", "memory"):
        parser.add_argument(f"--{name}", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds")
    parser.add_argument("--save", action="store_true", help="also into tests/bench/results/")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"only these: {', '.join(ROWS)}")
    args = parser.parse_args()
    unknown = set(args.rows) - set(ROWS)
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    bench = Bench(args)
    for row in args.rows or ROWS:
        getattr(bench, f"bench_{row}")()
    text = table(bench.rows)
    print(text, end="")
    if args.save:
        folder = pathlib.Path(args.tree, "tests", "bench", "results")
        folder.mkdir(exist_ok=True)
        (folder / time.strftime("%Y-%m-%dT%H%M%S.txt")).write_text(text)
    print(f"\n{bench.missed} missed")


main()
