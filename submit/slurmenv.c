/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slurmenv.h"

#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/words.h"
#include "conf/jobid.h"

enum value {
	ID,
	NAME,
	CLASS,
	SUBMIT_DIR,
	HOST,
	RESTARTS,
	CPUS,
	MEBIBYTES,
	ONE,
	ZERO,
	TASK,
	TASK_COUNT,
	TASK_MIN,
	TASK_MAX
};

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
	{ "_ARRAY_JOB_ID", ID },
	{ "_ARRAY_TASK_ID", TASK },
	{ "_ARRAY_TASK_COUNT", TASK_COUNT },
	{ "_ARRAY_TASK_MIN", TASK_MIN },
	{ "_ARRAY_TASK_MAX", TASK_MAX },
};
/* The last are for tasks alone. */
enum { VARIABLES = sizeof variables / sizeof variables[0], OF_TASKS = 5 };
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
	case TASK: number = (unsigned long long)jobid_task(facts->id); break;
	case TASK_COUNT: number = (unsigned long long)facts->task_count; break;
	case TASK_MIN: number = (unsigned long long)facts->task_min; break;
	case TASK_MAX: number = (unsigned long long)facts->task_max; break;
	case ZERO: break;
	}
	return text ? fmt_new("%s%s=%s", start, name, text) : fmt_new("%s%s=%llu", start, name, number);
}

char **slurmenv_new(const struct slurmenv *facts)
{
	int count = VARIABLES - (jobid_task(facts->id) < 0 ? OF_TASKS : 0);
	char **list = words_new((size_t)count);

	for (int i = 0; list && i < count; i++) {
		list[i] = assign(facts, i);
		if (!list[i]) {
			words_free(list);
			return NULL;
		}
	}
	return list;
}
