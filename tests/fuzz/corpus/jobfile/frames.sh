#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A part of the strip, one picture after the other:   cd examples/strip && pgpu submit frames.sh -- FIRST LAST
#PGPU class: render
#PGPU name: strip
#PGPU budget: 10m
#PGPU memory: 2G
set -u

mkdir -p frames
for frame in $(seq "$1" "$2"); do
	povray strip.ini +SF"$frame" +EF"$frame" >povray-"$1".log 2>&1 || { cat povray-"$1".log; exit 1; }
	echo "frame $frame"
done
