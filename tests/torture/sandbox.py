# SPDX-License-Identifier: GPL-3.0-or-later
"""A queue of its own below /tmp, its files as pgpu-spool(5) describes them, and its processes.

A process is of the sandbox when the sandbox's folder is in its environment; only such a one is ever signalled, through a
pidfd, and looked at again after that was opened."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

PATIENCE_S = 120  # for one call of pgpu: a guard, no measure


class Sandbox:
    def __init__(self, build, conf, name="torture"):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix=f"pgpu-{name}.", dir="/tmp"))
        self.needle = f"{self.root}/".encode()
        for folder in ("home", "config/pgpu", "state", "run", "work", "marks", "calls"):
            pathlib.Path(self.root, folder).mkdir(mode=0o700, parents=True)
        pathlib.Path(self.root, "config/pgpu/pgpu.conf").write_text(conf)
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith(("PGPU_", "GPU_QUEUE", "LC_", "LANG")) and key != "PRIORITY"}
        self.env = {**kept, "HOME": f"{self.root}/home", "XDG_CONFIG_HOME": f"{self.root}/config",
                    "XDG_STATE_HOME": f"{self.root}/state", "XDG_RUNTIME_DIR": f"{self.root}/run",
                    "PATH": f"{build}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh"}
        self.binary = f"{build}/pgpu"
        self.work = self.root / "work"
        self.runtime = self.root / "run" / "pgpu"
        self.call("run", "-q", "--", "true")
        self.queue = next((self.root / "state" / "pgpu").iterdir())
        self.boot = next(self.queue.glob("boot-*"))

    # --- pgpu

    def start(self, *words, **options):
        """`pgpu WORDS` in the sandbox, not waited for."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options}
        return subprocess.Popen([self.binary, *words], env=self.env, cwd=self.work, **options)

    def call(self, *words):
        return subprocess.run([self.binary, *words], env=self.env, cwd=self.work, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    # --- files

    def names(self, folder):
        """The files of a folder of the queue; none where it is not made yet."""
        try:
            return sorted(os.listdir(self.queue / folder))
        except FileNotFoundError:
            return []

    def seat(self, name):
        return read_entry(self.boot / name)

    def lanes(self):
        return [self.seat(path.name) for path in sorted(self.boot.glob("lane-*"))]

    def tickets(self):
        """The name and the text of each."""
        found = []
        for name in self.names(f"{self.boot.name}/tickets"):
            entry = read_entry(self.boot / "tickets" / name)
            if entry:
                found.append((name, entry))
        return found

    def dump(self):
        """What a person needs who looks into a queue that is stuck; nothing here sets it going again."""
        lines = [f"pending: {self.names('pending')}", f"running: {self.names('running')}", f"orders: {self.names('orders')}",
                 f"runtime: {sorted(os.listdir(self.runtime)) if self.runtime.exists() else None}"]
        for seat in ("standby", "second", "standing-0"):
            lines.append(f"{seat}: {self.seat(seat)}")
        lines += [f"lane: {lane}" for lane in self.lanes()]
        lines += [f"ticket: {ticket}" for ticket in self.tickets()]
        for pid in self.pids():
            lines.append(f"process {pid}: {describe(pid)}")
            lines += [f"    {line}" for line in read_text(f"/proc/{pid}/stack").splitlines()]
        return lines

    # --- processes

    def owns(self, pid):
        try:
            return self.needle in pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return False

    def pids(self):
        """Those of the sandbox that live; a zombie has no environment."""
        return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and self.owns(pid)]

    def signal(self, pid, start, sig):
        """True: the process of the sandbox that has this number and start time was sent the signal."""
        try:
            fd = os.pidfd_open(pid)
        except OSError:
            return False
        try:
            if start_of(pid) != start or not self.owns(pid):
                return False
            signal.pidfd_send_signal(fd, sig)
            return True
        except OSError:
            return False
        finally:
            os.close(fd)

    def kill_all(self):
        """They start each other: until none is left."""
        while pids := self.pids():
            for pid in pids:
                self.signal(pid, start_of(pid), signal.SIGKILL)
            time.sleep(0.01)

    # --- cells

    def cells(self):
        """The cgroups of this queue: its inode is part of their names."""
        tree = next((line.split()[1] for line in open("/proc/mounts", encoding="utf-8") if line.split()[2] == "cgroup2"), None)
        if not tree:
            return []
        prefix = f"pgpu-{os.stat(self.queue).st_ino:x}-"
        return [os.path.join(folder, name) for folder, below, _ in os.walk(tree, topdown=False) for name in below
                if name.startswith(prefix)]

    def close(self):
        self.kill_all()
        for cell in self.cells():
            for folder, _, _ in os.walk(cell, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError as error:
                    print(f"# {folder}: {error}")
        shutil.rmtree(self.root)


def read_text(path):
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


def read_entry(path):
    """A seat or a ticket as a dictionary, `owner` and `main` as (pid, start); empty when it is gone. The writer may be half way."""
    for _ in range(100):
        lines = read_text(path).rstrip("\n").split("\n")
        if lines == [""]:
            return {}
        if "end" in lines:
            entry = dict(line.split(" ", 1) for line in lines[: lines.index("end")] if " " in line)
            for key in ("owner", "main"):
                words = entry.get(key, "").split()
                entry[key] = (int(words[0]), int(words[1])) if len(words) >= 2 else (0, 0)
            return entry
    return {}


def stat_of(pid):
    """The fields of /proc/PID/stat from the state on, or none."""
    return read_text(f"/proc/{pid}/stat").rpartition(") ")[2].split()


def start_of(pid):
    fields = stat_of(pid)
    return int(fields[19]) if len(fields) > 19 else 0


def alive(process, stopped=True):
    """(pid, start) lives and is no zombie; with stopped=False: and is not stopped."""
    fields = stat_of(process[0])
    return len(fields) > 19 and int(fields[19]) == process[1] and fields[0] not in ("Z", "X") and (stopped or fields[0] not in "Tt")


def describe(pid):
    words = read_text(f"/proc/{pid}/cmdline").replace("\0", " ").strip()
    return f"{(stat_of(pid) or ['?'])[0]} {words}"
