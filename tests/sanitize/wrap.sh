#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/sanitize/wrap.sh FOLDER REPORTS: makes in FOLDER a build whose pgpu and units run under valgrind, of the build in
# $BUILD. A worker starts itself as /proc/self/exe, which under valgrind is the real one: --trace-children follows it. A job
# is not followed, as far as its name tells it.
set -eu
cd "$(dirname "$0")/../.."
real=$(realpath -m "${BUILD:-build}")
folder=$1 reports=$2
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
	printf '#!/bin/sh\nexec valgrind %s -- %s "$@"\n' "$*" "$program" >"$file"
	chmod +x "$file"
}

wrapper "$folder/pgpu" "$real/pgpu" pgpu --trace-children=yes --trace-children-skip='*/bin/*,*.sh,*/work/*,./*'
for unit in "$real"/tests/unit/*; do
	case $unit in *.[od]) ;; *) wrapper "$folder/tests/unit/${unit##*/}" "$unit" unit ;; esac
done
