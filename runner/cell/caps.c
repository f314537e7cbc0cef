/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "caps.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "conf/conf.h"

/* Takes `flags` from all three sets; the ambient set never holds what permitted or inheritable have lost. */
static int clear_sets(const cap_flag_t flags[], int count)
{
	cap_t sets = cap_get_proc();
	int result = sets ? 0 : -1;

	for (int i = 0; result == 0 && i < count; i++)
		result = cap_clear_flag(sets, flags[i]);
	if (result == 0)
		result = cap_set_proc(sets);
	if (sets)
		cap_free(sets);
	return result;
}

static const cap_value_t probe_needs[] = { CAP_SYS_PTRACE };

static int keep_for_probe(void)
{
	cap_flag_value_t has = CAP_CLEAR;
	cap_t sets = cap_get_proc();
	int result = sets ? cap_get_flag(sets, CAP_SYS_PTRACE, CAP_PERMITTED, &has) : -1;

	if (result == 0)
		result = cap_clear_flag(sets, CAP_EFFECTIVE);
	if (result == 0)
		result = cap_clear_flag(sets, CAP_PERMITTED);
	if (result == 0 && has == CAP_SET)
		result = cap_set_flag(sets, CAP_PERMITTED, 1, probe_needs, CAP_SET);
	if (result == 0)
		result = cap_set_proc(sets);
	if (sets)
		cap_free(sets);
	return result;
}

void caps_probe(bool raise)
{
	cap_t sets = getauxval(AT_SECURE) ? cap_get_proc() : NULL;

	if (!sets)
		return;
	if (!raise)
		cap_set_flag(sets, CAP_PERMITTED, 1, probe_needs, CAP_CLEAR);
	cap_set_flag(sets, CAP_EFFECTIVE, 1, probe_needs, raise ? CAP_SET : CAP_CLEAR);
	cap_set_proc(sets); /* refused where it was not kept */
	cap_free(sets);
}

/* The kernel says by AT_SECURE (getauxval(3)) that the file gave us something. An ordinary process of its user is
 * what is left: its /proc files are his again. */
int caps_give_back(bool keep_probe, struct err *err)
{
	static const cap_flag_t gained[] = { CAP_EFFECTIVE, CAP_PERMITTED };

	if (!getauxval(AT_SECURE))
		return 0;
	if ((keep_probe ? keep_for_probe() : clear_sets(gained, 2)) == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0)
		return 1;
	err_sys(err, "cannot give back the capabilities of pgpu's file");
	err->code = EXIT_BROKEN;
	return -1;
}

int caps_forget_caller(struct err *err)
{
	static const cap_flag_t callers[] = { CAP_INHERITABLE, CAP_EFFECTIVE, CAP_PERMITTED };

	return clear_sets(callers, geteuid() == 0 ? 1 : 3) < 0 ? err_sys(err, "cannot give up capabilities") : 0;
}

/* The kernel's last capability is the one after which it knows none (EINVAL). */
static int plan_sets(uint64_t keep, struct caps_plan *plan)
{
	cap_flag_value_t may_drop = CAP_CLEAR;
	cap_value_t cap = 0;
	int in;

	if (!plan->sets || cap_get_flag(plan->sets, CAP_SETPCAP, CAP_EFFECTIVE, &may_drop) < 0)
		return -1;
	for (; (in = cap_get_bound(cap)) >= 0; cap++) {
		if (keep >> cap & 1)
			continue;
		plan->drop |= (uint64_t)(in > 0) << cap;
		cap_set_flag(plan->sets, CAP_INHERITABLE, 1, &cap, CAP_CLEAR);
		cap_set_flag(plan->sets, CAP_EFFECTIVE, 1, &cap, CAP_CLEAR);
		cap_set_flag(plan->sets, CAP_PERMITTED, 1, &cap, CAP_CLEAR);
	}
	if (cap == 0 || errno != EINVAL)
		return -1;
	if (plan->drop && may_drop != CAP_SET) {
		plan->drop = 0;
		plan->no_new_privileges = true;
	}
	return 0;
}

int caps_plan(uint64_t keep, bool no_new_privileges, struct caps_plan *ret_plan, struct err *err)
{
	SCOPE_CAPS struct caps_plan plan = { .no_new_privileges = no_new_privileges };

	if (keep) {
		plan.sets = cap_get_proc();
		if (plan_sets(keep, &plan) < 0) {
			err_sys(err, "cannot restrict the job as its class says");
			err->code = EXIT_BROKEN;
			return -1;
		}
	}
	*ret_plan = plan;
	plan.sets = NULL;
	return 0;
}

/* The bounding set first: that takes CAP_SETPCAP. */
int caps_apply(const struct caps_plan *plan)
{
	for (cap_value_t cap = 0; plan->drop >> cap; cap++) {
		if ((plan->drop >> cap & 1) && cap_drop_bound(cap) < 0)
			return -1;
	}
	if (plan->sets && cap_set_proc(plan->sets) < 0)
		return -1;
	return plan->no_new_privileges ? prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) : 0;
}

void caps_plan_free(struct caps_plan *plan)
{
	if (plan->sets)
		cap_free(plan->sets);
}
