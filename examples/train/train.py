# SPDX-License-Identifier: GPL-3.0-or-later
"""A training loop as PyTorch's are, in plain Python: what belongs to pgpu is the rest of it. It begins where its checkpoint
ends, offers its lane between two steps, says how far it is, and on SIGUSR1 or SIGTERM saves and ends with code 85.

    pgpu submit train.yaml            turns alone
    pgpu submit checkpoint.yaml       an hour at a time, back in line in between
"""

import json
import os
import signal
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "turns"))
import turns  # noqa: E402

STEPS = int(os.environ.get("STEPS", "1000"))
STEP_S = float(os.environ.get("STEP_S", "0.01"))
EVERY = 10
CHECKPOINT = "checkpoint.json"
asked_to_stop = False


def load():
    """torch.load(CHECKPOINT)"""
    try:
        with open(CHECKPOINT) as file:
            return json.load(file)
    except FileNotFoundError:
        return {"step": 0, "weight": 0.0}


def save(state):
    """torch.save(state, file): whole, or not at all."""
    with open(CHECKPOINT + ".part", "w") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(CHECKPOINT + ".part", CHECKPOINT)


def train(state):
    """Forward, backward, optimizer.step()."""
    time.sleep(STEP_S)
    state["weight"] -= 0.01 * 2 * (state["weight"] - 3)
    state["step"] += 1


def tell(step):
    progress = os.environ.get("PGPU_PROGRESS")
    if progress:
        with open(progress, "w") as file:
            file.write(f"{step}/{STEPS} steps\n")


def stop(*_):
    global asked_to_stop
    asked_to_stop = True


signal.signal(signal.SIGUSR1, stop)
signal.signal(signal.SIGTERM, stop)
state = load()
print(f"from step {state['step']}", flush=True)
while state["step"] < STEPS and not asked_to_stop:
    train(state)
    if state["step"] % EVERY == 0:
        save(state)
        tell(state["step"])
    turns.take()
save(state)
print(f"to step {state['step']}, weight {state['weight']:.6f}", flush=True)
sys.exit(0 if state["step"] >= STEPS else 85)
