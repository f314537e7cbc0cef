# SPDX-License-Identifier: GPL-3.0-or-later
"""A queue of its own in a temporary folder, its jobs, its gates, and what is left of it."""

import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

PATIENCE_S = 30  # a hang is told after so long; nothing is measured by it


class Stuck(Exception):
    """Something that must come did not."""


def until(what, condition):
    """Waits until `condition()` is true and returns what it said."""
    end = time.monotonic() + PATIENCE_S
    while not (said := condition()):
        if time.monotonic() > end:
            raise Stuck(what)
        time.sleep(0.002)
    return said


class Gate:
    """Holds a job until the test opens it; a job that is started again finds it open."""

    def __init__(self, folder, name):
        self.paths = [f"{folder}/{name}.{end}" for end in ("here", "open")]
        for path in self.paths:
            os.mkfifo(path)
        self.here, self.way = (os.open(path, os.O_RDWR | os.O_CLOEXEC) for path in self.paths)

    def text(self):
        return f"echo here >{self.paths[0]}; read _ <{self.paths[1]}"

    def reached(self):
        if not select.select([self.here], [], [], PATIENCE_S)[0]:
            raise Stuck(f"a job reaches {self.paths[0]}")
        os.read(self.here, 4096)

    def open(self):
        os.write(self.way, b"\n" * 64)

    def close(self):
        os.close(self.here)
        os.close(self.way)


class Box:
    def __init__(self, build, conf="lanes = 1\n"):
        self.pgpu = f"{build}/pgpu"
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="pgpu-crash."))
        self.env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh", "HOME": f"{self.root}/home",
                    "XDG_CONFIG_HOME": f"{self.root}/config", "XDG_STATE_HOME": f"{self.root}/state",
                    "XDG_RUNTIME_DIR": f"{self.root}/run"}
        for folder in ("home", "config", "config/pgpu", "state", "run", "work"):
            (self.root / folder).mkdir(mode=0o700)
        (self.root / "config/pgpu/pgpu.conf").write_text(conf)
        self.gates = {}
        self.jobs = {}  # id -> its script, of those that a setup submitted
        self.children = []
        self.call("run", "-q", "--", "true")  # the folders are there, and what is said once a login has been said
        self.queue = next((self.root / "state/pgpu").iterdir())
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot:
            self.boot = self.queue / f"boot-{boot.read().strip()}"

    # --- pgpu

    def call(self, *words, fine=True):
        done = subprocess.run([self.pgpu, *words], env=self.env, cwd=self.root / "work", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False)
        if fine and done.returncode != 0:
            raise Stuck(f"pgpu {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
        return done

    def start(self, words, prefix=(), program=None, **how):
        child = subprocess.Popen([*prefix, program or self.pgpu, *words], env=self.env, cwd=self.root / "work", stdin=subprocess.DEVNULL,
                                 **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **how})
        self.children.append(child)
        return child

    def start_stopped(self, words):
        """Stopped before it is pgpu, and without a process in between."""
        child = self.start(["-c", 'kill -STOP $$; exec "$@"', "sh", self.pgpu, *words], program="/bin/sh")
        until("it stops itself", lambda: self.is_stopped(child.pid))
        return child

    def trace(self, pid, *options):
        """strace of a process and its children; returns when it has begun."""
        words = [word for option in options for word in ("-e", option)]
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", *words, "-p", str(pid)], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.children.append(tracer)
        until(f"strace traces {pid}", lambda: tracer.poll() is not None or self.status(pid, "TracerPid") != "0")
        return tracer

    # --- jobs

    def gate(self, name):
        if name not in self.gates:
            self.gates[name] = Gate(self.root, name)
        return self.gates[name]

    def script(self, middle=":", alone=True):
        """A job that leaves its marks, and one more when another is in a lane beside it."""
        watch = f"exec 9>>{self.root}/alone; flock -n 9 || echo \"overlap $PGPU_JOB_ID\" >>{self.root}/marks\n"
        return ("#!/bin/sh\n" + (watch if alone else "") + f"echo \"begin $PGPU_JOB_ID\" >>{self.root}/marks\n{middle}\n"
                f"echo \"end $PGPU_JOB_ID\" >>{self.root}/marks\n")

    def file(self, name, script, header=""):
        path = self.root / "work" / f"{name}.yaml"
        path.write_text(f"---\nname: {name}\nclass: test\nbudget: 10m\n{header}---\n{script}")
        return str(path)

    def submit(self, name, script, header=""):
        number = self.call("submit", self.file(name, script, header)).stdout.strip()
        self.jobs[number] = script
        return number

    def holder(self, gate="holder", script=None):
        """A blocking job at a gate in the only lane; returns its wrapper."""
        wrapper = self.start(["run", "-q", "--", "sh", "-c", script or self.script(self.gate(gate).text())])
        self.gate(gate).reached()
        return wrapper

    def marks(self):
        try:
            return [tuple(line.split()) for line in (self.root / "marks").read_text().splitlines()]
        except FileNotFoundError:
            return []

    # --- processes and cells

    def pids(self):
        """Those with this folder in their environment."""
        found = []
        needle = f"{self.root}/".encode()
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                try:
                    if needle in pathlib.Path("/proc", name, "environ").read_bytes():
                        found.append(int(name))
                except OSError:
                    pass
        return found

    @staticmethod
    def words(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
        except OSError:
            return []

    @staticmethod
    def status(pid, key):
        """A line of /proc/PID/status, None without the process."""
        try:
            for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines():
                if line.startswith(key + ":"):
                    return line.split()[1]
        except OSError:
            pass
        return None

    def is_stopped(self, pid):
        return self.status(pid, "State") in ("T", "t")

    def of_pgpu(self):
        """Those of them that are pgpu's own and outside of every job: what a job calls is frozen or ended with it."""
        found = []
        for pid in self.pids():
            try:
                if os.readlink(f"/proc/{pid}/exe").startswith(self.pgpu) and self.words(pid)[1:2] != [b"turn"]:
                    found.append(pid)
            except OSError:
                pass
        return found

    def owner(self, seat):
        """The pid of the process that the text of lane-N, standby or second names, 0 for none."""
        try:
            for line in (self.boot / seat).read_text().splitlines():
                if line.startswith("owner "):
                    return int(line.split()[1])
        except FileNotFoundError:
            pass
        return 0

    def kill_all(self):
        """They start each other: stopped first, then ended, until none is left."""
        while pids := self.pids():
            for end in (signal.SIGSTOP, signal.SIGKILL):
                for pid in pids:
                    try:
                        os.kill(pid, end)
                    except ProcessLookupError:
                        pass

    def cells(self):
        """The cgroups of this queue: its folder's inode is part of their names."""
        tree = next((line.split()[1] for line in open("/proc/mounts", encoding="utf-8") if line.split()[2] == "cgroup2"), None)
        prefix = f"pgpu-{self.queue.stat().st_ino:x}-"
        return [os.path.join(at, name) for at, names, _ in os.walk(tree) for name in names if name.startswith(prefix)] if tree else []

    def remove_cells(self):
        """True when none is left: one whose last process is not quite gone is busy."""
        for cell in sorted(self.cells(), reverse=True):
            try:
                os.rmdir(cell)
            except OSError:
                pass
        return not self.cells()

    def close(self):
        self.kill_all()
        for child in self.children:
            child.wait()
        for gate in self.gates.values():
            gate.close()
        self.remove_cells()
        shutil.rmtree(self.root, ignore_errors=True)
