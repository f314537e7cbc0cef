#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the job that accounts for itself and lets torture.py do the rest; without arguments the short form.
#
#     tests/torture/run.sh [--seed N] [--short | --rounds whole|KIND:SPOOLED:BLOCKING:ACTIONS,...] [--cells auto|off] [--plan] [--keep]
#     tests/torture/run.sh longrun [--jobs N] [--ratio R]
#
# From the environment: BUILD (build/), CC.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath -m "${BUILD:-$here/../../build}")

[ -x "$build/pgpu" ] || { echo "run.sh: $build/pgpu is missing: run make first" >&2; exit 2; }
if ! command -v python3 >/dev/null; then
	echo "ok torture # SKIP no python3 here"
	exit 0
fi
mkdir -p "$build/tests/torture"
"${CC:-cc}" -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o "$build/tests/torture/job" "$here/job.c"
export PYTHONDONTWRITEBYTECODE=1
part=torture
if [ "${1-}" = longrun ]; then
	part=longrun
	shift
elif [ $# -eq 0 ]; then
	set -- --short --seed "${SEED:-1}" # the suite plays one plan; new ones are for make torture
fi
exec python3 "$here/$part.py" --build "$build" "$@"
