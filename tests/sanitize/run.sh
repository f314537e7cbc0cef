#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The part of `make check-asan` that the suite has time for: the units, and CLI tests with much parsing and many processes.
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath -m "${BUILD:-build}")
cli=(tests/cli/201-job-files.sh tests/cli/202-refused.sh tests/cli/401-order-and-lanes.sh
	tests/cli/603-broken-configuration.sh)
bad=0

# suite NAME KIND|FILE…: a line for each of its files.
suite()
{
	local name=$1
	shift
	BUILD=$build JOBS=1 tests/sanitize/suite.sh "$name" "$@" >"$build/$name.log" 2>&1
	local code=$?
	awk -v name="$name" '/passed, 0 failed, [0-9]+ skipped$/ && /^tests/ { print "ok " $1 " under " name; next }
		/passed, [0-9]+ failed, [0-9]+ skipped$/ && /^tests/ { print "not ok " $1 " under " name; next }
		/^FAILED|^#/ { sub(/^#? ?/, "# "); print }' "$build/$name.log"
	if [ $code -eq 0 ]; then
		echo "ok nothing is found by $name"
	else
		echo "not ok nothing is found by $name"
		bad=1
	fi
}

if echo 'int main(void) { return 0; }' | ${CC:-cc} -fsanitize=address,undefined -x c -o "$build/can-asan" - 2>/dev/null &&
	"$build/can-asan"; then
	if flock "$build/make.lock" make -s -j2 BUILD="$build/asan" SANITIZE=address,undefined all units >"$build/asan-make.log" 2>&1; then
		suite asan unit "${cli[@]}"
	else
		echo "not ok the build with SANITIZE=address,undefined"
		tail -n 20 "$build/asan-make.log" | sed 's/^/# /'
		bad=1
	fi
else
	echo "ok units and command line under asan # SKIP ${CC:-cc} has no ASan and UBSan here"
fi

exit $bad
