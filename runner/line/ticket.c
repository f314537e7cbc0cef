/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ticket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"

static const char *const flag_names[TICKET_FLAGS] = {
	[TICKET_PLAIN] = "",
	[TICKET_PASSED] = ":passed",
	[TICKET_TURN] = ":turn",
	[TICKET_FROZEN] = ":frozen",
};

void ticket_name_format(const struct ticket_name *name, char file[256])
{
	int used = fmt(file, 256, "%s:%s:%s", JOBID(name->id), name->class_name, name->session);

	used += text_mark_put(file + used, 256 - (size_t)used, 'm', name->reserved_bytes);
	used += text_mark_put(file + used, 256 - (size_t)used, 'v', name->vram_bytes);
	used += pci_mark_put(file + used, 256 - (size_t)used, name->card);
	fmt(file + used, 256 - (size_t)used, "%s", flag_names[name->flag]);
}

int ticket_name_parse(const char *file, struct ticket_name *ret_name)
{
	struct ticket_name name = { 0 };
	const char *end;

	name.id = jobid_read(file, &end);
	if (file[0] < '1' || file[0] > '9' || *end != ':')
		return -1;
	const char *flag = text_part(end + 1, name.class_name, sizeof name.class_name);
	if (!flag || *flag != ':' || !(flag = text_part(flag + 1, name.session, sizeof name.session)) ||
	    text_mark_parse(&flag, 'm', &name.reserved_bytes) < 0 ||
	    text_mark_parse(&flag, 'v', &name.vram_bytes) < 0 || pci_mark_parse(&flag, name.card) < 0)
		return -1;
	for (int i = 0; i < TICKET_FLAGS; i++) {
		if (strcmp(flag, flag_names[i]) == 0) {
			name.flag = (enum ticket_flag)i;
			*ret_name = name;
			return text_class_ok(name.class_name) ? 0 : -1;
		}
	}
	return -1;
}

static struct flock whole_lock(void)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };
}

int ticket_make(struct line *line, struct entry *entry, enum ticket_flag flag, struct ticket *ret_ticket,
		struct err *err)
{
	struct ticket_name name = {
		.id = entry->id, .reserved_bytes = entry->reserved_bytes, .vram_bytes = entry->vram_bytes, .flag = flag
	};
	struct ticket ticket;
	struct flock lock = whole_lock();

	memcpy(name.class_name, entry->class_name, sizeof name.class_name);
	memcpy(name.session, entry->session, sizeof name.session);
	memcpy(name.card, entry->card, sizeof name.card);
	ticket_name_format(&name, ticket.file);
	SCOPE_FD int fd =
		openat(line->tickets_fd, ticket.file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_sys(err, "cannot make ticket %s", ticket.file);
	entry->state = flag == TICKET_FROZEN || flag == TICKET_TURN ? ENTRY_FROZEN : ENTRY_WAITING;
	entry->since_boot_ns = clock_boot_ns();
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0 || entry_write(fd, entry, err) < 0) {
		err_sys(err, "cannot write ticket %s", ticket.file);
		unlinkat(line->tickets_fd, ticket.file, 0);
		return -1;
	}
	ticket.fd = TAKE_FD(fd);
	*ret_ticket = ticket;
	return 0;
}

int ticket_update(const struct ticket *ticket, struct entry *entry, struct err *err)
{
	return entry_write(ticket->fd, entry, err);
}

int ticket_flag(struct line *line, char file[256], enum ticket_flag flag, struct err *err)
{
	struct ticket_name name;
	char renamed[256];

	if (ticket_name_parse(file, &name) < 0)
		return err_set(err, EXIT_FAILED, "cannot flag ticket %s: the name is damaged", file);
	name.flag = flag;
	ticket_name_format(&name, renamed);
	if (file_rename(line->tickets_fd, file, line->tickets_fd, renamed, 0) < 0)
		return err_sys(err, "cannot flag ticket %s", file);
	memcpy(file, renamed, sizeof renamed);
	return 0;
}

void ticket_refresh(struct line *line, struct ticket *ticket)
{
	struct ticket_name name;
	char file[256];

	if (ticket->fd < 0 || ticket_name_parse(ticket->file, &name) < 0)
		return;
	for (int flag = 0; flag < TICKET_FLAGS; flag++) {
		name.flag = (enum ticket_flag)flag;
		ticket_name_format(&name, file);
		if (file_exists(line->tickets_fd, file)) {
			memcpy(ticket->file, file, sizeof file);
			return;
		}
	}
}

void ticket_remove(struct line *line, struct ticket *ticket)
{
	if (ticket->fd < 0)
		return;
	ticket_refresh(line, ticket);
	unlinkat(line->tickets_fd, ticket->file, 0);
	close(ticket->fd);
	*ticket = TICKET_NONE;
}

bool ticket_read(struct line *line, const char *file, struct entry *ret_entry)
{
	SCOPE_FD int fd = openat(line->tickets_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct flock lock = whole_lock();
	struct err ignored = ERR_NONE;

	if (fd < 0 || (ret_entry && entry_read(fd, ret_entry, &ignored) < 0))
		return false;
	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool ticket_dead(struct line *line, const char *file)
{
	SCOPE_FD int fd = openat(line->tickets_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct flock lock = whole_lock();

	if (fd < 0)
		return errno == ENOENT;
	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

void candidate_of_ticket(const struct ticket_name *name, const char *file, struct candidate *ret_candidate)
{
	*ret_candidate = (struct candidate){ .id = name->id,
					     .reserved_bytes = name->reserved_bytes,
					     .vram_bytes = name->vram_bytes,
					     .barred = name->flag == TICKET_PASSED };
	memcpy(ret_candidate->class_name, name->class_name, sizeof ret_candidate->class_name);
	memcpy(ret_candidate->session, name->session, sizeof ret_candidate->session);
	memcpy(ret_candidate->card, name->card, sizeof ret_candidate->card);
	fmt(ret_candidate->file, sizeof ret_candidate->file, "%s", file);
}

void candidate_of_entry(const struct entry *entry, int64_t now_boot_ns, struct candidate *candidate)
{
	candidate->waited_ns = entry->waited_ns + (now_boot_ns - entry->since_boot_ns);
	candidate->ran_ns = entry->ran_ns;
	candidate->turned = entry->turned;
	candidate->job_served = entry->served;
	candidate->begun = entry->main.pid != 0;
}

static int stop_at_first(const struct ticket_name *name, const char *file, void *context)
{
	(void)name;
	(void)file;
	(void)context;
	return 1;
}

bool ticket_any(struct line *line)
{
	struct err ignored = ERR_NONE;

	if (names_still_empty(line->tickets_fd, &line->no_tickets))
		return false;
	if (ticket_each(line, stop_at_first, NULL, &ignored) != 0)
		return true;
	names_seen_empty(&line->no_tickets);
	return false;
}

int ticket_each(struct line *line, int (*visit)(const struct ticket_name *name, const char *file, void *context),
		void *context, struct err *err)
{
	SCOPE_NAMES struct names names = NAMES_NONE;
	struct ticket_name name;
	int result = 0;

	if (names_open(&names, line->tickets_fd) < 0)
		return err_sys(err, "cannot read the tickets");
	for (const struct dirent64 *found; result == 0 && (found = names_next(&names));) {
		if (ticket_name_parse(found->d_name, &name) == 0)
			result = visit(&name, found->d_name, context);
	}
	return result == 0 && names_failed(&names) ? err_sys(err, "cannot read the tickets") : result;
}
