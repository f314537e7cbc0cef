#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The binary is what the Makefile's HARDEN and ALL_LD ask for: position independent, its tables read-only once it runs, no
# stack that can be executed, stacks with a guard, and the calls of libc that have a checked form in that form.
cd "$(dirname "$0")/../.." || exit 1
pgpu=${BUILD:-build}/pgpu
bad=0

# holds NAME CMD…
holds()
{
	local name=$1
	shift
	if "$@" >/dev/null; then
		echo "ok $name"
	else
		echo "not ok $name"
		bad=1
	fi
}

for tool in readelf nm; do
	command -v $tool >/dev/null || { echo "ok the binary is hardened # SKIP no $tool here"; exit 0; }
done
segments=$(readelf -lW "$pgpu") dynamic=$(readelf -dW "$pgpu") header=$(readelf -hW "$pgpu")
# What our own part of it calls, wherever that is linked from.
symbols=$(nm --undefined-only "${BUILD:-build}/libpgpu.a" 2>/dev/null | sed -nE 's/.* U (.*)/\1/p' | sort -u)

holds "it is position independent (PIE)" grep -qE 'Type: +DYN' <<<"$header"
holds "and says so" grep -qE 'FLAGS_1.*PIE' <<<"$dynamic"
holds "a part of it is made read-only before main (RELRO)" grep -q GNU_RELRO <<<"$segments"
holds "all symbols are bound by then (BIND_NOW)" grep -qE 'BIND_NOW|FLAGS_1.* NOW' <<<"$dynamic"
holds "its stack cannot be executed" grep -qE 'GNU_STACK.* RW +0x' <<<"$segments"
holds "nothing is written and executed" sh -c '! grep -qE "LOAD.* RWE "' <<<"$segments"
holds "no relocation changes its text" sh -c '! grep -q TEXTREL' <<<"$dynamic"
holds "no search path for libraries is in it" sh -c '! grep -qE "RPATH|RUNPATH"' <<<"$dynamic"
holds "stacks have a guard" grep -qx __stack_chk_fail <<<"$symbols"
holds "calls are fortified" grep -q '_chk$' <<<"$symbols"
# What FORTIFY has a checked form for, as far as it can tell the room at compile time: read() into an array, say, has both.
plain=$(grep -xE 'sprintf|strcpy|strcat|stpcpy|gets|vsprintf|getwd' <<<"$symbols" | tr '\n' ' ')
holds "none of those without bounds is left unchecked: ${plain:-none}" test -z "$plain"
echo "# fortified: $(grep '_chk$' <<<"$symbols" | tr '\n' ' ')"
exit $bad
