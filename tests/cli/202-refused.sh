#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Job files that are wrong: exit 2, FILE:LINE:COLUMN, and nothing is spooled.
. "$(dirname "$0")/lib.sh"

# refused NAME LINE REGEX: job.yaml is refused at that line with words that match; LINE "-" leaves the place open.
refused()
{
	local place=$2:
	[ "$2" != - ] || place=
	exits 2 "$1" timeout -k 1 20 pgpu submit job.yaml
	matches "says where and what" "^pgpu: job\.yaml:$place.*($3)" "$(head -n 1 "$err")"
	equals "prints no id" '' "$(cat "$out")"
}

while IFS='|' read -r name line words text; do
	printf '%b' "$text" >job.yaml
	refused "$name" "$line" "$words"
done <<-'END'
	C003 DOS line ends|-|DOS|---\r\nname: a\r\n---\r\n#!/bin/bash\r\necho hi\r\n
	C003 a DOS script|-|DOS|---\nname: a\n---\n#!/bin/bash\r\necho hi\r\n
	C013 a bare number|2|30s.*30m|---\nbudget: 30\n---\n#!/bin/sh\ntrue\n
	C013 zero|2|budget|---\nbudget: 0\n---\n#!/bin/sh\ntrue\n
	C013 a negative one|2|budget|---\nbudget: -5m\n---\n#!/bin/sh\ntrue\n
	C037 a size without a unit|2|1024M|---\nmemory: 1024\n---\n#!/bin/sh\ntrue\n
	C037 a size that overflows|2|memory|---\nmemory: 99999999999G\n---\n#!/bin/sh\ntrue\n
	C037 an unknown unit|2|memory|---\nmemory: 12X\n---\n#!/bin/sh\ntrue\n
	an unknown key|3|budget|---\nname: t\nbugdet: 1m\n---\n#!/bin/sh\ntrue\n
	an unknown class|2|render|---\nclass: rendre\n---\n#!/bin/sh\ntrue\n
	C051 the same key twice|3|twice|---\nmemory: 8G\nmemory: 64G\n---\n#!/bin/sh\ntrue\n
	C051 twice in env|4|twice|---\nenv:\n  A: b\n  A: c\n---\n#!/bin/sh\ntrue\n
	C049 a body that is empty|-|command|---\nname: a\n---\n
	C081 UTF-16|-|UTF|\xff\xfe-\x00-\x00-\x00\n\x00
	C081 a byte-order mark in front of #!|-|byte-order|---\nname: a\n---\n\xef\xbb\xbf#!/bin/sh\ntrue\n
	C099 an empty value|2|name|---\nname:\n---\n#!/bin/sh\ntrue\n
	C099 a null value|2|name|---\nname: ~\n---\n#!/bin/sh\ntrue\n
	C099 an empty text|2|memory|---\nmemory: ""\n---\n#!/bin/sh\ntrue\n
	C101 a blank line above #!|-|#!|---\nname: a\n---\n\n#!/bin/sh\ntrue\n
	C133 a second document|-||---\nname: a\n...\nname: b\n---\n#!/bin/sh\ntrue\n
	C133 a list for a header|2||---\n- a\n---\n#!/bin/sh\ntrue\n
	C157 a NUL byte|-|NUL|---\nname: a\n---\n#!/bin/sh\ntr\x00ue\n
	C157 a foreign YAML version|-||%YAML 9.9\n---\nname: a\ncommand: [true]\n
	C157 bytes that are no UTF-8|2||---\nname: "\xff\xfe"\n---\n#!/bin/sh\ntrue\n
	an alias|2|alias|---\nname: &a x\nsession: *a\n---\n#!/bin/sh\ntrue\n
	a tag|2|tag|---\nname: !x y\n---\n#!/bin/sh\ntrue\n
	no command|-|command|name: a\n
	two commands|-|command|---\ncommand: [true]\n---\n#!/bin/sh\ntrue\n
	a folder that is not there|2|no/such|---\nworkdir: /no/such/folder\n---\n#!/bin/sh\ntrue\n
	C009 an output folder that cannot be written|2|output|---\noutput: /proc/none/x.out\n---\n#!/bin/sh\ntrue\n
	an unknown letter in a path|2|%q|---\noutput: x-%q\n---\n#!/bin/sh\ntrue\n
END
python3 -c 'print("---\nenv: " + 100000 * "[")' >job.yaml
refused "C157 100000 open brackets" - .
python3 -c 'print("---\nenv: " + 10000 * "{a: ")' >job.yaml
refused "C157 10000 open braces" - .
python3 -c 'print("---\nname: a\n---\n#!/bin/sh\n" + 66 * 1024 * 1024 * "#")' >job.yaml
exits 2 "a script above 64 MiB" pgpu submit job.yaml
: >job.yaml
exits 2 "an empty file" pgpu submit job.yaml
exits 2 "a folder" pgpu submit .
exits 2 "a file that is not there" pgpu submit nothing.yaml
mkfifo pipe
exits 2 "one bad file of three spools none" sh -c 'printf "command: [true]\n" >good.yaml; echo "x: 1" >bad.yaml; pgpu submit good.yaml bad.yaml good.yaml'
equals "and no id is printed" '' "$(cat "$out")"

equals "nothing at all was spooled" '' "$(pgpu queue --all | grep -w render)"
equals "and no file is left" '' "$(find "$XDG_STATE_HOME" \( -path '*/pending/*' -o -path '*/running/*' -o -path '*/ended/*' \) -type f)"

# What is no job in the spool is set aside, never in the way (C117).
queue=$(dirname "$(find "$XDG_STATE_HOME" -type d -name pending | head -n 1)")
if [ -d "$queue/pending" ]; then
	conf 'lanes = 1'
	pgpu submit -- sh -c "$(gate a)" >id
	reached a
	first=$(pgpu submit -o one.out -- echo one)
	second=$(pgpu submit -o two.out -- echo two)
	name=$(basename "$(find "$queue/pending" -name "*$first*" | head -n 1)")
	odd() { echo "$queue/pending/${name/$first/$1}"; }
	head -c 300 /dev/urandom >"$(odd 900001)"
	mkdir "$(odd 900002)"
	mkfifo "$(odd 900003)"
	ln -s loop "$(odd 900004)"
	touch "$queue/pending/junk"
	pgpu queue >list 2>"$err"
	matches "C117 the list goes on" " $second +PD " "$(cat list)"
	open_gate a
	exits 0 "C117 the first right one runs" pgpu wait "$first"
	exits 0 "C117 and the second" pgpu wait "$second"
	equals "C117 both as submitted" $'one\ntwo' "$(cat one.out two.out)"
	check "C117 nothing was deleted" test "$(find "$queue" -name '*90000*' -o -name junk | wc -l)" -ge 5
fi
finish
