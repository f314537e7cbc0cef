#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# On a machine with a card: what `pgpu status` says of it, against the vendor's own tool (nvidia-smi, rocm-smi). Both look
# at a moving thing, so they are asked until they agree. tests/run.sh tests/gpu-real.sh runs it; without such a tool it
# skips. Start something on the card first, so that there is more than an idle one to compare.
cd "$(dirname "$0")/.." || exit 1
pgpu=${BUILD:-build}/pgpu
sandbox=$(mktemp -d /tmp/pgpu-real.XXXXXX)
trap 'rm -rf "$sandbox"' EXIT
mkdir -m 700 "$sandbox/run"
export XDG_STATE_HOME=$sandbox XDG_RUNTIME_DIR=$sandbox/run XDG_CONFIG_HOME=$sandbox
unset PGPU_PROCFS PGPU_SYSFS

for tool in nvidia-smi rocm-smi; do
	if ! command -v $tool >/dev/null; then
		echo "ok the card's figures are those of $tool # SKIP no $tool here"
		continue
	fi
	PGPU=$pgpu TOOL=$tool python3 - <<'END_OF_PYTHON'
import json, os, re, subprocess, time

MIB = 1 << 20


def ask(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def status():
    return json.loads(ask(os.environ["PGPU"], "status", "--json"))


def number(text):
    return int(text) if re.fullmatch(r"\d+", text.strip()) else None


def address(text):
    """As pgpu spells it: four digits of domain, small letters."""
    domain, rest = text.strip().lower().split(":", 1)
    return f"{int(domain, 16):04x}:{rest}"


def nvidia():
    cards, users = {}, {}
    for line in ask("nvidia-smi", "--query-gpu=pci.bus_id,utilization.gpu,memory.total,memory.used",
                    "--format=csv,noheader,nounits").splitlines():
        pci, load, total, used = line.split(",")
        cards[address(pci)] = (number(load), number(total), number(used))
    for line in ask("nvidia-smi", "--query-compute-apps=gpu_bus_id,pid,used_memory", "--format=csv,noheader,nounits").splitlines():
        pci, pid, used = line.split(",")
        users[address(pci), int(pid)] = number(used)
    return cards, users


def rocm():
    cards, users = {}, {}
    for one in json.loads(ask("rocm-smi", "--showuse", "--showmeminfo", "vram", "--showbus", "--json")).values():
        if "PCI Bus" in one:
            cards[address(one["PCI Bus"])] = (number(one.get("GPU use (%)", "")), int(one["VRAM Total Memory (B)"]) // MIB,
                                              int(one["VRAM Total Used Memory (B)"]) // MIB)
    shown = json.loads(ask("rocm-smi", "--showpids", "--json") or "{}").get("system", {})
    for name, what in shown.items():
        if name.startswith("PID"):
            users[None, int(name[3:])] = int(what.split(",")[2]) // MIB
    return cards, users


def differences(cards, users, seen):
    """What they do not agree on."""
    found = []
    ours = {card["pci"]: card for card in seen["cards"]}
    for pci, (load, total, used) in cards.items():
        card = ours.get(pci)
        if not card:
            found.append(f"{pci} is not in pgpu's list")
            continue
        if total is not None and abs(card["vram_total_bytes"] // MIB - total) > total // 50 + 1:
            found.append(f"{pci} total: {card['vram_total_bytes'] // MIB} MiB, not {total}")
        # nvidia-smi leaves out what the driver keeps for itself.
        if used is not None and abs(card["vram_used_bytes"] // MIB - used) > total // 50 + 64:
            found.append(f"{pci} used: {card['vram_used_bytes'] // MIB} MiB, not {used}")
        if load is not None and card["busy_percent"] is not None and abs(card["busy_percent"] - load) > 20:
            found.append(f"{pci} load: {card['busy_percent']} %, not {load}")
    for (pci, pid), used in users.items():
        held = [one["vram_bytes"] for one in seen["foreign"] if one["pid"] == pid and (pci is None or one["card"] == pci)]
        if not held and used:
            found.append(f"process {pid} is not among the foreign")
        elif used is not None and held and None not in held and abs(sum(held) // MIB - used) > used // 20 + 64:
            found.append(f"process {pid}: {sum(held) // MIB} MiB, not {used}")
    return found


tool = os.environ["TOOL"]
for attempt in range(20):
    cards, users = nvidia() if tool == "nvidia-smi" else rocm()
    wrong = differences(cards, users, status())
    if not wrong:
        break
    time.sleep(0.5)
names = " ".join(cards) or "none"
print(f"{'not ' if wrong or not cards else ''}ok load and memory of {names} are those of {tool}, and {len(users)} processes")
for line in wrong:
    print("#", line)
if not users:
    print(f"ok processes are those of {tool} # SKIP nothing runs on a card")
END_OF_PYTHON
done
