/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fdinfo of a descriptor, of any driver (amdgpu, i915, xe, nouveau): runner/cell/probe_drm.h. No NUL ends it. */
#include <string.h>

#include "fuzz.h"
#include "runner/cell/probe_drm.h"
#include "runner/cell/probe_walk.h"

static struct probe_client client, again;

int fuzz_one(const uint8_t *bytes, size_t size)
{
	char *text = fuzz_exact(bytes, size);
	struct probe_span span = { text, size };

	probe_stat_start(span);
	probe_pci_parse(span);
	probe_number(span, INT64_MAX);
	memset(&client, 0x5a, sizeof client);
	if (probe_drm_parse(span, &client) == PROBE_DRM_CLIENT) {
		HOLDS(client.engine_count >= 0 && client.engine_count <= PROBE_ENGINES);
		HOLDS(client.region_count >= 0 && client.region_count <= PROBE_REGIONS);
		HOLDS(client.driver[0] && strnlen(client.driver, PROBE_NAME) < PROBE_NAME);
		HOLDS(probe_client_time_ns(&client) >= -1);
		for (int pool = 0; pool < PROBE_POOLS; pool++)
			HOLDS(probe_client_bytes(&client, pool) >= -1);
		probe_client_worked(&client);
		probe_client_timed(&client);
		/* Nothing but the text decides. */
		memset(&again, 0xa5, sizeof again);
		HOLDS(probe_drm_parse(span, &again) == PROBE_DRM_CLIENT && probe_client_same(&client, &again));
		HOLDS(probe_client_time_ns(&client) == probe_client_time_ns(&again));
	}
	free(text);
	return 0;
}
