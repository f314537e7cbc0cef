#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The next Debian: its compiler builds the source with no warning, the units and some of the command line pass there.
# shellcheck disable=SC2317 # what follows a skip is reached without it
. "$(dirname "$0")/lib.sh"
cannot() { skip "the build on Debian 13" "$1"; finish; }
[ -z "$sanitizer" ] || cannot "it has a build of its own"
[ "$(id -u)" = 0 ] || cannot "not root"
command -v mmdebstrap >/dev/null || cannot "no mmdebstrap here"
unshare --mount true 2>/dev/null || cannot "no mounts here"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null | grep -v security | head -n 1)
[ -n "$mirror" ] || cannot "apt knows no Debian packages here"

# What the build and the units take, by the names that the README and deps.sh have for it.
packages=$(awk '$1 == "build" || $1 == "check" && $2 ~ /cmocka|setcap|command:ps|python3|setpriv/ { print $3 }' "$REPO/tests/deps.sh" | sort -u | paste -sd ,)
root=$SANDBOX/root
timeout 400 mmdebstrap --quiet --variant=apt --mode=root --include="$packages" --dpkgopt=force-unsafe-io \
	trixie "$root" "deb $mirror trixie main" >said 2>&1 || cannot "mmdebstrap cannot make it: $(tail -n 1 said | cut -c -200)"

# inside CMD…: in that system, with the /proc, /dev and /sys of this one, and this sandbox's mark for its end.
inside()
{
	# shellcheck disable=SC2016 # for sh
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 MARK="$SANDBOX/" unshare --mount sh -c '
		for tree in proc dev sys; do mount --rbind "/$tree" "$0/$tree" || exit; done
		exec chroot "$0" "$@"' "$root" "$@"
}

# The source as `make dist` packs it.
exits 0 "make dist" env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$REPO" dist BUILD="$SANDBOX/dist"
tar -C "$root" -xzf "$SANDBOX"/dist/pgpu-*.tar.gz && mv "$root"/pgpu-* "$root/source"
exits 0 "it is Debian 13" inside sh -c '. /etc/os-release && [ "$VERSION_ID" = 13 ]'
exits 0 "make all units, with its compiler" inside make -s -j1 -C /source all units
equals "has nothing to say" '' "$(cat "$out" "$err")"
exits 0 "the units pass" inside env JOBS=1 /source/tests/run.sh unit
matches "all of them" '^[1-9][0-9]+ passed, 0 failed, 0 skipped$' "$(tail -n 1 "$out")"
mapfile -t files < <(printf 'tests/cli/%s.sh\n' 101-exit-codes 201-job-files 301-lists 401-order-and-lanes 502-watchers 602-places)
exits 0 "some of the command line passes" inside sh -c 'cd /source && JOBS=1 exec tests/run.sh "$@"' sh "${files[@]}"
finish
