# SPDX-License-Identifier: GPL-3.0-or-later
# Reads #include lines as "FILE:#include "HEADER"" and prints those that break the layers of README's code map:
# conf/base < conf < submit < runner < commands (main.c and cmd_*.c); runner/line and runner/cell know neither each other nor submit/.
# Headers are named from the top or from FILE's folder.

function layer(file)
{
	if (file ~ /(^|\/)(main|cmd_[a-z_]+)\.[ch]$/) return 5
	if (file ~ /^conf\/base\//) return 1
	if (file ~ /^conf\//)       return 2
	if (file ~ /^submit\//)     return 3
	return 4
}

# Asked without a process for each of two thousand lines.
function is_file(name,    line)
{
	if (!(name in known)) {
		known[name] = (getline line < name) >= 0
		close(name)
	}
	return known[name]
}

function half(file)
{
	if (file ~ /^runner\/line\//) return "line"
	if (file ~ /^runner\/cell\//) return "cell"
	return ""
}

BEGIN { FS = ":" }
{
	file = $1
	header = $2
	gsub(/.*#include "|".*/, "", header)
	folder = file
	sub(/[^\/]*$/, "", folder)
	if (is_file(folder header))
		header = folder header
	if (layer(header) > layer(file) && header != "runner/commands.h")
		print file " includes " header ", a layer above it"
	if (half(file) != "" && half(header) != half(file) && header ~ /^runner\//)
		print file " of the " half(file) " half includes " header ", which is none of it"
	if (half(file) != "" && header ~ /^submit\//)
		print file " of the " half(file) " half includes " header ": only runner/ itself and commands see submit/"
}
