# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The sandbox of a CLI test and the words it is written in; README.md in this folder is the manual.
set -u
umask 022

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(realpath -m "${BUILD:-$REPO/build}")
SANDBOX=$(mktemp -d /tmp/pgpu-test.XXXXXX)
for name in $(compgen -e | grep -E '^(PGPU_|GPU_QUEUE|PRIORITY$|LC_|LANG)'); do unset "$name"; done
export HOME=$SANDBOX/home XDG_CONFIG_HOME=$SANDBOX/config XDG_STATE_HOME=$SANDBOX/state XDG_RUNTIME_DIR=$SANDBOX/run
export PATH=$BUILD:$PATH LC_ALL=C.UTF-8 SHELL=/bin/sh
mkdir -m 700 "$HOME" "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR" "$XDG_CONFIG_HOME/pgpu" "$SANDBOX/work"
cd "$SANDBOX/work" || exit 1

# So many times the seconds that a test's job has for what it does: in the emulated machine ($SCENE) all takes longer.
slow=${SCENE:+4} slow=${slow:-1}
# asan or valgrind, where pgpu runs in one (tests/sanitize): it is slower, and has descriptors and address space of its own.
sanitizer=${SANITIZER:-}
[ -z "$sanitizer" ] || slow=$((slow * 4))
out=$SANDBOX/out err=$SANDBOX/err # what the last `exits` printed
count=0 failed=0 last=none finished=

# --- verdicts -------------------------------------------------------------------------------------------------------
ok()
{
	count=$((count + 1)) last=$1
	echo "ok $count - $1"
}

# not_ok NAME [WHY]
not_ok()
{
	count=$((count + 1)) failed=$((failed + 1)) last=$1
	echo "not ok $count - $1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | cat -v | sed 's/^/# /'
}

# skip NAME REASON
skip()
{
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# The last line of a test.
finish()
{
	finished=yes
	exit $((failed > 0))
}

# --- checks ---------------------------------------------------------------------------------------------------------
# check NAME CMD…: CMD succeeds.
check()
{
	local name=$1 text
	shift
	if text=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "exit code $? of: $*"$'\n'"$text"; fi
}

# exits CODE NAME CMD…: CMD ends with CODE; what it printed is in $out and $err.
exits()
{
	local wanted=$1 name=$2 code=0
	shift 2
	"$@" >"$out" 2>"$err" || code=$?
	if [ $code -eq "$wanted" ]; then
		ok "$name"
	else
		not_ok "$name" "exit code $code, not $wanted, of: $*"$'\n'"stdout: $(tail -n 5 "$out")"$'\n'"stderr: $(tail -n 5 "$err")"
	fi
}

# equals NAME WANTED FOUND
equals()
{
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "wanted: $2"$'\n'"found:  $3"; fi
}

# matches NAME REGEX TEXT: an extended regular expression, as [[ =~ ]] reads it.
matches()
{
	if [[ $3 =~ $2 ]]; then ok "$1"; else not_ok "$1" "wanted: $2"$'\n'"found:  $3"; fi
}

# lacks NAME REGEX TEXT
lacks()
{
	if [[ ! $3 =~ $2 ]]; then ok "$1"; else not_ok "$1" "not wanted: $2"$'\n'"found:      $3"; fi
}

# same_bytes NAME WANTED_FILE FOUND_FILE
same_bytes()
{
	if cmp -s "$2" "$3"; then ok "$1"; else not_ok "$1" "$(cmp "$2" "$3" 2>&1; od -c "$3" | head -n 8)"; fi
}

# --- waiting for something to be so ---------------------------------------------------------------------------------
# A gate holds a job where the test wants it: the job says that it is there and goes on when the test opens the gate.
#     pgpu run -- sh -c "$(gate a); exit 3" &
#     reached a; …; open_gate a; wait $!
gate()
{
	gate_pipes "$1"
	printf 'echo here > %s; read _ < %s' "$SANDBOX/$1.here" "$SANDBOX/$1.open"
}

# Whoever comes first makes them: the text of a background command is only made in the background.
gate_pipes() { mkfifo "$SANDBOX/$1.here" "$SANDBOX/$1.open" 2>/dev/null; }

reached()
{
	gate_pipes "$1"
	timeout 30 cat "$SANDBOX/$1.here" >"$SANDBOX/reached" || not_ok "a job reaches gate $1" "$(pgpu queue 2>&1)"
}

open_gate()
{
	timeout 30 tee "$SANDBOX/$1.open" <<<go >"$SANDBOX/opened" || not_ok "a job stands at gate $1" "$(pgpu queue 2>&1)"
}

# until_true CMD…: tries CMD until it succeeds; only for what no gate, `wait` or `pgpu wait` can tell.
until_true()
{
	local end=$((SECONDS + 30))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || { not_ok "within 30 s: $*" "$(pgpu queue 2>&1)"; return 1; }
	done
}

# main_of JOB: the pid of the first process of the job with this id or name. That is at work, and at its gate, a moment
# before its lane says who it is.
main_of()
{
	local end=$((SECONDS + 30)) main=
	while [ -z "$main" ] && [ $SECONDS -lt $end ]; do
		main=$(pgpu queue --json | python3 -c 'import json, sys
print(*[job["pid"] for job in json.load(sys.stdin) if sys.argv[1] in (job["id"], job["name"]) and job["pid"]])' "$1")
	done
	echo "${main:-none}"
}

# alive PID: it is there, and not only as a zombie that nobody has reaped yet.
alive() { [[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) = [!Z]* ]]; }

# queue_shows REGEX: for until_true.
queue_shows() { pgpu queue "${@:2}" | grep -qE -- "$1"; }

# --- sandbox --------------------------------------------------------------------------------------------------------
# conf TEXT: the sandbox's pgpu.conf.
conf() { printf '%s\n' "$1" >"$XDG_CONFIG_HOME/pgpu/pgpu.conf"; }

# Prints the pids of this sandbox's processes: those with its folder in their environment (grep itself has none).
sandbox_pids()
{
	env -i "$(type -P grep)" -lsF "$SANDBOX/" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do
		[ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] || echo "$pid"
	done
}

# Ends them all; they start each other, so until none is left.
kill_all()
{
	local pids
	while pids=$(sandbox_pids); [ -n "$pids" ]; do
		# shellcheck disable=SC2086 # a list of words
		kill -KILL $pids 2>/dev/null
	done
}

# Removes the cells of this sandbox's queue that its dead processes left: the queue's inode is part of their names.
remove_cells()
{
	local tree queue
	tree=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	find "$XDG_STATE_HOME" -type d -printf '%i\n' | while read -r queue; do
		find "$tree" -depth -type d -path "*/pgpu-$(printf %x "$queue")-*" -exec rmdir {} +
	done
}

# "${typed[@]}" CMD… &: with INT and QUIT as in a terminal; a script's background commands have them ignored.
# shellcheck disable=SC2034 # the tests use it
typed=(python3 -c 'import os, signal, sys
for ignored in signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE:
	signal.signal(ignored, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])')

# As another user than root, where the machine lets us: as_user CMD…
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"; }

leave()
{
	[ -n "$finished" ] || not_ok "${0##*/} runs to its end" "after the check: $last"
	exec >/dev/null 2>&1
	kill_all
	wait
	remove_cells
	cd / && rm -rf "$SANDBOX"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM

conf 'lanes = 2'
pgpu run -- true >/dev/null 2>&1 # says now what it says once a login
