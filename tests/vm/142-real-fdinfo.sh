#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The probe gives the same figures through the kernel's own /proc as through a tree in its place: processes hold the
# descriptors of each fixture, whose fdinfo has the fixture's lines (guest/drmkeys.c).
# scenes: manager
. "$(dirname "$0")/lib.sh"

module=/usr/local/lib/pgpu-vm/drmkeys.ko
if ! sudo insmod "$module" 2>"$err"; then
	not_ok "a module gives the machine a card's descriptors" "$(cat "$err")"
	finish
fi

# holders.py FIXTURE: a process for each of the fixture's, in the order in which those began, with its descriptors of a
# card; says when all are there, and ends them at the next line of its input.
cat >holders.py <<'EOF'
import glob, os, re, signal, sys

def begun(process):
    return int(open(process + "/stat").read().rpartition(")")[2].split()[19])

children = []
processes = [p for p in glob.glob(sys.argv[1] + "/proc/[0-9]*") if os.path.isfile(p + "/stat")]
for process in sorted(processes, key=lambda p: (begun(p), int(os.path.basename(p)))):
    texts = []
    for name in sorted(glob.glob(process + "/fdinfo/*")):
        text = open(name, "rb").read()
        if re.search(rb"^(drm-|pdev:)", text, re.M):
            texts.append(re.sub(rb"\A(?:(?:pos|flags|mnt_id|ino):.*\n)*", b"", text))
    if not texts:
        continue
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ready)
        same = True
        for text in texts:
            fd = os.open("/dev/dri/renderD128", os.O_RDWR)
            os.write(fd, text)
            same = same and open("/proc/self/fdinfo/%d" % fd, "rb").read().endswith(text)
        os.write(told, b"+" if same else b"-")
        os.close(told)
        signal.pause()
    os.close(told)
    children.append((pid, os.read(ready, 1)))
    os.close(ready)
print("held" if children and all(word == b"+" for _, word in children) else "wrong", flush=True)
sys.stdin.readline()
for pid, _ in children:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
EOF
# foreign PROC FIXTURE: who uses which card how much, without pids and names.
foreign()
{
	env ${1:+PGPU_PROCFS="$1"} PGPU_SYSFS="$2/sys" pgpu status --json |
		python3 -c 'import json, sys
for line in sorted("%s %s %s" % (f["card"], f["vram_bytes"], f["via"]) for f in json.load(sys.stdin)["foreign"]): print(line)'
}

for name in amdgpu-rx9060xt amdgpu-old-kernel amdgpu-dupkeys amdgpu-5.15 two-cards i915 xe; do
	fixture=$REPO/tests/fixtures/$name
	coproc HOLD { exec python3 holders.py "$fixture"; }
	holder=$HOLD_PID
	read -r said <&"${HOLD[0]}"
	equals "$name: the kernel's files have the fixture's lines" held "$said"
	wanted=$(foreign "$fixture/proc" "$fixture")
	matches "$name: the fixture shows somebody" drm "$wanted"
	equals "$name: the kernel's files give the same figures" "$wanted" "$(foreign '' "$fixture")"
	echo >&"${HOLD[1]}"
	wait "$holder"
done
equals "nobody is left" '' "$(foreign '' "$fixture")"

# Of a job, in its cell, by the same way.
export PGPU_SYSFS=$REPO/tests/fixtures/two-cards/sys
pgpu run -q -- sh -c "exec 3<>/dev/dri/renderD128; printf 'drm-driver:\tamdgpu\ndrm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t2 MiB\n' >&3; $(gate job)" & run=$!
reached job
equals "a lane shows what its job holds" 2097152 "$(pgpu status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["lanes"][0]["vram_bytes"])')"
open_gate job
wait $run
check "nothing holds the module" sudo rmmod drmkeys
finish
