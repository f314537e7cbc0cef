# SPDX-License-Identifier: GPL-3.0-or-later
# hang.py FOLDER: mounts a file system on FOLDER that never answers, says "hung", and takes it away when its input ends.
import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
folder = sys.argv[1].encode()
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
if libc.mount(b"hang", folder, b"fuse", 0, options) != 0:
    sys.exit("cannot mount: " + os.strerror(ctypes.get_errno()))
print("hung", flush=True)
sys.stdin.read()
libc.umount2(folder, 2)
