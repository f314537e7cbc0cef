/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A place for cells from systemd. The scope of a login (ssh, a terminal, cron) is systemd's own: nobody may make
 * cgroups in it. Below a scope that was made with Delegate=yes its owner may, but only a process that is itself below
 * it may start another there (cgroups(7), "Delegation containment"). So systemd is asked, over the bus of the user's
 * own manager (root: of the machine's), for such a scope with this process in it and its ancestors up to the leader of
 * its session, a shell as a rule. All that is started from that shell later is in the scope from the start: it is
 * asked once a login, and the scope lives as long as something in it does.
 *
 * A user's manager ends 10 s after the last logout with all that is below it, unless the user lingers
 * (loginctl(1) enable-linger, user@.service(5)). What would live on in a login's scope is therefore moved only where
 * the user lingers; below a manager there is nothing to lose.
 *
 * Interface: org.freedesktop.systemd1(5), StartTransientUnit, called by busctl(1).
 */
#ifndef PGPU_RUNNER_LOGIN_H
#define PGPU_RUNNER_LOGIN_H

#include <stdbool.h>
#include <stddef.h>

/* systemd runs this machine (sd_booted(3)). */
bool login_managed(void);
/* The length of the part of `own`, a path in the cgroup tree, that is a scope of ours; 0 when it is in none. */
size_t login_scope(const char *own);

/*
 * Asks. True: this process is in a scope of ours now, as /proc/self/cgroup says. False: `reason` says why not; a
 * refusal is remembered for this login, and not asked for again. Waits for systemd, some seconds at most. `own` is our
 * cgroup.
 */
bool login_enter(const char *own, char *reason, size_t size);

/* True where it would ask; else why not. */
bool login_may_enter(const char *own, char *reason, size_t size);

/*
 * Why no detached job can live here after the logout; else NULL. Below a user's manager that is so for who does not
 * linger; in a login's own scope for everybody on a machine that ends what a login leaves behind (KillUserProcesses=yes
 * of logind.conf(5), which spares nobody who lingers). Asks logind once a login.
 */
const char *login_mortal(const char *own);

#endif
