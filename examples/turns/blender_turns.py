# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender offers its lane after each frame of an animation, and says how far it is. turns.py lies beside this file.

    blender --background scene.blend --python blender_turns.py --render-anim
"""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import turns  # noqa: E402


@bpy.app.handlers.persistent
def after_frame(scene, *_):
    """The frame is written: render_post comes after that."""
    progress = os.environ.get("PGPU_PROGRESS")
    if progress:
        with open(progress, "w") as file:
            done = scene.frame_current - scene.frame_start + 1
            file.write(f"{done}/{scene.frame_end - scene.frame_start + 1} frames\n")
    turns.take()


bpy.app.handlers.render_post.append(after_frame)
