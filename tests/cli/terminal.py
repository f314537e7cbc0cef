#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A terminal with an interactive shell in it, driven by the lines of standard input; every line is answered by one line.

    type TEXT       sends TEXT and Return
    key TEXT        sends TEXT as it is; \\x03 and the like are read (Ctrl-C is \\x03, Ctrl-Z \\x1a, Ctrl-\\ \\x1c)
    show REGEX      reads on until what was printed since the last match matches: "yes WHAT", WHAT being the first group
    state           "echo=1 lines=1 front=PGRP": what stty(1) shows, and the process group in the foreground
    shell           the shell's pid
    hangup          the line drops

`show` answers "no" and what there was instead when nothing comes for GUARD seconds: a hang, never a matter of speed.
"""
import fcntl, os, pty, re, select, signal, struct, sys, termios

GUARD = int(os.environ.get('GUARD', 60))


class Terminal:
    def __init__(self):
        self.seen = ''
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            for number in signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP, signal.SIGPIPE:
                signal.signal(number, signal.SIG_DFL)
            os.environ.update(TERM='dumb', PS1='ready> \n', HISTFILE='')
            os.execvp('bash', ['bash', '--norc', '--noprofile', '--noediting', '-i'])
        # Wide, so that nothing is wrapped.
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 1000, 0, 0))

    def more(self):
        if not select.select([self.fd], [], [], GUARD)[0]:
            return False
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += piece.decode('utf-8', 'replace').replace('\r', '')
        return bool(piece)

    def type(self, text):
        os.write(self.fd, text.encode() + b'\n')
        return 'yes'

    def key(self, text):
        os.write(self.fd, text.encode().decode('unicode_escape').encode())
        return 'yes'

    def show(self, regex):
        while not (found := re.search(regex, self.seen, re.MULTILINE)):
            if not self.more():
                return 'no ' + repr(self.seen[-1500:])
        self.seen = self.seen[found.end():]
        return 'yes ' + (found.group(1) if found.groups() else found.group(0)).replace('\n', ' ')

    def state(self, _):
        flags = termios.tcgetattr(self.fd)[3]
        return f'echo={int(bool(flags & termios.ECHO))} lines={int(bool(flags & termios.ICANON))} front={os.tcgetpgrp(self.fd)}'

    def shell(self, _):
        return str(self.pid)

    def hangup(self, _):
        os.close(self.fd)
        os.waitpid(self.pid, 0)
        return 'yes'


def main():
    terminal = Terminal()
    for line in sys.stdin:
        word, _, rest = line.rstrip('\n').partition(' ')
        print(getattr(terminal, word)(rest), flush=True)


main()
