#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The figures: builds the stopwatch, strips a copy of the binary, and lets bench.py do the rest in a sandbox that is gone afterwards.
#
#     tests/bench/run.sh [--quick] [--save] [ROW...]
#
# From the environment: BUILD (build/), CC, TMPDIR (where the queue's folder lies: a real disk; /var/tmp).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
build=${BUILD:-$tree/build}
bench=$build/tests/bench
flags=(-std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror)

[ -x "$build/pgpu" ] || { echo "run.sh: $build/pgpu is missing: run make first" >&2; exit 2; }
mkdir -p "$bench"
"${CC:-cc}" "${flags[@]}" -o "$bench/spawn" "$here/spawn.c"
"${CC:-cc}" "${flags[@]}" -o "$bench/turn" "$here/turn.c"
"${CC:-cc}" "${flags[@]}" -static -o "$bench/stamp" "$here/stamp.c"
"${CC:-cc}" "${flags[@]}" -o "$bench/pause" "$here/stamp.c"
"${CC:-cc}" "${flags[@]}" -I"$tree" -o "$bench/probe" "$here/probe.c" "$build"/runner/cell/probe*.o "$build"/conf/base/*.o
strip -o "$bench/pgpu" "$build/pgpu"

disk=$(mktemp -d "${TMPDIR:-/var/tmp}/pgpu-bench.XXXXXX")
memory=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "$disk")/pgpu-bench.XXXXXX")
trap 'rm -rf "$disk" "$memory"' EXIT
trap 'exit 130' INT TERM
env -i PYTHONDONTWRITEBYTECODE=1 PATH=/usr/bin:/bin LC_ALL=C HOME="$disk" python3 "$here/bench.py" --tree "$tree" --bin "$bench" --disk "$disk" --memory "$memory" "$@"
