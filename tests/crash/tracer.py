# SPDX-License-Identifier: GPL-3.0-or-later
"""One process under strace(1): which system calls it makes, and what is done at one of them."""

import collections
import re
import subprocess

from box import until

# These cannot be met by name and number: the kernel makes the first two itself, and strace starts the program with the third.
_NEVER = {"restart_syscall", "rt_sigreturn", "execve"}

# Which errors a call can give, beside those that its arguments make.
_CREATE = ["ENOSPC", "EACCES"]
ERRORS = {
    "write": ["ENOSPC", "EIO", "EINTR"], "pwrite64": ["ENOSPC", "EIO"], "openat": ["ENOSPC", "EIO", "EMFILE", "EACCES", "EINTR"],
    "mkdirat": _CREATE, "mkdir": _CREATE, "renameat": [*_CREATE, "EIO"], "renameat2": [*_CREATE, "EIO"], "rename": [*_CREATE, "EIO"],
    "linkat": _CREATE, "unlinkat": ["EACCES", "EIO"], "fsync": ["EIO", "ENOSPC"], "fdatasync": ["EIO", "ENOSPC"],
    "ftruncate": ["EIO", "ENOSPC"], "read": ["EIO", "EINTR"], "pread64": ["EIO"], "getdents64": ["EIO"],
    "newfstatat": ["EIO"], "fstat": ["EIO"], "socket": ["EMFILE", "EACCES"], "pipe2": ["EMFILE"],
    "epoll_create1": ["EMFILE"], "timerfd_create": ["EMFILE"], "signalfd4": ["EMFILE"], "pidfd_open": ["EMFILE"],
    "eventfd2": ["EMFILE"], "inotify_init1": ["EMFILE"], "dup": ["EMFILE"], "accept4": ["EMFILE", "EINTR"], "connect": ["EACCES", "EINTR"],
    "bind": ["EACCES", "ENOSPC"], "flock": ["EINTR"], "poll": ["EINTR"], "ppoll": ["EINTR"], "epoll_wait": ["EINTR"],
    "epoll_pwait": ["EINTR"], "wait4": ["EINTR"], "waitid": ["EINTR"], "recvmsg": ["EINTR"], "recvfrom": ["EINTR"],
    "sendmsg": ["EINTR"], "sendto": ["EINTR"], "clone3": ["EAGAIN"], "vfork": ["EAGAIN"],
}

class Point(collections.namedtuple("Point", "call number what")):
    """The `number`th `call` of the process; `what` is KILL, or the error it is to give."""

    def __str__(self):
        return f"{self.what} at {self.call} {self.number}"

    def options(self):
        how = "signal=KILL" if self.what == "KILL" else f"error={self.what}"
        return ["-e", f"trace={self.call}", "-e", f"inject={self.call}:{how}:when={self.number}"]


class Tracer:
    """strace of one process, that it starts or that runs already. Without a point it writes down every call."""

    def __init__(self, box, point):
        self.box, self.point, self.process = box, point, None
        self.list = box.root / "calls"
        self.words = ["strace", "-qq", "-o", str(self.list), *(point.options() if point else [])]

    def start(self, words):
        self.process = self.box.start(words, prefix=self.words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def attach(self, pid):
        self.process = subprocess.Popen([*self.words, "-p", str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.box.children.append(self.process)
        until(f"strace traces {pid}", lambda: self.process.poll() is not None or self.box.status(pid, "TracerPid") != "0")

    def end(self, patience):
        """(exit code or minus the signal, stdout, stderr) of the process that was started; of an attached one strace's."""
        out, err = self.process.communicate(timeout=patience)
        return self.process.returncode, out, err

    def met(self):
        """Whether the point was reached: the process made the call so often."""
        return bool(re.search(r"^\+\+\+ killed by SIGKILL|\(INJECTED\)", self.list.read_text(errors="replace"), re.M))

    def points(self, kills):
        """Every point of what was written down."""
        seen = collections.Counter()
        for line in self.list.read_text(errors="replace").splitlines():
            match = re.match(r"([a-z_0-9]+)\(", line)
            if not match or match[1] in _NEVER:
                continue
            seen[match[1]] += 1
            for what in ["KILL"] if kills else ERRORS.get(match[1], []):
                if what == "ENOSPC" and match[1] == "openat" and "O_CREAT" not in line:
                    continue
                yield Point(match[1], seen[match[1]], what)
