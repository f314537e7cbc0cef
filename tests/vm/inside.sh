#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# inside.sh SCENE FILE…: runs the test files one after the other and prints what they print, with scene and file in
# front of each check's name. The exit code is 1 when a check failed.
scene=$1
shift
said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT
failed=0

for file; do
	name=${file##*/} began=$SECONDS
	case $file in tests/cli/*) name=cli/$name ;; esac
	SCENE=$scene timeout -k 5 "${FILE_LIMIT:-600}" "./$file" >"$said" 2>&1 </dev/null
	code=$?
	if [ $code -ne 0 ] && ! grep -q '^not ok' "$said" || ! grep -qE '^(not )?ok' "$said"; then
		echo "not ok - runs to its end, not with exit code $code" >>"$said"
	fi
	! grep -q '^not ok' "$said" || failed=1
	sed -E "s|^((not )?ok)( [0-9]+)?( -)? (.*)|\1 - $scene: ${name%.sh}: \5|" "$said"
	echo "# $scene: $name took $((SECONDS - began)) s"
done
exit $failed
