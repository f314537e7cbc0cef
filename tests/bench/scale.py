# SPDX-License-Identifier: GPL-3.0-or-later
"""The bars of length: a thousand jobs one after the other, 100,000 in line, a thousand waiters. README.md says how each is measured."""

import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import tempfile
import time


class Scale:
    """Rows of Bench (bench.py), which has the sandboxes, the samples and the table."""

    def files(self, count):
        """So many job files that do nothing, in a folder of their own."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.args.disk))
        for number in range(count):
            (folder / f"{number}.yaml").write_text(f"---\nname: job{number}\nclass: render\noutput: /dev/null\n---\n#!/bin/true\n")
        return [str(path) for path in sorted(folder.iterdir())]

    def floors(self, queue, *modes):
        """Medians in ms of what the kernel itself asks, in the file system of the queue."""
        folder = pathlib.Path(queue["XDG_STATE_HOME"], "floor")
        folder.mkdir(exist_ok=True)
        contenders = {"true": ({}, ["/usr/bin/true"]), "durable": ({}, ["@durable", str(folder)]), "sync": ({}, ["@sync", str(folder)])}
        samples = self.measure("start", 100, {mode: contenders[mode] for mode in modes})
        return [statistics.median(samples[mode]) for mode in modes]

    def bench_drain(self):
        one = self.queue("drain", 'cells = "off"\nlanes = 1\n')
        count = self.rounds(1000)
        files = self.files(count)
        self.call(one, "drain")
        ids = self.call(one, "submit", "-q", *files).split()
        spawn, sync = self.floors(one, "true", "sync")
        began = time.monotonic()
        self.call(one, "undrain")
        self.call(one, "wait", *ids)
        each = (time.monotonic() - began) * 1e3 / count
        self.title(f"{count} spooled jobs that do nothing, one after the other, each start durable")
        self.row("  spawn and one fsync of the folder", f"{spawn + sync:.2f} ms", ratio="1.00")
        ratio = each / (spawn + sync)
        self.row("  each job", f"{each:.2f} ms", ratio=f"{ratio:.2f}", bar="1.3", met=ratio <= 1.3)
        self.row("  jobs in a second", f"{1e3 / each:.0f}", ratio=f"{1 / ratio:.2f}", bar="0.8", met=1 / ratio >= 0.8)
        if shutil.which("tsp"):
            self.drain_tsp(count)

    def drain_tsp(self, count):
        server = {**os.environ, "TS_SOCKET": f"{self.args.memory}/ts-drain", "TMPDIR": self.args.memory, "TS_MAXFINISHED": "10"}
        gate = subprocess.run(["tsp", self.stamp, "pause"], env=server, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        for _ in range(count):
            subprocess.run(["tsp", "-n", "true"], env=server, check=True, stdout=subprocess.DEVNULL)
        began = time.monotonic()
        subprocess.run(["tsp", "-k", gate], env=server, check=True)
        subprocess.run(["tsp", "-w"], env=server, check=False)
        self.row("  task-spooler, which syncs nothing", f"{count / (time.monotonic() - began):.0f}")
        self.end_tsp("ts-drain")

    def bench_many(self):
        """The same commands beside a short and a long line."""
        short = self.line_of_four("short")
        long = self.line_of_four("long")
        files, calls = self.files(1000), self.rounds(100)
        self.call(short, "submit", "-q", *files[:300])
        took = []
        for _ in range(calls):
            began = time.monotonic()
            self.call(long, "submit", "-q", *files)
            took.append((time.monotonic() - began) * 1e3)
        durable, = self.floors(long, "durable")
        self.title(f"{calls} calls of submit with 1,000 files each")
        self.row("  write, fsync, rename, fsync", f"{durable:.2f} ms", ratio="1.00")
        each = statistics.median(took) / 1000
        self.row("  each file", f"{each:.2f} ms", ratio=f"{durable / each:.1f}", bar="3.0", met=durable / each >= 3)
        slower = statistics.median(took[-5:]) / statistics.median(took[:5])
        self.row("  the last five calls against the first", f"{statistics.median(took[-5:]):.0f} ms", ratio=f"{slower:.2f}", bar="1.2", met=slower <= 1.2)
        self.beside(short, long, calls * 1000)
        self.end_line(short)
        self.call(long, "cancel", "--all")

    def beside(self, short, long, count):
        words = {"status": ["status"], "cancel ID": ["cancel", "--no-wait", "1%r"], "queue | head": None}
        self.title(f"beside 300 jobs in line, and beside {count}")
        for name, argv in words.items():
            made = {where: (queue, [self.pgpu, *argv] if argv else ["/bin/sh", "-c", f"{self.pgpu} queue | head -n 40"])
                    for where, queue in (("short", short), ("long", long))}
            samples = self.measure("start", 20, made)
            base = statistics.median(samples["short"])
            self.timed(f"  {name}, short", samples["short"], base)
            self.timed(f"  {name}, long", samples["long"], base, 1.5)
        samples = self.measure("start", 5, {"queue": (long, [self.pgpu, "queue"])})
        middle = statistics.median(samples["queue"]) * 1e4 / count
        self.row("  10,000 jobs of queue", f"{middle:.1f} ms", bar="30 ms", met=middle <= 30)

    def bench_waiters(self):
        """A chain: each that ends hands the lane to the next, until all are gone."""
        self.title("a chain of waiters, from one's job to the next one's, in the mean")
        few = statistics.median(self.chain(10) for _ in range(self.rounds(10)))
        many = self.chain(self.rounds(1000))
        self.row("  among 10", f"{few:.2f} ms", ratio="1.00")
        self.row(f"  among {self.rounds(1000)}", f"{many:.2f} ms", ratio=f"{many / few:.2f}", bar="1.5", met=many <= 1.5 * few)
        woken = self.woken(self.rounds(200))
        self.row("  who of the others was woken by one hand-on", str(woken), bar="0", met=woken == 0)

    def waiters(self, count, *command):
        """A queue, whoever holds its lane, and so many behind it."""
        one = self.queue(tempfile.mktemp(prefix="chain", dir="").strip("/"), 'cells = "off"\nlanes = 1\n')
        holder = self.start(one, "run", "-q", "--", self.stamp, "pause")
        self.until(lambda: '"running"' in self.call(one, "queue", "--json"))
        waiters = []
        for _ in range(count):
            waiters.append(self.start(one, "run", "-q", "--", *command))
        self.until(lambda: self.in_line(one, waiters))
        return one, holder, waiters

    def chain(self, count):
        _, holder, waiters = self.waiters(count, "/usr/bin/true")
        began = time.monotonic()
        holder.send_signal(signal.SIGTERM)
        for process in [holder, *waiters]:
            process.wait()
        return (time.monotonic() - began) * 1e3 / count

    def woken(self, count):
        """One hand-on; the new holder, the standby and the second are not counted."""
        one, holder, waiters = self.waiters(count, self.stamp, "pause")
        before = {waiter.pid: switches(waiter.pid) for waiter in waiters}
        holder.send_signal(signal.SIGTERM)
        holder.wait()
        self.until(lambda: '"running"' in self.call(one, "queue", "--json"))
        woken = sum(switches(waiter.pid) != before[waiter.pid] for waiter in waiters)
        for waiter in reversed(waiters):
            waiter.send_signal(signal.SIGTERM)
        for waiter in waiters:
            waiter.wait()
        return max(0, woken - 3)

    def bench_idle(self):
        """System calls of who waits, and of who watches; strace counts them."""
        one = self.queue("idle", "lanes = 1\n")
        if not shutil.which("strace"):
            return
        holder = self.start(one, "run", "-q", "--", self.stamp, "pause")
        self.until(lambda: '"running"' in self.call(one, "queue", "--json"))
        waiters = [self.start(one, "run", "-q", "--", "true") for _ in range(3)]
        self.until(lambda: self.in_line(one, waiters))
        seconds = self.rounds(60)
        self.title(f"system calls in {seconds} s")
        try:
            for what, process, bar in (("  the first in line, standby", waiters[0], 0), ("  another in line", waiters[2], 0)):
                made = self.calls_of(process.pid, seconds)
                self.row(what, str(made), bar=str(bar), met=made <= bar)
        finally:
            for process in [*reversed(waiters), holder]:
                process.send_signal(signal.SIGTERM)
                process.wait()

    def calls_of(self, pid, seconds):
        listing = pathlib.Path(self.args.disk, "calls")
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", str(listing), "-p", str(pid)], stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        tracer.terminate()
        tracer.wait()
        # The call that it sleeps in is begun anew when strace comes, and broken off when it goes.
        return sum("restart_syscall" not in line and "resuming" not in line for line in listing.read_text().splitlines()[1:-1])

    def bench_rescue(self):
        one = self.line_of_four("rescue")
        samples = self.measure("start", 200, {"nothing": ({}, [self.pgpu, "--version"]), "rescue": (one, [self.pgpu, "rescue"])})
        self.end_line(one)
        base, took = statistics.median(samples["nothing"]), statistics.median(samples["rescue"])
        self.title("a rescue with nothing to do, beyond the start of pgpu")
        self.row("  pgpu --version", f"{base:.2f} ms")
        self.row("  pgpu rescue, beyond that", f"{(took - base) * 1e3:.0f} us", bar="150 us", met=(took - base) * 1e3 <= 150)


def switches(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("voluntary_ctxt_switches:"):
            return int(line.split()[1])
    raise KeyError(pid)
