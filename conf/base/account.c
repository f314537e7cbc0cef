/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "child.h"
#include "fmt.h"
#include "scope.h"

/* Fields of passwd(5) and group(5), from 0. */
enum { FIELD_NAME = 0, FIELD_NUMBER = 2, FIELD_HOME = 5 };
enum { GETENT_MS = 5000, LINE = 8192 };

static const char *field_of(const char *line, int field, size_t *ret_length)
{
	for (; field > 0; field--) {
		line = strchrnul(line, ':');
		if (*line == '\0')
			return NULL;
		line++;
	}
	*ret_length = strcspn(line, ":\n");
	return line;
}

/* The line is not the account's, or has no such field, or it is empty or does not fit: false. */
static bool take(const char *line, const char *number, int field, char *text, size_t size)
{
	size_t length = 0;
	const char *found = field_of(line, FIELD_NUMBER, &length);

	if (!found || length != strlen(number) || memcmp(found, number, length) != 0)
		return false;
	found = field_of(line, field, &length);
	if (!found || length == 0 || length >= size)
		return false;
	memcpy(text, found, length);
	text[length] = '\0';
	return true;
}

static bool in_file(const char *path, const char *number, int field, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	SCOPE_FREE char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (file && !found && getline(&line, &room, file) >= 0)
		found = take(line, number, field, text, size);
	if (file)
		(void)fclose(file); /* it was only read */
	return found;
}

/* Whom it asks is the administrator's choice; where it lies is not the caller's: PATH and its like have no say. */
static bool by_getent(const char *table, const char *number, int field, char *text, size_t size)
{
	char *argv[] = { "/usr/bin/getent", (char *)table, (char *)number, NULL }, *environment[] = { NULL };
	char answer[LINE];
	int status = child_ask(argv, environment, GETENT_MS, answer, sizeof answer);

	return status == 0 && take(answer, number, field, text, size);
}

static bool find(const char *table, unsigned id, int field, char *text, size_t size)
{
	char path[32], number[16];

	fmt(path, sizeof path, "/etc/%s", table);
	fmt(number, sizeof number, "%u", id);
	return in_file(path, number, field, text, size) || by_getent(table, number, field, text, size);
}

bool account_user(uid_t uid, char *name, size_t size)
{
	return find("passwd", uid, FIELD_NAME, name, size);
}

bool account_home(uid_t uid, char *path, size_t size)
{
	return find("passwd", uid, FIELD_HOME, path, size);
}

bool account_group(gid_t gid, char *name, size_t size)
{
	return find("group", gid, FIELD_NAME, name, size);
}
