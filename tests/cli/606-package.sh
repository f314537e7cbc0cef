#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The source as a tarball and the package made of it: the same bytes each time, no error of lintian's; installed in a
# system that has nothing else, it works there, and when it is removed nothing of it is left.
# shellcheck disable=SC2317 # what follows a skip is reached without it
. "$(dirname "$0")/lib.sh"
if [ -n "$sanitizer" ]; then
	skip "the package" "it has a build of its own"
	finish
fi

built=$SANDBOX/build
version=$(sed -n 's/^#define PGPU_VERSION "\(.*\)"/\1/p' "$REPO/runner/version.h")
# make DIRECTORY TARGET VARIABLE=VALUE…, whoever called this test.
make_in() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD make -s -C "$@"; }

# --- make dist --------------------------------------------------------------------------------------------------------
tar=pgpu-$version.tar.gz
exits 0 "make dist" make_in "$REPO" dist BUILD="$built"
exits 0 "and again" make_in "$REPO" dist BUILD="$SANDBOX/again"
same_bytes "gives the same bytes" "$built/$tar" "$SANDBOX/again/$tar"
mkdir plain && tar -C plain -xzf "$built/$tar"
plain=plain/pgpu-$version
check "it has the source" diff -r "$REPO/runner" "$plain/runner"
equals "and nothing that was built" "" "$(find "$plain" -name .git -o -name build -o -name '*.o')"
touch "$plain/README.md"
chmod -R go= "$plain"
umask 077
exits 0 "without git, of files that were touched, below another umask" make_in "$plain" dist
umask 022
same_bytes "it is the same again" "$built/$tar" "$plain/build/$tar"
exits 0 "without git, into another folder than the one it was built in" make_in "$plain" dist BUILD="$SANDBOX/other"
same_bytes "nothing that was built comes along" "$built/$tar" "$SANDBOX/other/$tar"

# --- make deb ---------------------------------------------------------------------------------------------------------
for program in dpkg-buildpackage dh; do
	command -v $program >/dev/null || { skip "make deb" "no $program here"; finish; }
done
exits 0 "make deb" make_in "$REPO" deb BUILD="$built"
deb=$(echo "$built"/deb/pgpu_"${version}"_*.deb)
[ -e "$deb" ] || finish # said already
source=$built/deb/pgpu-$version
equals "it was built of the tarball" "pgpu $version" "$("$source/build/pgpu" --version)"
dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -n 's,^\./\(.*[^/]\)$,/\1,p' | sort >files
for file in bin/pgpu lib/systemd/user/pgpu-rescue.{service,timer} share/bash-completion/completions/pgpu \
	share/zsh/vendor-completions/_pgpu share/fish/vendor_completions.d/pgpu.fish share/man/man1/pgpu.1.gz \
	share/man/man{5/pgpu-job.5,5/pgpu-spool.5,5/pgpu.conf.5,7/pgpu.7}.gz share/doc/pgpu/{pgpu.conf,copyright} \
	share/doc/pgpu/examples/{night.conf,strip/array.yaml,turns/turns.py}; do
	check "it holds /usr/$file" grep -qxF "/usr/$file" files
done
equals "no scripts of its own, and no files that it would change" "control md5sums" \
	"$(dpkg-deb --ctrl-tarfile "$deb" | tar -t | sed -n 's,^\./\(.\),\1,p' | sort | paste -sd ' ')"
depends=$(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/^ *//; s/[ :].*//' | sort | paste -sd ' ')
equals "it depends on its libraries" "libc6 libcap2 libconfuse2 libyaml-0-2" "$depends"
if command -v lintian >/dev/null; then
	exits 0 "lintian has no errors to tell" lintian --fail-on error "$built"/deb/*.changes
	lacks "none" '^E:' "$(cat "$out")"
else
	skip "lintian has no errors to tell" "no lintian here"
fi

# --- make install -----------------------------------------------------------------------------------------------------
exits 0 "make install" make_in "$source" install PREFIX=/opt DESTDIR="$PWD/installed"
for file in bin/pgpu share/bash-completion/completions/pgpu share/zsh/site-functions/_pgpu \
	share/fish/vendor_completions.d/pgpu.fish share/man/man1/pgpu.1; do
	check "puts /opt/$file in place" test -f "installed/opt/$file"
done
exits 0 "make uninstall" make_in "$source" uninstall PREFIX=/opt DESTDIR="$PWD/installed"
equals "leaves nothing" "" "$(find installed -type f)"

# --- the package, in a system of its own -----------------------------------------------------------------------------
cannot() { skip "the package in a clean system" "$1"; finish; }
[ "$(id -u)" = 0 ] || cannot "not root"
command -v mmdebstrap >/dev/null || cannot "no mmdebstrap here"
unshare --mount true 2>/dev/null || cannot "no mounts here"
# shellcheck disable=SC2016 # apt's variables
apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
	sort -u >sources
[ -s sources ] || cannot "apt knows no Debian packages here"
root=$SANDBOX/root
include=dpkg,dash,coreutils,diffutils,tar,grep,sed,libc-bin,base-files,base-passwd,debianutils,findutils
timeout 300 mmdebstrap --quiet --variant=custom --mode=root --include="$include,${depends// /,}" \
	--dpkgopt=force-unsafe-io --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
	"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" sources >said 2>&1 ||
	cannot "mmdebstrap cannot make it: $(tail -n 1 said)"

# inside CMD…: in that system, with the /proc of this one, and this sandbox's mark for its end.
inside()
{
	# shellcheck disable=SC2016 # for sh
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 MARK="$SANDBOX/" unshare --mount sh -c '
		mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' "$root" "$@"
}

# All that is there, but for dpkg's own notes and what a user has done.
there() { find "$root" \( -path "$root/var/lib/dpkg" -o -path "$root/var/log" -o -path "$root/root" \
	-o -path "$root/tmp" -o -path "$root/run" \) -prune -o -printf '%P %y %l\n' | sort; }
there >before
cp "$deb" "$root/root/pgpu.deb"
exits 0 "dpkg installs it beside what it depends on" inside dpkg --install /root/pgpu.deb
there >with
equals "its files and no others have come" "$(cat files)" \
	"$(comm -13 before with | sed -n 's,^\([^ ]*\) [^d] .*,/\1,p' | sort)"
exits 0 "pgpu --version" inside pgpu --version
equals "is the one that was packed" "pgpu $version" "$(cat "$out")"
exits 0 "pgpu run" inside pgpu run -- true
exits 3 "a job's own code" inside pgpu run -- sh -c 'exit 3'
exits 0 "pgpu submit" inside pgpu submit -W -D /root -- true
exits 0 "pgpu log" inside pgpu log
matches "has the three jobs" 'completed.*failed.*completed' "$(tail -n +2 "$out" | paste -sd ' ')"
matches "its manual is there" '\.Dt PGPU 1' "$(gzip -dc "$root/usr/share/man/man1/pgpu.1.gz")"
exits 0 "dpkg removes it" inside dpkg --remove pgpu
there >after
same_bytes "and nothing of it is left" before after
exits 1 "nor does dpkg know of it" inside dpkg --status pgpu
finish
