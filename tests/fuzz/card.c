/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A whole machine as the probe sees it: cards in sysfs, the KFD's topology and processes, /proc with its fdinfo. The
 * input is a tree of files, "@ sys/class/kfd/kfd/proc/77/vram_1" and so on; two samples of it are taken.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "fuzz.h"
#include "runner/cell/contender.h"
#include "runner/cell/probe.h"
#include "runner/cell/probe_account.h"
#include "runner/cell/probe_foreign.h"

static void look(struct probe *probe, struct probe_account *account, struct contender_base *base, bool first)
{
	SCOPE_SAMPLE struct probe_sample sample;
	static struct probe_use use;
	static struct probe_step step;
	static const pid_t pids[] = { 77, 78 };
	struct probe_set set = { pids, 2 }, none = { pids, 0 };
	struct probe_foreign *list;
	struct contender_kfd kfd;
	struct contender contender;
	struct err err = ERR_NONE;
	size_t count;

	HOLDS(probe_sample(probe, NULL, &sample, &err) == 0);
	probe_use_of(&sample, &set, &use);
	HOLDS(probe_use_vram(&use) >= -1 && use.time_ns >= -1);
	HOLDS(probe_account_add(account, &sample, &set, &step, &err) == 0);
	HOLDS(step.permille >= -1 && step.permille <= 1000 && step.busy_ns >= 0);
	HOLDS(probe_foreign_list(&sample, &none, &list, &count, &err) == 0);
	free(list);
	contender_kfd_read(probe, &kfd);
	if (first)
		HOLDS(contender_base_take(&sample, base, &err) == 0);
	contender_find(&sample, &set, &kfd, base, 1 << 20, &contender);
	contender_kfd_free(&kfd);
}

int fuzz_one(const uint8_t *bytes, size_t size)
{
	static struct probe probe;
	struct probe_account account = PROBE_ACCOUNT_NONE;
	struct contender_base base = { 0 };
	char path[128];
	int folder = fuzz_fresh("machine");

	HOLDS(mkdirat(folder, "proc", 0700) == 0 && mkdirat(folder, "sys", 0700) == 0);
	fuzz_tree(folder, bytes, size);
	snprintf(path, sizeof path, "%s/machine/proc", fuzz_folder());
	setenv("PGPU_PROCFS", path, 1);
	snprintf(path, sizeof path, "%s/machine/sys", fuzz_folder());
	setenv("PGPU_SYSFS", path, 1);
	probe_open(&probe);
	look(&probe, &account, &base, true);
	look(&probe, &account, &base, false);
	probe_close(&probe);
	probe_account_free(&account);
	contender_base_free(&base);
	close(folder);
	return 0;
}
