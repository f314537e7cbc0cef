/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changing a pending record: spool.h, spool_edit(). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "spool.h"

void spool_edit_name(const struct spool_name *name, char file[SPOOL_EDIT_NAME])
{
	fmt(file, SPOOL_EDIT_NAME, ".%s.u%d", JOBID(name->id), name->edit);
}

static int look(struct spool *spool, const char *file, struct stat *found)
{
	struct err ignored = ERR_NONE;
	int pending = spool_folder(spool, SPOOL_PENDING_DIR, &ignored);

	return pending < 0 ? -1 : fstatat(pending, file, found, AT_SYMLINK_NOFOLLOW);
}

ino_t spool_inode(struct spool *spool, const char *file)
{
	struct stat found;

	return look(spool, file, &found) < 0 ? 0 : found.st_ino;
}

/* A number that no other has: the mark of a name that a killed one left stands for its own file alone. */
static int make_file(int pending, struct spool_edit *edit, char file[SPOOL_EDIT_NAME])
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	struct spool_name name = { .id = edit->id };
	int fd;

	edit->number = (int)((clock_wall_ns() / 1000 ^ (int64_t)getpid() << 8) & INT_MAX);
	do {
		edit->number = edit->number % INT_MAX + 1;
		name.edit = edit->number;
		spool_edit_name(&name, file);
		fd = openat(pending, file, flags, 0600);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

/* The time of the submit stays the record's: it is how long the job has waited. */
static int write_text(int fd, const struct buf *record, const struct stat *old)
{
	const struct timespec times[2] = { old->st_atim, old->st_mtim };

	return write_all(fd, record->text, record->size) < 0 || futimens(fd, times) < 0 ? -1 : fsync(fd);
}

int spool_edit_write(struct spool *spool, const char *file, const struct job *job, const struct job_facts *facts,
		     struct spool_edit *ret_edit, struct err *err)
{
	SCOPE_BUF struct buf record = BUF_EMPTY;
	struct spool_edit edit;
	struct spool_name name;
	char changed[SPOOL_EDIT_NAME];
	struct stat old;
	int pending = spool_folder(spool, SPOOL_PENDING_DIR, err);

	if (pending < 0)
		return -1;
	if (look(spool, file, &old) < 0 || spool_name_parse(file, &name) < 0)
		return err_sys(err, "cannot find the record");
	/* The text of a task's record is its array's, and so is the id in it. */
	edit.id = name.id;
	edit.inode = old.st_ino;
	job_format(job, facts, &record);
	if (!buf_ok(&record)) {
		errno = ENOMEM;
		return err_sys(err, "cannot write the record");
	}
	SCOPE_FD int fd = make_file(pending, &edit, changed);
	if (fd < 0)
		return err_sys(err, "cannot write the record");
	/* The folder as well: the mark must not be on disk without its file. */
	if (write_text(fd, &record, &old) < 0 || close(TAKE_FD(fd)) < 0 || fsync(pending) < 0) {
		err_sys(err, "cannot write the record");
		unlinkat(pending, changed, 0);
		return -1;
	}
	*ret_edit = edit;
	return 0;
}

int spool_renew(struct spool *spool, const char *file, struct err *err)
{
	SCOPE_BUF struct buf record = BUF_EMPTY;
	struct spool_edit edit;
	struct spool_name name;
	char renewed[SPOOL_EDIT_NAME];
	struct stat old;
	int pending = spool_folder(spool, SPOOL_PENDING_DIR, err);

	if (pending < 0)
		return -1;
	if (look(spool, file, &old) < 0 || spool_name_parse(file, &name) < 0)
		return err_sys(err, "cannot find the record");
	if (file_read(pending, file, SPOOL_RECORD_MAX, &record.text, &record.size, err) < 0)
		return -1;
	edit.id = name.id;
	SCOPE_FD int fd = make_file(pending, &edit, renewed);
	if (fd < 0)
		return err_sys(err, "cannot write the record");
	if (write_text(fd, &record, &old) < 0 || close(TAKE_FD(fd)) < 0 ||
	    file_rename(pending, renewed, pending, file, 0) < 0) {
		err_sys(err, "cannot write the record");
		unlinkat(pending, renewed, 0);
		return -1;
	}
	return 0;
}

void spool_edit_drop(struct spool *spool, const struct spool_edit *edit)
{
	struct spool_name name = { .id = edit->id, .edit = edit->number };
	char changed[SPOOL_EDIT_NAME];

	spool_edit_name(&name, changed);
	unlinkat(spool->folders[SPOOL_PENDING_DIR], changed, 0);
}

int spool_edit(struct spool *spool, const struct spool_edit *edit, const char *file, const struct spool_name *name,
	       struct err *err)
{
	struct spool_name marked = *name;
	char changed[SPOOL_EDIT_NAME], plain[256], decided[256];
	int pending = spool->folders[SPOOL_PENDING_DIR];
	struct err ignored = ERR_NONE;

	marked.edit = 0;
	spool_name_format(&marked, plain);
	marked.edit = edit->number;
	spool_edit_name(&marked, changed);
	spool_name_format(&marked, decided);
	bool stays = strcmp(plain, file) == 0;
	if (file_rename(pending, stays ? changed : file, pending, stays ? file : decided, 0) < 0)
		return err_sys(err, "cannot rename the record");
	/* Decided. What is left to do changes nothing any more, and can be done later. */
	if (!stays)
		spool_edit_finish(spool, SPOOL_PENDING, &marked, decided, &ignored);
	return 0;
}

int spool_edit_finish(struct spool *spool, enum spool_state state, struct spool_name *name, char file[256],
		      struct err *err)
{
	struct spool_name plain = *name;
	char changed[SPOOL_EDIT_NAME];
	int pending = spool_folder(spool, SPOOL_PENDING_DIR, err),
	    folder = spool_folder(spool, (enum spool_folder)state, err);

	if (pending < 0 || folder < 0)
		return -1;
	spool_edit_name(name, changed);
	if (file_rename(pending, changed, folder, file, 0) < 0 && errno != ENOENT)
		return err_sys(err, "cannot finish the change of job %s", JOBID(name->id));
	plain.edit = 0;
	if (spool_move(spool, state, file, state, &plain, err) < 0)
		return -1;
	*name = plain;
	spool_name_format(name, file);
	return 0;
}
