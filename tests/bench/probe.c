/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long one look at the cards takes: `probe ROUNDS` prints a line of nanoseconds for each round, "FIRST LATER": a
 * first sample of all processes, and the next one, which knows who has nothing. PGPU_PROCFS and PGPU_SYSFS name the
 * tree.
 */
#include <stdio.h>
#include <stdlib.h>

#include "conf/base/clock.h"
#include "runner/cell/probe.h"

static long long sample_ns(struct probe *probe)
{
	struct probe_sample sample;
	int64_t began = clock_awake_ns();

	if (probe_sample(probe, NULL, &sample, NULL) < 0)
		exit(1);
	int64_t took = clock_awake_ns() - began;
	probe_sample_free(&sample);
	return took;
}

int main(int argc, char **argv)
{
	static struct probe probe;

	for (int rounds = argc > 1 ? atoi(argv[1]) : 1; rounds > 0; rounds--) {
		probe_open(&probe);
		long long first = sample_ns(&probe);
		printf("%lld %lld\n", first, sample_ns(&probe));
		probe_close(&probe);
	}
	return 0;
}
