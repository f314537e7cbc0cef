# SPDX-License-Identifier: GPL-3.0-or-later
"""Many trivial jobs through two lanes, the line never empty: nothing may grow, and the last may not take longer than the first.

    longrun.py --build BUILD [--jobs N] [--ratio R]

Prints a line of figures every 1,000 jobs, then TAP. README.md, The long run, says what each figure is."""

import argparse
import os
import pathlib
import statistics
import sys
import time

import sandbox as sandboxes

BATCH = 100      # jobs of one submit; the next one comes when fewer wait
WINDOW = 1000    # jobs at the beginning and at the end whose time is compared
BLOCKS = 10      # of each window; the median of them counts, so that a neighbour's burst does not
GUARD_S = 120    # without one end: stuck


class LongRun:
    def __init__(self, args):
        self.args = args
        self.box = sandboxes.Sandbox(args.build, 'lanes = 2\nkeep = "0"\nkeep-jobs = 0\n', "longrun")
        self.files = []
        for number in range(BATCH):
            path = self.box.work / f"job{number}.yaml"
            path.write_text(f"name: job{number}\nsession: {'ab'[number % 2]}\noutput: /dev/null\ncommand: [\"true\"]\n", encoding="utf-8")
            self.files.append(str(path))
        self.submitted = 0
        self.samples = []

    def ended(self):
        return len(self.box.names("ended"))

    def feed(self):
        waiting = sum(not name.startswith(".") for name in self.box.names("pending"))
        if waiting >= BATCH or self.submitted >= self.args.jobs:
            return
        done = self.box.call("submit", *self.files[: self.args.jobs - self.submitted])
        if done.returncode != 0:
            raise SystemExit(f"submit: {done.stderr}")
        self.submitted += len(done.stdout.split())

    def sample(self, ended):
        """The most that any process of the line has, and what lies about."""
        found = {"ended": ended, "anonymous": 0, "rss": 0, "descriptors": 0, "processes": 0}
        for pid in self.box.pids():
            words = sandboxes.read_text(f"/proc/{pid}/cmdline").split("\0")
            if "worker" not in words[:2]:
                continue
            rollup = dict(line.split(":") for line in sandboxes.read_text(f"/proc/{pid}/smaps_rollup").splitlines()[1:])
            try:
                descriptors = len(os.listdir(f"/proc/{pid}/fd"))
            except OSError:
                continue
            if not rollup:
                continue
            found["processes"] += 1
            found["anonymous"] = max(found["anonymous"], int(rollup["Anonymous"].split()[0]))
            found["rss"] = max(found["rss"], int(rollup["Rss"].split()[0]))
            found["descriptors"] = max(found["descriptors"], descriptors)
        found["cells"] = len(self.box.cells())
        found["runtime"] = len(os.listdir(self.box.runtime))
        found["boot"] = sum(len(files) for _, _, files in os.walk(self.box.boot))
        found["env"] = len(self.box.names("env"))
        found["orders"] = len(self.box.names("orders")) + len(self.box.names("reasons"))
        self.samples.append(found)

    def run(self):
        last, since = 0, time.monotonic()
        while last < self.args.jobs:
            self.feed()
            ended = self.ended()
            # Five looks at each thousand: a process that has just begun is small.
            if ended // (WINDOW // 5) > last // (WINDOW // 5) and ended < self.args.jobs - BATCH:
                self.sample(ended)
            if ended // WINDOW > last // WINDOW and self.samples:
                print("# " + ", ".join(f"{key} {value}" for key, value in self.samples[-1].items()), flush=True)
            if ended != last:
                last, since = ended, time.monotonic()
            if time.monotonic() - since > GUARD_S:
                print(*(f"# {line}" for line in self.box.dump()), sep="\n")
                raise SystemExit("not ok the long run ends: it is STUCK")
            time.sleep(0.02)

    def per_job_ms(self):
        """Of the first and of the last window: the median over its blocks of the time from end to end."""
        folder = self.box.queue / "ended"
        ends = sorted(os.stat(folder / name).st_ctime_ns for name in os.listdir(folder))
        # The first batch found an empty line and a cold machine.
        windows = ends[BATCH : BATCH + WINDOW + 1], ends[-WINDOW - 1 :]
        size = WINDOW // BLOCKS
        return [statistics.median((window[at + size] - window[at]) / size / 1e6 for at in range(0, WINDOW, size)) for window in windows]

    def most(self, key, samples):
        return max(sample[key] for sample in samples)

    def verdicts(self):
        third = max(1, len(self.samples) // 3)
        early, late = self.samples[:third], self.samples[-third:]
        yield f"all {self.args.jobs} jobs have ended", self.ended() == self.args.jobs and not self.box.names("pending")
        # The allocator may take one more page or two; a leak of 16 bytes a job would be 200 KiB.
        for key, slack in (("anonymous", 64), ("rss", 64), ("descriptors", 0), ("cells", 1), ("runtime", 1), ("boot", 2), ("env", 0), ("orders", 0)):
            first, last = self.most(key, early), self.most(key, late)
            yield f"no growth of {key}: {first} in the first third, {last} in the last", last <= first + slack
        first, last = self.per_job_ms()
        yield f"time per job: {first:.2f} ms at first, {last:.2f} ms at last, ratio {last / first:.2f} (at most {self.args.ratio})", \
            last <= first * self.args.ratio
        rows = pathlib.Path(self.box.queue, "log.tsv").read_text(encoding="utf-8").count("\tcompleted\n")
        yield f"each has one row in the log ({rows})", rows == self.args.jobs + 1  # and the one that opened the sandbox


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--jobs", type=int, default=20000)
    parser.add_argument("--ratio", type=float, default=1.1)
    args = parser.parse_args()
    args.build = os.path.realpath(args.build)
    long_run, failed = LongRun(args), 0
    try:
        long_run.run()
        for what, holds in long_run.verdicts():
            print(f"{'ok' if holds else 'not ok'} {what}", flush=True)
            failed += not holds
    finally:
        long_run.box.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
