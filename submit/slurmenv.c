/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurmenv.h"

#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/words.h"
#include "conf/jobid.h"

enum value { ID, NAME, CLASS, SUBMIT_DIR, HOST, RESTARTS, CPUS, MEBIBYTES, ONE, ZERO };

/* Behind "SLURM". */
static const struct {
	char name[20];
	char value;
} variables[] = {
	{ "_JOB_ID", ID },
	{ "_JOBID", ID },
	{ "_JOB_NAME", NAME },
	{ "_JOB_PARTITION", CLASS },
	{ "_SUBMIT_DIR", SUBMIT_DIR },
	{ "_SUBMIT_HOST", HOST },
	{ "_RESTART_COUNT", RESTARTS },
	{ "_MEM_PER_NODE", MEBIBYTES },
	{ "_CPUS_ON_NODE", CPUS },
	{ "_NNODES", ONE },
	{ "_JOB_NUM_NODES", ONE },
	{ "_NTASKS", ONE },
	{ "_NPROCS", ONE },
	{ "_PROCID", ZERO },
	{ "_LOCALID", ZERO },
	{ "_NODEID", ZERO },
	{ "D_NODENAME", HOST },
	{ "_JOB_NODELIST", HOST },
	{ "_NODELIST", HOST },
};
enum { VARIABLES = sizeof variables / sizeof variables[0] };
static const char start[] = "SLURM";

bool slurmenv_is_ours(const char *assignment)
{
	if (strncmp(assignment, start, sizeof start - 1) != 0)
		return false;
	const char *name = assignment + sizeof start - 1;
	size_t length = strcspn(name, "=");
	if (strncmp(name, "_ARRAY_", 7) == 0)
		return true;
	for (int i = 0; i < VARIABLES; i++) {
		if (strlen(variables[i].name) == length && memcmp(variables[i].name, name, length) == 0)
			return true;
	}
	return false;
}

static char *assign(const struct slurmenv *facts, int i)
{
	const char *name = variables[i].name, *text = NULL;
	unsigned long long number = 0;

	switch ((enum value)variables[i].value) {
	case NAME: text = facts->name; break;
	case CLASS: text = facts->class_name; break;
	case SUBMIT_DIR: text = facts->submit_dir; break;
	case HOST: text = facts->host; break;
	case ID: number = jobid_number(facts->id); break;
	case RESTARTS: number = (unsigned long long)facts->restarts; break;
	case CPUS: number = (unsigned long long)facts->cpus; break;
	case MEBIBYTES: number = facts->memory_bytes >> 20; break;
	case ONE: number = 1; break;
	case ZERO: break;
	}
	return text ? fmt_new("%s%s=%s", start, name, text) : fmt_new("%s%s=%llu", start, name, number);
}

char **slurmenv_new(const struct slurmenv *facts)
{
	char **list = words_new(VARIABLES);

	for (int i = 0; list && i < VARIABLES; i++) {
		list[i] = assign(facts, i);
		if (!list[i]) {
			words_free(list);
			return NULL;
		}
	}
	return list;
}
