# SPDX-License-Identifier: GPL-3.0-or-later
# Reads #include lines as "FILE:#include "HEADER"" and prints those that break the layers of README's code map:
# conf/base < conf < submit < runner < commands (main.c and cmd_*.c). Headers are named from the top or from FILE's folder.

function layer(file)
{
	if (file ~ /(^|\/)(main|cmd_[a-z_]+)\.[ch]$/) return 5
	if (file ~ /^conf\/base\//) return 1
	if (file ~ /^conf\//)       return 2
	if (file ~ /^submit\//)     return 3
	return 4
}

function half(file,   name)
{
	name = file
	sub(/.*\//, "", name)
	sub(/\.[ch]$/, "", name)
	if (file !~ /^runner\//) return ""
	if (name ~ /^(line|seat|ticket|elect|entry|served|wake|member|settle|spawn|lineup)$/) return "line"
	if (name ~ /^(cell|launch|stray|card.*)$/) return "cell"
	return ""
}

# The few of runner/ that see both halves and submit/.
function sees_all(file) { return file ~ /^runner\/(worker|rescue|spooled|supervise)\.[ch]$/ || layer(file) == 5 }

BEGIN { FS = ":" }
{
	file = $1
	header = $2
	gsub(/.*#include "|".*/, "", header)
	folder = file
	sub(/[^\/]*$/, "", folder)
	if (system("test -e '" folder header "'") == 0)
		header = folder header
	if (layer(header) > layer(file) && header != "runner/commands.h")
		print file " includes " header ", a layer above it"
	if (half(file) != "" && half(header) != "" && half(file) != half(header))
		print file " of the " half(file) " half includes " header " of the " half(header) " half"
	if (file ~ /^runner\// && header ~ /^submit\// && !sees_all(file))
		print file " includes " header ": only worker, rescue, spooled, supervise and commands may"
}
