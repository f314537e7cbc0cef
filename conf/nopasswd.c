/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libconfuse looks up a home where the name of a file begins with '~'. It is given no such name (conf_scan.c), and
 * libc's functions for it would bring a hundred kilobytes into a static binary, for plug-ins that it cannot load. Ours
 * look up nobody; what pgpu itself asks is in base/account.h.
 */
#include <errno.h>
#include <pwd.h>
#include <stddef.h>

struct passwd *getpwnam(const char *name)
{
	(void)name;
	errno = 0; /* there is no such user */
	return NULL;
}

struct passwd *getpwuid(uid_t uid)
{
	(void)uid;
	errno = 0;
	return NULL;
}
