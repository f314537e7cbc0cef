/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_drm.h"

#include <string.h>

enum key {
	KEY_CAPACITY,
	KEY_TIME,
	KEY_TOTAL_CYCLES,
	KEY_CYCLES,
	KEY_MAX_HZ,
	KEY_RESIDENT,
	KEY_MEMORY,
	KEY_TOTAL,
	KEY_SHARED,
	KEYS
};

/* The longer ones first: drm-engine-capacity-gfx is a count, drm-total-cycles-rcs a clock. Not pointers: they would be
 * relocated at every start of pgpu. */
static const char prefixes[KEYS][18] = {
	[KEY_CAPACITY] = "engine-capacity-",
	[KEY_TIME] = "engine-",
	[KEY_TOTAL_CYCLES] = "total-cycles-",
	[KEY_CYCLES] = "cycles-",
	[KEY_MAX_HZ] = "maxfreq-",
	[KEY_RESIDENT] = "resident-",
	[KEY_MEMORY] = "memory-",
	[KEY_TOTAL] = "total-",
	[KEY_SHARED] = "shared-",
};

struct unit {
	char word[4];
	int32_t factor;
};
enum { UNITS = 4 };

static const struct unit bytes_units[UNITS] = { { "", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "kB", 1 << 10 } };
static const struct unit time_units[UNITS] = { { "ns", 1 } };
static const struct unit hz_units[UNITS] = { { "Hz", 1 }, { "KHz", 1000 }, { "MHz", 1000000 } };

/* A number, a blank or more, and one of the units, to the end. */
static int64_t figure(struct probe_span value, const struct unit units[UNITS])
{
	uint64_t number;
	int64_t scaled;

	if (!probe_digits(&value, &number) || number > INT64_MAX)
		return -1;
	bool apart = false;
	while (probe_skip(&value, " "))
		apart = true;
	for (int i = 0; i < UNITS; i++) {
		if (units[i].factor && probe_is(value, units[i].word) && apart == (value.size > 0))
			return __builtin_mul_overflow((int64_t)number, units[i].factor, &scaled) ? -1 : scaled;
	}
	return -1;
}

/* NULL when the name is none, or there are too many. */
static struct probe_engine *engine_named(struct probe_client *client, struct probe_span name)
{
	char word[PROBE_NAME];

	if (!probe_word(name, word, sizeof word))
		return NULL;
	for (int i = 0; i < client->engine_count; i++) {
		if (strcmp(client->engines[i].name, word) == 0)
			return &client->engines[i];
	}
	if (client->engine_count == PROBE_ENGINES)
		return NULL;
	struct probe_engine *engine = &client->engines[client->engine_count++];
	*engine = (struct probe_engine){ .capacity = 0, .time_ns = -1, .cycles = -1, .total_cycles = -1, .max_hz = -1 };
	memcpy(engine->name, word, sizeof word);
	return engine;
}

static struct probe_region *region_named(struct probe_client *client, struct probe_span name)
{
	char word[PROBE_NAME];

	if (!probe_word(name, word, sizeof word))
		return NULL;
	for (int i = 0; i < client->region_count; i++) {
		if (strcmp(client->regions[i].name, word) == 0)
			return &client->regions[i];
	}
	if (client->region_count == PROBE_REGIONS)
		return NULL;
	struct probe_region *region = &client->regions[client->region_count++];
	*region = (struct probe_region){ .resident = -1, .memory = -1, .total = -1, .shared = -1 };
	memcpy(region->name, word, sizeof word);
	return region;
}

/* The first of two counts. */
static void keep(struct probe_client *client, int64_t *field, int64_t value)
{
	client->partial = client->partial || value < 0;
	if (*field < 0)
		*field = value;
}

static void take_engine(struct probe_client *client, enum key key, struct probe_span name, struct probe_span value)
{
	struct probe_engine *engine = engine_named(client, name);

	if (!engine) {
		client->partial = true;
		return;
	}
	switch (key) {
	case KEY_TIME: keep(client, &engine->time_ns, figure(value, time_units)); break;
	case KEY_CYCLES: keep(client, &engine->cycles, probe_number(value, INT64_MAX)); break;
	case KEY_TOTAL_CYCLES: keep(client, &engine->total_cycles, probe_number(value, INT64_MAX)); break;
	case KEY_MAX_HZ: keep(client, &engine->max_hz, figure(value, hz_units)); break;
	default: {
		int64_t capacity = probe_number(value, 1 << 16);
		if (engine->capacity == 0 && capacity > 0)
			engine->capacity = (int)capacity;
	}
	}
}

static void take_region(struct probe_client *client, enum key key, struct probe_span name, struct probe_span value)
{
	struct probe_region *region = region_named(client, name);

	if (!region) {
		client->partial = true;
		return;
	}
	keep(client,
	     key == KEY_RESIDENT ? &region->resident
	     : key == KEY_MEMORY ? &region->memory
	     : key == KEY_TOTAL	 ? &region->total
				 : &region->shared,
	     figure(value, bytes_units));
}

static void take_figure(struct probe_client *client, struct probe_span name, struct probe_span value)
{
	for (enum key key = 0; key < KEYS; key++) {
		if (!probe_skip(&name, prefixes[key]))
			continue;
		if (key < KEY_RESIDENT)
			take_engine(client, key, name, value);
		else
			take_region(client, key, name, value);
		return;
	}
}

/* Who it is, as far as the lines have told. */
struct identity {
	bool driver, pci, id; /* has come */
	bool strange;	      /* and one of them is none */
	/* Of amdgpu before 5.19. Newer ones print a pasid as well. */
	uint64_t old_pci, pasid;
	bool old_memory, has_pasid;
};

static bool take_identity(struct probe_client *client, struct probe_span key, struct probe_span value,
			  struct identity *seen)
{
	bool *first = probe_is(key, "driver")	   ? &seen->driver
		      : probe_is(key, "pdev")	   ? &seen->pci
		      : probe_is(key, "client-id") ? &seen->id
						   : NULL;

	if (!first || *first)
		return first;
	*first = true;
	if (first == &seen->driver)
		seen->strange |= !probe_word(value, client->driver, sizeof client->driver);
	else if (first == &seen->pci)
		seen->strange |= (client->pci = probe_pci_parse(value)) == PROBE_NO_PCI;
	else
		seen->strange |= !probe_digits(&value, &client->id) || value.size;
	return true;
}

/* Its "gfx0: 70.59%" is a share of no known time. */
static void take_old(struct probe_client *client, struct probe_span key, struct probe_span value, struct identity *seen)
{
	static const char pools[3][5] = { "vram", "gtt", "cpu" };

	if (probe_is(key, "pdev"))
		seen->old_pci = probe_pci_parse(value);
	else if (probe_is(key, "pasid"))
		seen->has_pasid = probe_digits(&value, &seen->pasid) && value.size == 0;
	for (int i = 0; i < 3; i++) {
		struct probe_span rest = key;
		if (probe_skip(&rest, pools[i]) && probe_is(rest, " mem")) {
			seen->old_memory = true;
			take_region(client, KEY_MEMORY, (struct probe_span){ pools[i], strlen(pools[i]) }, value);
		}
	}
}

static enum probe_drm finish_old(struct probe_client *client, const struct identity *seen)
{
	if (!seen->old_memory)
		return PROBE_DRM_OTHER;
	client->dated = true;
	client->pci = seen->old_pci;
	client->id = seen->pasid;
	memcpy(client->driver, "amdgpu", sizeof "amdgpu");
	return seen->has_pasid && client->pci != PROBE_NO_PCI ? PROBE_DRM_CLIENT : PROBE_DRM_NAMELESS;
}

enum probe_drm probe_drm_parse(struct probe_span text, struct probe_client *ret_client)
{
	struct probe_client *client = ret_client;
	struct identity seen = { .old_pci = PROBE_NO_PCI };
	struct probe_span key, value;

	/* Not the whole of it: most descriptors are no card's. */
	client->pci = PROBE_NO_PCI;
	client->id = 0;
	client->driver[0] = '\0';
	client->dated = client->partial = false;
	client->engine_count = client->region_count = 0;
	while (probe_line(&text, ':', &key, &value)) {
		if (!probe_skip(&key, "drm-"))
			take_old(client, key, value, &seen);
		else if (!take_identity(client, key, value, &seen))
			take_figure(client, key, value);
	}
	client->partial = client->partial || text.size > 0; /* a line that was cut */
	if (!seen.driver && !seen.id && !seen.pci)
		return finish_old(client, &seen);
	return seen.driver && seen.id && !seen.strange ? PROBE_DRM_CLIENT : PROBE_DRM_NAMELESS;
}

/* Without an address the driver stands for the card. */
bool probe_client_same(const struct probe_client *a, const struct probe_client *b)
{
	return a->id == b->id && a->pci == b->pci && a->dated == b->dated &&
	       (a->pci != PROBE_NO_PCI || strcmp(a->driver, b->driver) == 0);
}

bool probe_client_timed(const struct probe_client *client)
{
	for (int i = 0; i < client->engine_count; i++) {
		const struct probe_engine *engine = &client->engines[i];
		if (engine->time_ns >= 0 || (engine->cycles >= 0 && (engine->total_cycles >= 0 || engine->max_hz > 0)))
			return true;
	}
	return strcmp(client->driver, "amdgpu") == 0 && !client->dated && client->region_count > 0;
}

int64_t probe_client_time_ns(const struct probe_client *client)
{
	int64_t sum = client->engine_count == 0 && probe_client_timed(client) ? 0 : -1;

	for (int i = 0; i < client->engine_count; i++) {
		int64_t time_ns = client->engines[i].time_ns;
		if (time_ns >= 0 && __builtin_add_overflow(sum < 0 ? 0 : sum, time_ns, &sum))
			return INT64_MAX;
	}
	return sum;
}

bool probe_client_worked(const struct probe_client *client)
{
	for (int i = 0; i < client->engine_count; i++) {
		if (client->engines[i].time_ns > 0 || client->engines[i].cycles > 0)
			return true;
	}
	return false;
}

static enum probe_pool pool_of(const char *region)
{
	if (strncmp(region, "vram", 4) == 0 || strncmp(region, "local", 5) == 0 ||
	    strncmp(region, "stolen-local", 12) == 0)
		return PROBE_VRAM;
	if (strcmp(region, "gtt") == 0)
		return PROBE_GTT;
	return strncmp(region, "system", 6) == 0 || strncmp(region, "stolen", 6) == 0 ||
			       strcmp(region, "memory") == 0 || strcmp(region, "cpu") == 0
		       ? PROBE_SYSTEM
		       : PROBE_POOLS;
}

int64_t probe_client_bytes(const struct probe_client *client, enum probe_pool pool)
{
	int64_t sum = -1;

	for (int i = 0; i < client->region_count; i++) {
		const struct probe_region *region = &client->regions[i];
		if (pool_of(region->name) != pool)
			continue;
		int64_t bytes = region->resident >= 0 ? region->resident : region->memory;
		if (bytes < 0 || __builtin_add_overflow(sum < 0 ? 0 : sum, bytes, &sum))
			return -1;
	}
	return sum;
}
