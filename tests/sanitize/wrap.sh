#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/sanitize/wrap.sh FOLDER REPORTS: makes in FOLDER a build whose pgpu and units run under valgrind, of the build in
# $BUILD, the one that is linked with libc: valgrind puts its own functions of memory there. A worker is followed
# (worker_exe.c); a job is not, as far as its name tells it.
set -eu
cd "$(dirname "$0")/../.."
real=$(realpath -m "${BUILD:-build}")
folder=$1 reports=$2
valgrind=$(command -v valgrind.bin || echo valgrind)
options="-q --error-exitcode=99 --track-fds=yes --leak-check=full --errors-for-leak-kinds=definite
	--show-leak-kinds=definite --suppressions=$PWD/tests/sanitize/valgrind.supp"

# wrapper FILE PROGRAM OPTION…
wrapper()
{
	local file=$1 program=$2 log=$3
	shift 3
	# shellcheck disable=SC2086,SC2116 # on one line
	# shellcheck disable=SC2046
	set -- $(echo $options) --log-file="$reports/$log.%p" "$@"
	mkdir -p "$(dirname "$file")"
	# Neither sh(1) nor valgrind's own starter, a script for it, hands on the functions that bash exports.
	printf '#!/bin/bash\nexec env %s %s %s -- %s "$@"\n' "${preload:-}" "$valgrind" "$*" "$program" >"$file"
	chmod +x "$file"
}

mkdir -p "$folder"
"${CC:-cc}" -shared -fPIC -D_GNU_SOURCE -DREAL="\"$real/shared/pgpu\"" -Wall -Wextra -Werror -o "$folder/worker_exe.so" tests/sanitize/worker_exe.c
preload="LD_PRELOAD=$folder/worker_exe.so"
wrapper "$folder/pgpu" "$real/shared/pgpu" pgpu --trace-children=yes --trace-children-skip='*/bin/*,*.sh,*/work/*,./*'
preload=
for unit in "$real"/tests/unit/*; do
	case $unit in *.[od]) ;; *) wrapper "$folder/tests/unit/${unit##*/}" "$unit" unit ;; esac
done
