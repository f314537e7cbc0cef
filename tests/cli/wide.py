#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""wide.py COLUMNS COMMAND...: runs the command in a terminal that wide, prints what it writes there, ends with its code."""
import fcntl, os, pty, struct, sys, termios

pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 50, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:  # the other end is closed
        break
    if not piece:
        break
    sys.stdout.buffer.write(piece.replace(b'\r\n', b'\n'))
sys.stdout.buffer.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
