#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/fuzz/run.sh [SECONDS]: builds the fuzz targets under ASan and UBSan and runs each on its corpus; with SECONDS it
# then fuzzes for so long each, with clang's libFuzzer where it is there, and leaves what it found in $BUILD/found/.
# README.md in this folder is the manual.
# shellcheck disable=SC2317 # xargs calls the functions
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath -m "${BUILD:-build}")
seconds=${1:-0}
bad=0

# can FLAGS…: that compiler can link and run a program with these sanitizers.
can()
{
	mkdir -p "$build"
	echo 'int LLVMFuzzerTestOneInput(const unsigned char *a, unsigned long b) { return !a && b; }' >"$build/can.c"
	[[ $* = *fuzzer* ]] || echo 'int main(void) { return 0; }' >"$build/can.c"
	"$@" -o "$build/can" "$build/can.c" >/dev/null 2>&1 && "$build/can" -runs=1 >/dev/null 2>&1
}

# build_targets FOLDER VARIABLE=VALUE…
build_targets()
{
	local folder=$1
	shift
	flock "$build/make.lock" make -s -j2 BUILD="$folder" "$@" fuzzers >"$build/fuzzers.log" 2>&1 && return
	echo "not ok the fuzz targets are built"
	tail -n 20 "$build/fuzzers.log" | sed 's/^/# /'
	exit 1
}

# What one target printed, for a person.
tell()
{
	grep -vE '^#[0-9]+|^NEW_FUNC|^tests/fuzz/corpus/[^ ]*$' "$1" | tail -n 40 | sed 's/^/# /'
}

replay()
{
	local target=$1 folder=$2 said=$build/replay-$1.log inputs=("tests/fuzz/corpus/$1")
	[ "$target" != jobfile ] || inputs+=(examples/*.yaml examples/*/*.sh) # as they are shipped
	[ ! -d "$build/large/$target" ] || inputs+=("$build/large/$target")
	if timeout -k 5 300 "$folder/tests/fuzz/$target" "${inputs[@]}" >"$said" 2>&1; then
		echo "ok $target: $(find "${inputs[@]}" -type f | wc -l) inputs"
	else
		echo "not ok $target: the input $(grep -E "^(tests/fuzz/corpus|$build/large)/" "$said" | grep -v ' ' | tail -n 1)"
		tell "$said"
		bad=1
	fi
}

# Inputs that reach something new are kept in $build/grown/TARGET, which the next run begins with as well.
fuzz()
{
	local target=$1 folder=$2 said=$build/fuzz-$1.log grown=$build/grown/$1 found=$build/found
	mkdir -p "$grown" "$found"
	local options=(-max_total_time="$seconds" -timeout=60 -rss_limit_mb=1024 -malloc_limit_mb=50 -max_len=65535
		-print_final_stats=1 -artifact_prefix="$found/$target-" -dict=tests/fuzz/words.dict)
	if FUZZ_INPUT=$found/$target-last timeout -k 5 $((seconds + 120)) "$folder/tests/fuzz/$target" "${options[@]}" \
		"$grown" "tests/fuzz/corpus/$target" >"$said" 2>&1; then
		rm -f "$found/$target-last"
		echo "ok $target: $(sed -nE 's/^(Done [0-9]+ runs).*/\1/p' "$said" | tail -n 1) in $seconds s," \
			"$(grep -oE 'cov: [0-9]+' "$said" | tail -n 1)"
	else
		echo "not ok $target: see $found/$target-*"
		tell "$said"
		bad=1
	fi
}

targets=()
for source in tests/fuzz/*.c; do
	name=$(basename "$source" .c)
	case $name in fuzz | replay) ;; *) targets+=("$name") ;; esac
done

# A small quarantine: memory that was given back is no finding.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:quarantine_size_mb=4 UBSAN_OPTIONS=print_stacktrace=1
if [ "$seconds" -gt 0 ] && can clang -fsanitize=fuzzer,address,undefined; then
	folder=$build/libfuzzer
	build_targets "$folder" CC=clang SANITIZE=fuzzer-no-link,address,undefined ENGINE=-fsanitize=fuzzer
elif can "${CC:-cc}" -fsanitize=address,undefined; then
	folder=$build/asan
	build_targets "$folder" SANITIZE=address,undefined
elif can clang -fsanitize=address,undefined; then
	folder=$build/asan-clang
	build_targets "$folder" CC=clang SANITIZE=address,undefined
else
	echo "ok the corpus under ASan and UBSan # SKIP no compiler here that has them"
	folder=$build
	build_targets "$folder"
fi
rm -rf "$build/large"
python3 tests/fuzz/large.py "$build/large" || echo "# no large inputs without python3"
export -f fuzz replay tell
export build folder seconds
if [ "$seconds" -gt 0 ]; then
	for target in "${targets[@]}"; do echo "fuzz $target $folder"; done
else
	for target in "${targets[@]}"; do echo "replay $target $folder"; done
fi | xargs -P 2 -I TASK bash -c 'bad=0; TASK; exit $bad' || bad=1
exit $bad
