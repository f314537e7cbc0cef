# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes turns on the card from Python, without starting a process: for a training loop, or as a handler in Blender.

    import turns

    for step in range(100):
        train(step)
        turns.take()

    bpy.app.handlers.render_post.append(lambda *_: turns.take())    # Blender: after each frame
"""

import os
import socket


def take():
    """Lets a job that waits go first. Returns the milliseconds that this one was away; 0 when nobody came first, and
    outside of a job."""
    path = os.environ.get("GPU_QUEUE_TURN")
    if not path:
        return 0
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as queue:
            queue.connect(path)
            queue.send(b"turn")
            answer = queue.recv(256).split()
    except OSError:  # nobody is there to ask: go on
        return 0
    return int(answer[1]) if answer[:1] == [b"ok"] else 0


if __name__ == "__main__":
    import subprocess
    import sys

    for frame in range(int(sys.argv[1]), int(sys.argv[2]) + 1):
        subprocess.run([*sys.argv[3:], str(frame)], check=True)
        take()
