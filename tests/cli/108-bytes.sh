#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What was typed reaches the job byte for byte: by run, by submit, through a job file, as arguments and as a script.
. "$(dirname "$0")/lib.sh"

cat >bytes.py <<'END'
import base64, hashlib, os, subprocess, sys
here = os.getcwd()
arguments = [bytes(range(1, 256)), b'', b'', b'a\nb\n', b'\xff\xfe\xc3(', b"'\"$(x) `y` \\", b' ', b'x' * 100 * 1024, b'--help', b'-']
show = [b'python3', os.fsencode(here) + b'/show.py']
script = b'#!/bin/sh\n# ' + bytes(range(1, 10)) + bytes(range(11, 256)) + b'\nsha256sum <"$0" >script.sum\n'
open('show.py', 'w').write('import os, sys\nopen(sys.argv[1], "wb").write(b"\\0".join(map(os.fsencode, sys.argv[2:])) + b"|")\n')
want = b'\0'.join(arguments) + b'|'

def call(*words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

def verdict(name, good, why=b''):
    print('same' if good else f'other {why!r}', name, sep='\t')

def compare(name, ended):
    found = open(name, 'rb').read() if os.path.exists(name) else b'nothing was written'
    verdict(name, found == want, ended.stderr[-300:] + found[:80])

compare('run', call('pgpu', 'run', '-q', '--', *show, 'run', *arguments))
compare('submit', call('pgpu', 'submit', '--wait', '--', *show, 'submit', *arguments))
open('file.sh', 'wb').write(b'#!/bin/sh\nexec python3 "%s/show.py" file "$@"\n' % os.fsencode(here))
compare('file', call('pgpu', 'submit', '--wait', 'file.sh', '--', *arguments))
words = b'\n'.join(b'  - !!binary "' + base64.b64encode(word) + b'"' for word in [*show, b'list', *arguments])
open('list.yaml', 'wb').write(b'command:\n' + words + b'\n')
compare('list', call('pgpu', 'submit', '--wait', 'list.yaml'))
open('script.sh', 'wb').write(script)
ended = call('pgpu', 'submit', '--wait', 'script.sh')
found = open('script.sum').read().split()[0] if os.path.exists('script.sum') else ''
verdict('script', found == hashlib.sha256(script).hexdigest(), ended.stderr)
END
while IFS=$'\t' read -r result name; do
	equals "$name: byte for byte" same "$result"
done < <(python3 bytes.py)
equals "all of them were looked at" 5 "$count"
finish
