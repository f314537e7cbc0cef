#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# C033: a tree without the memory controller: the ceiling is watched, and said to be, instead of skipped without a word.
# scenes: host
# shellcheck disable=SC2016 # for the machine's shell
. "$(dirname "$0")/lib.sh"
stage=$SANDBOX/stage
mkdir -p "$stage/build" && cp "$BUILD/pgpu" "$stage/build/" || exit 1

exits 0 "a machine without the controller runs" "$REPO/tests/vm/machine" run --kernel cgroup_disable=memory --timeout 300 \
	--src "$stage" -- bash -c '
	PATH=$PWD/build:$PATH
	pgpu run -m 64M -- sed -n s/^0:://p /proc/self/cgroup 2>&1
	pgpu run -m 64M -- python3 -c "import time; kept = bytearray(300 << 20); time.sleep(1000)" 2>&1 || echo "ended with $?"
	pgpu log | tail -n 1
	pgpu status'
said=$(cat "$out")
matches "C033 a run says that its ceiling is watched, and why" \
	'pgpu: the memory ceiling is watched, not enforced by the kernel: the memory controller is not enabled' "$said"
matches "C033 it has a cell" '/pgpu\.[0-9-]+\.scope/pgpu-' "$said"
matches "C033 one above it is ended" 'at its memory ceiling of 64M .*; watched, not enforced by the kernel.*ended with 137' "$said"
matches "C033 as oom" '137 oom' "$said"
matches "C033 and status says so too" 'cells: freezer and kill; the memory ceiling is watched' "$said"
finish
