#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A terminal with an interactive shell in it, driven by the lines of standard input; every line is answered by one line.

    type TEXT       sends TEXT and Return
    key TEXT        sends TEXT as it is; \\x03 and the like are read (Ctrl-C is \\x03, Ctrl-Z \\x1a, Ctrl-\\ \\x1c)
    show REGEX      reads on until what was printed since the last match matches: "yes WHAT", WHAT being the first group
    state           "echo=1 lines=1 front=PGRP": what stty(1) shows, and the process group in the foreground
    shell           the shell's pid
    hangup          the line drops
    size LINES CELLS  the terminal is that large from now on
    page REGEX      reads on until the page that a terminal would show matches, its lines joined by newlines: "yes WHAT"
    chosen REGEX    the same of the part that is shown in reverse
    bytes           how many bytes were written since this was asked last

`show`, `page` and `chosen` answer "no" and what there was instead when nothing comes for GUARD seconds, or nothing that matches: a hang, never a matter of speed.
"""
import codecs, fcntl, os, pty, re, select, signal, struct, sys, termios, time, unicodedata

GUARD = int(os.environ.get('GUARD', 60))


class Page:
    """What a terminal makes of the few orders that pgpu writes; a wide character is followed by an empty cell."""

    def __init__(self, lines, cells):
        self.lines, self.cells, self.rest, self.other = lines, cells, '', None
        self.clear()

    def clear(self):
        self.grid = [[(' ', False)] * self.cells for _ in range(self.lines)]
        self.row = self.column = 0
        self.reverse = False

    def put(self, char):
        if unicodedata.combining(char):
            self.column = max(self.column - 1, 0)
            char = self.grid[self.row][self.column][0] + char
        width = 2 if unicodedata.east_asian_width(char[0]) in 'WF' else 1
        # Without wrapping the last cell is written again and again.
        self.column = min(self.column, self.cells - width)
        self.grid[self.row][self.column:self.column + width] = [(char, self.reverse), ('', self.reverse)][:width]
        self.column += width

    def order(self, parameters, letter):
        numbers = [int(number or 0) for number in parameters.lstrip('?').split(';')]
        if letter == 'H':
            self.row = min(max(numbers[0], 1), self.lines) - 1
            self.column = min(max((numbers + [1])[1], 1), self.cells) - 1
        elif letter == 'J':
            self.grid = [[(' ', False)] * self.cells for _ in range(self.lines)]
        elif letter == 'K':
            self.grid[self.row][self.column:] = [(' ', self.reverse)] * (self.cells - self.column)
        elif letter == 'm':
            self.reverse = 7 in numbers or self.reverse and 0 not in numbers
        elif parameters == '?1049':
            kept, self.other = self.other, None if letter == 'l' else (self.grid, self.row, self.column)
            self.clear()
            if letter == 'l' and kept and len(kept[0]) == self.lines and len(kept[0][0]) == self.cells:
                self.grid, self.row, self.column = kept

    def feed(self, text):
        text = self.rest + text
        self.rest = ''
        while text:
            if found := re.match(r'\x1b\[([?0-9;]*)([@-~])', text):
                self.order(*found.groups())
                text = text[found.end():]
            elif text[0] == '\x1b' and len(text) < 12:
                self.rest, text = text, ''
            else:
                self.plain(text[0])
                text = text[1:]

    def plain(self, char):
        if char == '\r':
            self.column = 0
        elif char == '\n':
            if self.row == self.lines - 1:
                self.grid = self.grid[1:] + [[(' ', False)] * self.cells]
            self.row = min(self.row + 1, self.lines - 1)
        elif char >= ' ':
            self.put(char)

    def text(self):
        return '\n'.join(''.join(char for char, _ in line).rstrip() for line in self.grid)

    def marked(self):
        return '\n'.join(''.join(char for char, reverse in line if reverse).rstrip() for line in self.grid).strip('\n')


class Terminal:
    def __init__(self):
        self.seen = ''
        self.count = 0
        self.view = Page(50, 1000)
        self.decoder = codecs.getincrementaldecoder('utf-8')('replace')
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
        text = self.decoder.decode(piece)
        self.count += len(piece)
        self.view.feed(text)
        self.seen += text.replace('\r', '')
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

    def size(self, rest):
        lines, cells = map(int, rest.split())
        self.view = Page(lines, cells)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', lines, cells, 0, 0))
        return 'yes'

    def matches(self, regex, text):
        # A page with clocks never falls silent.
        end = time.monotonic() + GUARD
        while not (found := re.search(regex, text(), re.MULTILINE)):
            if time.monotonic() > end or not self.more():
                return 'no ' + repr(text())
        return 'yes ' + (found.group(1) if found.groups() else found.group(0)).replace('\n', ' ')

    def page(self, regex):
        return self.matches(regex, lambda: self.view.text())

    def chosen(self, regex):
        return self.matches(regex, lambda: self.view.marked())

    def bytes(self, _):
        # What has been written by now.
        while select.select([self.fd], [], [], 0)[0] and self.more():
            pass
        count, self.count = self.count, 0
        return str(count)

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
