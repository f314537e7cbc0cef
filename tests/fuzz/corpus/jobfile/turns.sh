#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Frames one after the other; between two of them a job that waits may go first.
#
#     pgpu run -- examples/turns/turns.sh 1 24 ./render-frame
first=$1 last=$2
shift 2
for ((frame = first; frame <= last; frame++)); do
	"$@" "$frame" || exit
	pgpu turn
done
