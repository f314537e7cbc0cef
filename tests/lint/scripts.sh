#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every shell script passes shellcheck.
cd "$(dirname "$0")/../.." || exit 1
mapfile -t scripts < <(find . -name build -prune -o \( -name '*.sh' -o -name '*.bash' -o -path './.ci/run' -o -path './tests/vm/machine' \) -print)

if ! command -v shellcheck >/dev/null; then
	echo "ok every script passes shellcheck # SKIP no shellcheck here"
elif found=$(printf '%s\n' "${scripts[@]}" | xargs -P 2 -n 8 shellcheck -f gcc); then
	echo "ok every script passes shellcheck (${#scripts[@]})"
else
	echo "not ok every script passes shellcheck"
	printf '%s\n' "$found" | sed 's/^/# /'
	exit 1
fi
