/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names and homes of accounts, from /etc/passwd and /etc/group. Whoever is not in them is asked for at getent(1): what
 * nsswitch.conf(5) names beside the files (a directory service, systemd) is plug-ins of libc, and a program that has
 * libc inside can load those of the very same version only.
 */
#ifndef PGPU_BASE_ACCOUNT_H
#define PGPU_BASE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The name, or the home folder, of a user; the name of a group. False: there is none, or it does not fit. */
bool account_user(uid_t uid, char *name, size_t size);
bool account_home(uid_t uid, char *path, size_t size);
bool account_group(gid_t gid, char *name, size_t size);

#endif
