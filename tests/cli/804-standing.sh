#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Standing jobs: services that have the card only while no job and no foreign process wants it. The card is a tree in
# place of /sys, which the test's jobs themselves write; what each did when is stamped with CLOCK_MONOTONIC.
# shellcheck disable=SC2317,SC2154 # until_true calls some of these
. "$(dirname "$0")/lib.sh"

tree=$SANDBOX/tree
card=$tree/sys/class/drm/card0/device
kfd=$tree/sys/class/kfd/kfd/proc
mkdir -p "$card" "$tree/proc" "$kfd"
printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n' >"$card/uevent"
G=$((1 << 30))
echo $((16 * G)) >"$card/mem_info_vram_total"
echo $((2 * G)) >"$card/mem_info_vram_used"
export PGPU_PROCFS=$tree/proc PGPU_SYSFS=$tree/sys
stamps=$SANDBOX/stamps
mkfifo "$SANDBOX/freed"

# holder.py NAME GIGABYTES: has so much of the card until its gate opens, and gives it back itself; a service is ended by
# SIGTERM, and its memory comes back only after it, as a driver's does.
cat >"$SANDBOX/holder.py" <<'END'
import fcntl, os, signal, sys, time
sandbox, name, gigabytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
card = os.environ["CARD"]

def stamp(what):
    with open(sandbox + "/stamps", "a") as file:
        file.write("%d %s %s\n" % (time.monotonic_ns(), what, name))

def use(by):
    with open(sandbox + "/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        used = int(open(card + "/mem_info_vram_used").read())
        with open(card + "/new", "w") as file:
            file.write("%d\n" % (used + by * (1 << 30)))
        os.rename(card + "/new", card + "/mem_info_vram_used")

def stopped(*_):
    stamp("stop")
    with open(sandbox + "/freed", "w") as file:
        file.write("%d %s %d\n" % (os.getpid(), name, gigabytes))
    os._exit(0)

signal.signal(signal.SIGTERM, stopped)
use(gigabytes)
stamp("start")
if name.startswith("service"):
    while True:
        signal.pause()
open(sandbox + "/" + name + ".here", "w").write("here\n")
open(sandbox + "/" + name + ".open").read()
stamp("stop")
use(-gigabytes)
stamp("back")
END
# The driver: gives a service's memory back once its process is gone, and its worker waits for that.
cat >"$SANDBOX/driver.py" <<'END'
import glob, os, re, subprocess, sys
sandbox = sys.argv[1]
seats = os.environ["XDG_STATE_HOME"] + "/pgpu/*/boot-*/standing-0"
sys.argv = ["", sandbox, "driver", "0"]
source = open(sandbox + "/holder.py").read().split("signal.signal")[0]
exec(source)
while True:
    for line in open(sandbox + "/freed"):
        pid, name, gigabytes = line.split()
        while os.path.exists("/proc/" + pid):
            pass
        while not any("state completing" in open(seat).read() for seat in glob.glob(seats)):
            pass
        # Whoever wants the card waits for that, too: a job that does not is caught beside the service.
        while any("state completing" in open(seat).read() for seat in glob.glob(seats)):
            listed = subprocess.run(["pgpu", "queue"], capture_output=True, text=True).stdout
            if re.search(r"standing job \d+ makes room", listed) or " interactive " not in listed:
                break
        stamp("gone")
        use(-int(gigabytes))
        with open(sandbox + "/stamps", "a") as file:
            file.write("%d back %s\n" % (time.monotonic_ns(), name))
END
export CARD=$card
python3 "$SANDBOX/driver.py" "$SANDBOX" &
driver=$!
holds() { echo exec python3 "$SANDBOX/holder.py" "$SANDBOX" "$1" "$2"; }
service() { pgpu submit --standing -J "$1" --vram "$2"G -- sh -c "$(holds "$1" "$2")"; }
stamped() { grep -c " start $1\$" "$stamps" 2>/dev/null; }
started() { [ "$(stamped "$1")" -ge "$2" ]; }
states() { pgpu queue --json | python3 -c 'import json, sys
print(*sorted(job["name"] + ":" + job["state"] + ":" + job["reason"] for job in json.load(sys.stdin)))'; }
is_up() { queue_shows " R .* $1 .*standing, up:"; }
is_down() { queue_shows " PD .* $1 .*down: $2"; }
seat() { sed -n "s/^$1 \([0-9]*\).*/\1/p" "$XDG_STATE_HOME"/pgpu/*/boot-*/standing-0; }
# It is up a moment before its seat says who it is.
has_main() { main=$(seat main) && [ "${main:-0}" -gt 0 ]; }
# foreign PID NAME: such a process is there; registers PID: and the KFD knows it.
foreign()
{
	mkdir -p "$tree/proc/$1/fdinfo"
	printf '%s\n' "$2" >"$tree/proc/$1/comm"
	printf '%s (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n' "$1" >"$tree/proc/$1/stat"
}
registers() { mkdir "$kfd/$1"; }
grows()
{
	printf 'drm-driver:\tamdgpu\ndrm-client-id:\t%s\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t%s MiB\n' "$1" "$2" >"$SANDBOX/fdinfo" &&
		mv "$SANDBOX/fdinfo" "$tree/proc/$1/fdinfo/3"
}
leaves() { rm -rf "${kfd:?}/$1" "$tree/proc/$1"; }

# gone_now PID: for a job: it is there no more, or a zombie that nobody has reaped.
gone_now() { echo "! grep -q '^State:.[^Z]' /proc/$1/status 2>/dev/null"; }

# --- the key, and what does not go with it ---
conf $'lanes = 2\nstanding-after = "0"\ngrace = "1s"'
exits 2 "a standing job has no budget" pgpu submit --standing --budget 1h -- true
matches "and is told so" 'budget: a standing job has none' "$(cat "$err")"
exits 0 "it is a key of a header too" pgpu submit --dry-run - <<<$'standing: true\ncommand: [sleep, 1]'
matches "which the record has" 'standing: true' "$(cat "$out")"

# --- two services and three jobs never hold the card together ---
one=$(service service1 12)
until_true started service1 1
two=$(service service2 12)
until_true is_down service2 "standing job $one has the card"
ok "the first to come is up, the second waits for it, and both are told why"
equals "the JSON has the contract's words" "service1:running:standing service2:pending:standing" "$(states)"
matches "show says why it is up" 'why +up: nobody else wants the card' "$(pgpu show "$one")"
matches "and that it stands by" 'kind +spool, standing' "$(pgpu show "$one")"
matches "status has a line for each" "standing: job $one service1, up: .*standing: job $two, down: " "$(pgpu status | tr '\n' ' ')"
for name in job1 job2; do
	gate_pipes $name
	pgpu run -q --as $name -- sh -c "$(holds $name 1)" &
done
reached job1
reached job2
gate_pipes job3
three=$(pgpu submit -q -J job3 -- sh -c "$(holds job3 1)")
matches "while jobs have the card it is down" "PD .*service1 .*down: job [0-9]+ has the card" "$(pgpu queue)"
open_gate job1
reached job3
open_gate job2
open_gate job3
exits 0 "the spooled job ends" pgpu wait "$three"
until_true started service1 2
ok "when the card is free the first comes back"
exits 0 "cancel ends it for good" pgpu cancel "$one"
equals "as cancelled" cancelled "$(pgpu show --json "$one" | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])')"
until_true started service2 1
ok "and the second has the card"
gate_pipes job4
pgpu run -q -- sh -c "$(holds job4 12)" &
reached job4
open_gate job4
until_true started service2 2
exits 0 "the second is cancelled" pgpu cancel "$two"
wait_back() { [ "$(grep -c ' start service' "$stamps")" -eq "$(grep -c ' back service' "$stamps")" ]; }
until_true wait_back
sort -n "$stamps" >"$SANDBOX/sorted"
cat >"$SANDBOX/check.py" <<'END'
import sys
held, order, bad = set(), {}, []
for line in open(sys.argv[1]):
    _, what, name = line.split()
    services = {other for other in held if other.startswith("service")}
    if what == "start":
        if services or (held and name.startswith("service")):
            bad.append("%s starts beside %s" % (name, sorted(held)))
        held.add(name)
    elif what == "back":
        held.discard(name)
        if name.startswith("service") and order.get(name) != "gone":
            bad.append("the memory of %s is back before it has gone" % name)
    elif what == "gone" and order.get(name) not in ("stop", None):
        bad.append("%s is gone before it was stopped" % name)
    order["driver" if what == "gone" else name] = what
    if what == "gone":
        for other in services:
            order[other] = "gone"
print("; ".join(bad) or "never together")
END
equals "no service and job ever held the card together: stop, gone, memory back, next start" "never together" "$(python3 "$SANDBOX/check.py" "$SANDBOX/sorted")"
equals "each service was there twice" "2 2" "$(stamped service1) $(stamped service2)"
equals "all memory is back" $((2 * G)) "$(cat "$card/mem_info_vram_used")"
nobody_left() { local pids; pids=$(sandbox_pids); [ "$pids" = "$driver" ]; }
until_true nobody_left
ok "with the last standing job the last process that watches is gone: nothing samples"

# --- a foreign process ---
id=$(service service3 1)
until_true started service3 1
until_true has_main
foreign "$main" service3
foreign 2147483001 train
registers 2147483001
registers "$main"
wanted_by() { pgpu log --foreign | grep "$1"; }
until_true wanted_by 2147483001
leaves "$main"
until_true is_down service3 "process 2147483001 train wants the card"
ok "it makes room for a process that registers with the KFD, before that has any memory"
pgpu log --foreign >"$out"
matches "log --foreign names who wanted it, and that he registered" "2147483001 train +yes +\? +[0-9]+ +$id" "$(cat "$out")"
lacks "it did not make room for its own processes" "$main .* $id"$'\n' "$(cat "$out")"$'\n'
leaves 2147483001
until_true started service3 2
ok "it comes back when that has gone"
foreign 2147483002 game
grows 2147483002 700
until_true started service3 3
pgpu log --foreign >"$out"
matches "it makes room for a client that grows by more than contender-vram" "2147483002 game +no +700M" "$(cat "$out")"
until_true is_up service3
matches "--json has the same" '"pid":2147483002,"comm":"game","kfd":false,"vram_bytes":734003200' "$(pgpu log --foreign --json)"
exits 0 "what it held at the start of the next does not count" pgpu cancel "$id"
leaves 2147483002

# --- what a service does, and what is done to it ---
stubborn=$(pgpu submit --standing -J stubborn -- sh -c "trap '' TERM; $(gate stubborn); while :; do read _ <$SANDBOX/never; done")
mkfifo "$SANDBOX/never"
reached stubborn
open_gate stubborn
until_true has_main
exits 0 "a job gets the card from a service that ignores SIGTERM" pgpu run -q -- sh -c "$(gone_now "$main")"
exits 0 "which is cancelled then" pgpu cancel "$stubborn"

killed=$(pgpu submit --standing -J killed -- sh -c 'exec sleep 1000')
for _ in 1 2 3 4; do
	until_true is_up killed
	until_true has_main
	kill -9 "$(seat owner)"
	gone() { ! alive "$main"; }
	until_true gone
done
ok "a service whose worker is killed ends with it, every time"
until_true is_up killed
ok "and comes back, however often"
lacks "none of that counts as lost" 'lost' "$(pgpu show "$killed")"
owner=$(seat owner)
kill -STOP "$owner"
exits 0 "a stopped worker does not keep the card from a job" pgpu run -q -- true
until_true is_up killed
until_true has_main
kill -9 "$(seat owner)"
exits 0 "nor does one that was killed a moment ago" pgpu run -q -- sh -c "$(gone_now "$main")"
until_true is_up killed
exits 0 "held, it leaves the card" pgpu hold "$killed"
until_true is_down killed "held until it is released"
exits 0 "and is back when it is released" pgpu release "$killed"
until_true is_up killed
exits 75 "--no-wait does not wait for it either" pgpu run -q --no-wait -- true
exits 0 "it is cancelled" pgpu cancel "$killed"

id=$(pgpu submit --standing -J complete -- sh -c 'echo all is well; exit 0')
exits 0 "one that ends by itself with 0 has completed" pgpu wait "$id"
id=$(pgpu submit --standing -J failing -- sh -c "echo \$PGPU_RESTART_COUNT >>$SANDBOX/starts; exit 3")
again() { [ "$(wc -l <"$SANDBOX/starts")" -ge 2 ]; }
until_true again
equals "one that fails is started again, and told how often it was" "0 1" "$(head -n 2 "$SANDBOX/starts" | xargs)"
until_true is_down failing "failed [0-9]+ times in a row, again in"
ok "later each time, and queue says when"
exits 0 "while it waits it can be cancelled" pgpu cancel "$id"
matches "then it has ended" 'state +cancelled' "$(pgpu show "$id")"

id=$(pgpu submit --standing -J inside -- sh -c "pgpu turn && pgpu run -- echo ran && $(gate inside)")
reached inside
matches "a turn inside it returns at once, a run inside it is its own" 'ran' "$(pgpu output "$id")"
open_gate inside
exits 0 "and it ends" pgpu wait "$id"

# --- its seat's text is damaged while it is up: nobody can tell it to leave ---
id=$(pgpu submit --standing -J damaged -- sleep 1000)
until_true is_up damaged
until_true has_main
seat_file=$(echo "$XDG_STATE_HOME"/pgpu/*/boot-*/standing-0)
echo damaged >"$seat_file"
exits 0 "a job gets the card all the same" timeout -k 5 30 pgpu run -q -- sh -c "$(gone_now "$main")"
until_true is_up damaged
until_true has_main
echo damaged >"$seat_file"
exits 0 "a cancel is told to nobody" pgpu cancel --no-wait "$id"
main_gone() { ! alive "$main"; }
until_true main_gone
ok "and ends it"

# --- more than there is ---
id=$(service service5 15)
until_true is_down service5 'needs 15G of VRAM, 14G free'
ok "without the memory it asks for it is not started"
echo $((1 * G)) >"$card/new" && mv "$card/new" "$card/mem_info_vram_used"
until_true is_up service5
ok "with it, it is"
exits 0 "it is cancelled" pgpu cancel "$id"
exits 0 "and can be put back" pgpu requeue "$id"
until_true is_up service5
exits 0 "the end" pgpu cancel "$id"
# --- of two cards its own counts ---
other=$tree/sys/class/drm/card1/device
mkdir -p "$other"
printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:83:00.0\n' >"$other/uevent"
echo $((24 * G)) >"$other/mem_info_vram_total"
echo $((23 * G)) >"$other/mem_info_vram_used"
id=$(pgpu submit --standing -J onother --card 83:00.0 --vram 10G -- sleep 1000)
until_true is_down onother 'needs 10G of VRAM, 1.0G free on card 0000:83:00.0'
ok "it is not started for the memory of a card that it does not ask for"
echo $((2 * G)) >"$other/new" && mv "$other/new" "$other/mem_info_vram_used"
until_true is_up onother
ok "with its own card's it is"
exits 0 "it is cancelled too" pgpu cancel "$id"
finish
