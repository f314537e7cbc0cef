/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"

static const char *const folder_names[SPOOL_FOLDERS] = {
	[SPOOL_PENDING_DIR] = "pending", [SPOOL_RUNNING_DIR] = "running", [SPOOL_ENDED_DIR] = "ended",
	[SPOOL_ORDERS_DIR] = "orders",	 [SPOOL_ENV_DIR] = "env",	  [SPOOL_REASONS_DIR] = "reasons",
	[SPOOL_BAD_DIR] = "bad",	 [SPOOL_AFTER_DIR] = "after",	  [SPOOL_TASKS_DIR] = "tasks",
	[SPOOL_DEDUPE_DIR] = "dedupe",
};

const char *const outcome_names[OUTCOMES] = {
	[OUTCOME_NONE] = "",	       [OUTCOME_COMPLETED] = "completed",
	[OUTCOME_FAILED] = "failed",   [OUTCOME_CANCELLED] = "cancelled",
	[OUTCOME_TIMEOUT] = "timeout", [OUTCOME_STALLED] = "stalled",
	[OUTCOME_GPU_OOM] = "gpu-oom", [OUTCOME_OOM] = "oom",
	[OUTCOME_LOST] = "lost",       [OUTCOME_TURN] = "turn",
};

const char *const outcome_letters[OUTCOMES] = {
	[OUTCOME_NONE] = "",	  [OUTCOME_COMPLETED] = "CD", [OUTCOME_FAILED] = "F",	 [OUTCOME_CANCELLED] = "CA",
	[OUTCOME_TIMEOUT] = "TO", [OUTCOME_STALLED] = "ST",   [OUTCOME_GPU_OOM] = "OOM", [OUTCOME_OOM] = "OOM",
	[OUTCOME_LOST] = "NF",	  [OUTCOME_TURN] = "S",
};

enum outcome outcome_parse(const char *word)
{
	for (int i = OUTCOME_NONE + 1; i < OUTCOMES; i++) {
		if (strcmp(word, outcome_names[i]) == 0)
			return (enum outcome)i;
	}
	return OUTCOME_NONE;
}

void spool_open(struct spool *spool, int queue_fd)
{
	spool->queue_fd = queue_fd;
	spool->unsynced = spool->newer = false;
	spool->told_id = 0;
	spool->told = ORDER_NONE;
	for (int i = 0; i < SPOOL_FOLDERS; i++)
		spool->folders[i] = -1;
}

void spool_close(struct spool *spool)
{
	for (int i = 0; i < SPOOL_FOLDERS; i++) {
		scope_close(&spool->folders[i]);
		spool->folders[i] = -1;
	}
}

int spool_folder(struct spool *spool, enum spool_folder which, struct err *err)
{
	if (spool->folders[which] < 0)
		spool->folders[which] = folder_open(spool->queue_fd, folder_names[which], true, err);
	return spool->folders[which];
}

void spool_name_format(const struct spool_name *name, char file[256])
{
	int used = fmt(file, 256, "%s:%s:%s:%d", JOBID(name->id), name->class_name, name->session, name->restarts);

	used += text_mark_put(file + used, 256 - (size_t)used, 'm', name->reserved_bytes);
	used += text_mark_put(file + used, 256 - (size_t)used, 'v', name->vram_bytes);
	used += pci_mark_put(file + used, 256 - (size_t)used, name->card);
	if (name->nice)
		used += fmt(file + used, 256 - (size_t)used, ":n%d", name->nice);
	if (name->edit)
		used += fmt(file + used, 256 - (size_t)used, ":u%d", name->edit);
	if (name->begin_s)
		used += fmt(file + used, 256 - (size_t)used, ":b%lld", (long long)name->begin_s);
	if (name->after)
		used += fmt(file + used, 256 - (size_t)used, ":a");
	if (name->array)
		used += fmt(file + used, 256 - (size_t)used, ":t%d", name->cap);
	if (name->tries)
		used += fmt(file + used, 256 - (size_t)used, ":r%d", name->tries);
	if (name->standing)
		used += fmt(file + used, 256 - (size_t)used, ":s%d", name->failures);
	if (name->outcome != OUTCOME_NONE)
		fmt(file + used, 256 - (size_t)used, ":%s:%d", outcome_names[name->outcome], name->code);
	else if (name->held)
		fmt(file + used, 256 - (size_t)used, ":h");
}

enum { CODE_MAX = 9999 };

/* A figure behind `start` at `*at`, which moves behind it. */
static int parse_figure(const char **at, const char *start, int max, int *ret)
{
	size_t length = strlen(start);
	const char *end;

	if (strncmp(*at, start, length) != 0 || (*at)[length] < '0' || (*at)[length] > '9')
		return -1;
	uint64_t figure = fmt_read(*at + length, &end);
	if (figure > (uint64_t)max)
		return -1;
	*ret = (int)figure;
	*at = end;
	return 0;
}

/* ":bTIME" at `*at`, where it is there. */
static void parse_begin(const char **at, struct spool_name *name)
{
	const char *end;

	if (strncmp(*at, ":b", 2) != 0 || (*at)[2] < '1' || (*at)[2] > '9')
		return;
	uint64_t begin_s = fmt_read(*at + 2, &end);
	if (begin_s > INT64_MAX / NS_PER_S)
		return;
	name->begin_s = (int64_t)begin_s;
	*at = end;
}

/* ":n" and how nice, without which it is 0. */
static int parse_nice(const char **at, int *ret_nice)
{
	bool below = strncmp(*at, ":n-", 3) == 0;

	*ret_nice = 0;
	if (strncmp(*at, ":n", 2) != 0)
		return 0;
	if (parse_figure(at, below ? ":n-" : ":n", JOB_NICE_MAX, ret_nice) < 0 || *ret_nice == 0)
		return -1;
	*ret_nice = below ? -*ret_nice : *ret_nice;
	return 0;
}

/* ":u" and a number, without which it is 0. */
static int parse_edit(const char **at, int *ret_edit)
{
	*ret_edit = 0;
	if (strncmp(*at, ":u", 2) != 0)
		return 0;
	return parse_figure(at, ":u", INT_MAX, ret_edit) < 0 || *ret_edit == 0 ? -1 : 0;
}

/* ":OUTCOME:CODE", and nothing behind it. */
static int parse_outcome(const char *at, struct spool_name *name)
{
	char outcome[16];

	if (*at != ':' || !(at = text_part(at + 1, outcome, sizeof outcome)))
		return -1;
	name->outcome = outcome_parse(outcome);
	return name->outcome == OUTCOME_NONE || parse_figure(&at, ":", CODE_MAX, &name->code) < 0 || *at ? -1 : 0;
}

int spool_name_parse(const char *file, struct spool_name *ret_name)
{
	struct spool_name name = { 0 };
	const char *at, *end;

	if (file[0] < '1' || file[0] > '9')
		return -1;
	errno = 0;
	name.id = jobid_read(file, &end);
	if (errno || *end != ':' || !(at = text_part(end + 1, name.class_name, sizeof name.class_name)) || *at != ':' ||
	    !(at = text_part(at + 1, name.session, sizeof name.session)) ||
	    parse_figure(&at, ":", SPOOL_RESTARTS_MAX, &name.restarts) < 0 ||
	    text_mark_parse(&at, 'm', &name.reserved_bytes) < 0 || text_mark_parse(&at, 'v', &name.vram_bytes) < 0 ||
	    pci_mark_parse(&at, name.card) < 0 || parse_nice(&at, &name.nice) < 0 || parse_edit(&at, &name.edit) < 0)
		return -1;
	parse_begin(&at, &name);
	name.after = strncmp(at, ":a", 2) == 0 && (at[2] == ':' || at[2] == '\0');
	at += name.after ? 2 : 0;
	name.array = parse_figure(&at, ":t", ARRAY_CAP, &name.cap) == 0;
	if (parse_figure(&at, ":r", JOB_RETRIES_MAX, &name.tries) == 0 && name.tries == 0)
		return -1;
	name.standing = parse_figure(&at, ":s", SPOOL_FAILURES_MAX, &name.failures) == 0;
	name.held = strcmp(at, ":h") == 0;
	if (*at && !name.held && parse_outcome(at, &name) < 0)
		return -1;
	if (!text_class_ok(name.class_name))
		return -1;
	*ret_name = name;
	return 0;
}

void spool_set_aside(struct spool *spool, enum spool_state state, const char *file, const char *reason)
{
	struct err err = ERR_NONE;
	int from = spool_folder(spool, (enum spool_folder)state, &err), bad = spool_folder(spool, SPOOL_BAD_DIR, &err);

	if (from < 0 || bad < 0 || file_rename(from, file, bad, file, RENAME_NOREPLACE) < 0)
		return;
	say("%s/%.200s is set aside in bad/: %s", folder_names[state], file, reason);
}

/* What is not ours to understand is not ours to move either: an older pgpu is called by mistake, or outlives its
 * successor's first call. */
static void leave_alone(struct spool *spool, enum spool_state state, const char *file)
{
	if (!spool->newer)
		say("%s/%.200s is left alone: a newer pgpu wrote it", folder_names[state], file);
	spool->newer = true;
}

/* Of a name that is none to us: whether the file says that it is a newer record. */
static bool is_newer(int folder, const char *file)
{
	SCOPE_FD int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char head[JOB_RECORD_HEAD + 1];
	ssize_t got = fd >= 0 && file_is_ours(fd, file, NULL) ? pread(fd, head, JOB_RECORD_HEAD, 0) : -1;

	head[got < 0 ? 0 : got] = '\0';
	return job_record_is_newer(head);
}

/* The name before, and what stood behind its id: a long line is of a few classes and sessions. */
struct likeness {
	struct spool_name name;
	char tail[256];
	bool known;
};

/* spool_name_parse() into `like->name`: where all but the id is as before, that is not read again. */
static bool parse_like(const char *file, struct likeness *like)
{
	const char *end;

	errno = 0;
	uint64_t id = file[0] < '1' || file[0] > '9' ? 0 : jobid_read(file, &end);
	if (id == 0 || errno)
		return false;
	if (like->known && strcmp(end, like->tail) == 0) {
		like->name.id = id;
		return true;
	}
	like->known = spool_name_parse(file, &like->name) == 0;
	if (like->known)
		fmt(like->tail, sizeof like->tail, "%s", end);
	return like->known;
}

int spool_each(struct spool *spool, enum spool_state state,
	       int (*visit)(const struct spool_name *name, const char *file, void *context), void *context,
	       struct err *err)
{
	int folder = spool_folder(spool, (enum spool_folder)state, err);
	SCOPE_NAMES struct names names = NAMES_NONE;
	struct likeness like;
	int result = 0;

	like.known = false;
	if (folder < 0)
		return -1;
	if (names_open(&names, folder) < 0)
		return err_sys(err, "cannot read %s", folder_names[state]);
	for (const struct dirent64 *found; result == 0 && (found = names_next(&names));) {
		if (found->d_name[0] == '.')
			continue;
		bool ours = parse_like(found->d_name, &like) &&
			    (like.name.outcome != OUTCOME_NONE) == (state == SPOOL_ENDED);
		if (ours && (found->d_type == DT_REG || found->d_type == DT_UNKNOWN))
			result = visit(&like.name, found->d_name, context);
		else if (!ours && is_newer(folder, found->d_name))
			leave_alone(spool, state, found->d_name);
		else
			spool_set_aside(spool, state, found->d_name,
					ours ? "it is not a regular file" : "the name is none of a job");
	}
	return result == 0 && names_failed(&names) ? err_sys(err, "cannot read %s", folder_names[state]) : result;
}

int spool_find_in(struct spool *spool, enum spool_state state, uint64_t id, struct spool_name *ret_name,
		  char ret_file[256], struct err *err)
{
	int folder = spool_folder(spool, (enum spool_folder)state, err), result = 0;
	SCOPE_NAMES struct names names = NAMES_NONE;
	const struct jobid_text wanted = jobid_text(id);
	size_t length = strlen(wanted.text);
	struct spool_name name;

	if (folder < 0)
		return -1;
	if (names_open(&names, folder) < 0)
		return err_sys(err, "cannot read %s", folder_names[state]);
	/* Others are not even read: there may be very many. */
	for (const struct dirent64 *found; result == 0 && (found = names_next(&names));) {
		if (strncmp(found->d_name, wanted.text, length) != 0 || found->d_name[length] != ':')
			continue;
		bool regular = found->d_type == DT_REG || found->d_type == DT_UNKNOWN;
		result = regular && spool_name_parse(found->d_name, &name) == 0 && name.id == id &&
			 (name.outcome != OUTCOME_NONE) == (state == SPOOL_ENDED);
		if (result) {
			*ret_name = name;
			fmt(ret_file, 256, "%s", found->d_name);
		}
	}
	return result == 0 && names_failed(&names) ? err_sys(err, "cannot read %s", folder_names[state]) : result;
}

int spool_find(struct spool *spool, uint64_t id, enum spool_state *ret_state, struct spool_name *ret_name,
	       char ret_file[256], struct err *err)
{
	/* A job moves forward while we look, or back once in its life: two rounds meet it. */
	for (int round = 0; round < 2; round++) {
		for (int state = 0; state < SPOOL_STATES; state++) {
			int found = spool_find_in(spool, (enum spool_state)state, id, ret_name, ret_file, err);
			*ret_state = (enum spool_state)state;
			if (found != 0)
				return found;
		}
	}
	return 0;
}

int spool_submit(struct spool *spool, const struct job *job, const struct job_facts *facts, struct err *err)
{
	SCOPE_BUF struct buf record = BUF_EMPTY;
	struct spool_name name = { .id = facts->id,
				   .reserved_bytes = job->reserved_bytes,
				   .vram_bytes = job->vram_bytes,
				   .nice = job->nice,
				   .standing = job->standing,
				   .begin_s = job->begin_wall_ns / NS_PER_S,
				   .after = job->after.count > 0,
				   .array = job->array.count > 0,
				   .cap = job->array.cap,
				   .held = job->hold };
	char file[256], temporary[280];
	int pending = spool_folder(spool, SPOOL_PENDING_DIR, err);

	if (pending < 0)
		return -1;
	fmt(name.class_name, sizeof name.class_name, "%s", job->class_name);
	fmt(name.session, sizeof name.session, "%s", job->session);
	memcpy(name.card, job->card, sizeof name.card);
	spool_name_format(&name, file);
	/* In the folder it is to be in: another one would be in each commit of the disk as well. */
	fmt(temporary, sizeof temporary, ".%s.%d", file, getpid());
	job_format(job, facts, &record);
	if (!buf_ok(&record)) {
		errno = ENOMEM;
		return err_sys(err, "cannot spool job");
	}
	SCOPE_FD int fd = openat(pending, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_sys(err, "cannot spool job");
	if (write_all(fd, record.text, record.size) < 0 || fsync(fd) < 0 || close(TAKE_FD(fd)) < 0 ||
	    file_rename(pending, temporary, pending, file, RENAME_NOREPLACE) < 0) {
		err_sys(err, "cannot spool job");
		unlinkat(pending, temporary, 0);
		return -1;
	}
	return 0;
}

static int sync_folder(struct spool *spool, enum spool_folder which, struct err *err)
{
	int folder = spool_folder(spool, which, err);

	if (folder < 0)
		return -1;
	return fsync(folder) < 0 ? err_sys(err, "cannot sync %s", folder_names[which]) : 0;
}

int spool_submit_sync(struct spool *spool, struct err *err)
{
	return sync_folder(spool, SPOOL_PENDING_DIR, err);
}

int spool_sync(struct spool *spool, struct err *err)
{
	if (spool->unsynced && sync_folder(spool, SPOOL_RUNNING_DIR, err) < 0)
		return -1;
	spool->unsynced = false;
	return 0;
}

int spool_withdraw(struct spool *spool, uint64_t id, struct err *err)
{
	struct spool_name name;
	enum spool_state state;
	char file[256];
	int found = spool_find(spool, id, &state, &name, file, err);

	if (found <= 0 || state != SPOOL_PENDING)
		return found < 0 ? -1 : 0;
	return unlinkat(spool->folders[SPOOL_PENDING_DIR], file, 0) == 0;
}

int spool_move(struct spool *spool, enum spool_state from, const char *file, enum spool_state to,
	       const struct spool_name *name, struct err *err)
{
	char renamed[256];
	int source = spool_folder(spool, (enum spool_folder)from, err),
	    target = spool_folder(spool, (enum spool_folder)to, err);

	if (source < 0 || target < 0)
		return -1;
	spool_name_format(name, renamed);
	if (file_rename(source, file, target, renamed, 0) < 0)
		return err_sys(err, "cannot move job %s to %s", JOBID(name->id), folder_names[to]);
	spool->unsynced |= from == SPOOL_RUNNING || to == SPOOL_RUNNING;
	return 0;
}

/* The same job under another name in pending/. */
static int rename_pending(struct spool *spool, struct spool_name *name, char file[256],
			  const struct spool_name *changed, struct err *err)
{
	if (spool_move(spool, SPOOL_PENDING, file, SPOOL_PENDING, changed, err) < 0)
		return -1;
	*name = *changed;
	spool_name_format(name, file);
	return 0;
}

int spool_hold(struct spool *spool, struct spool_name *name, char file[256], bool held, struct err *err)
{
	struct spool_name changed = *name;

	changed.held = held;
	return rename_pending(spool, name, file, &changed, err);
}

int spool_after_met(struct spool *spool, struct spool_name *name, char file[256], struct err *err)
{
	struct spool_name changed = *name;

	changed.after = false;
	return rename_pending(spool, name, file, &changed, err);
}

/* The record's, or that of a change that was broken off. */
static int read_text(struct spool *spool, int folder, const char *file, char **ret_text, size_t *ret_size,
		     struct err *why)
{
	struct spool_name name;
	char changed[SPOOL_EDIT_NAME];
	int pending = strstr(file, ":u") ? spool_folder(spool, SPOOL_PENDING_DIR, why) : -1;

	if (pending >= 0 && spool_name_parse(file, &name) == 0 && name.edit) {
		spool_edit_name(&name, changed);
		if (file_read(pending, changed, SPOOL_RECORD_MAX, ret_text, ret_size, why) == 0)
			return 0;
		if (why->errnum != ENOENT)
			return -1;
	}
	*why = ERR_NONE;
	return file_read(folder, file, SPOOL_RECORD_MAX, ret_text, ret_size, why);
}

int spool_read(struct spool *spool, enum spool_state state, const char *file, struct job *ret_job,
	       struct job_facts *ret_facts, struct err *err)
{
	SCOPE_FREE char *text = NULL;
	size_t size;
	int folder = spool_folder(spool, (enum spool_folder)state, err);
	struct err why = ERR_NONE;

	if (folder < 0)
		return -1;
	int result = read_text(spool, folder, file, &text, &size, &why);
	if (result == 0)
		result = job_record_parse(text, size, ret_job, ret_facts, &why);
	if (result == 0)
		return 0;
	if (why.errnum == EPROTO)
		leave_alone(spool, state, file);
	else if (why.errnum != ENOENT && !err_may_pass(&why))
		spool_set_aside(spool, state, file, why.text);
	return err_pass(err, &why);
}

static int look(struct spool *spool, enum spool_state state, const char *file, struct stat *found)
{
	struct err ignored = ERR_NONE;
	int folder = spool_folder(spool, (enum spool_folder)state, &ignored);

	return folder < 0 ? -1 : fstatat(folder, file, found, AT_SYMLINK_NOFOLLOW);
}

int spool_written(struct spool *spool, enum spool_state state, const char *file, int64_t *ret_wall_ns)
{
	struct stat found;

	if (look(spool, state, file, &found) < 0)
		return -1;
	*ret_wall_ns = found.st_mtim.tv_sec * NS_PER_S + found.st_mtim.tv_nsec;
	return 0;
}

int spool_moved(struct spool *spool, enum spool_state state, const char *file, int64_t *ret_wall_ns)
{
	struct stat found;

	if (look(spool, state, file, &found) < 0)
		return -1;
	*ret_wall_ns = found.st_ctim.tv_sec * NS_PER_S + found.st_ctim.tv_nsec;
	return 0;
}

void spool_reason_write(struct spool *spool, uint64_t id, const char *reason)
{
	struct err ignored = ERR_NONE;
	char name[32];
	int folder = spool_folder(spool, SPOOL_REASONS_DIR, &ignored);

	fmt(name, sizeof name, "%s", JOBID(id));
	if (folder >= 0)
		file_replace(folder, name, reason, strlen(reason), FILE_VOLATILE, &ignored);
}

void spool_reason_read(struct spool *spool, uint64_t id, char *text, size_t size)
{
	struct err ignored = ERR_NONE;
	SCOPE_FREE char *found = NULL;
	char name[32];
	int folder = spool_folder(spool, SPOOL_REASONS_DIR, &ignored);

	fmt(name, sizeof name, "%s", JOBID(id));
	text[0] = '\0';
	if (folder >= 0 && file_read(folder, name, 8192, &found, NULL, &ignored) == 0)
		fmt(text, size, "%s", found);
}

void spool_reason_forget(struct spool *spool, uint64_t id)
{
	struct err ignored = ERR_NONE;
	char name[32];
	int folder = spool_folder(spool, SPOOL_REASONS_DIR, &ignored);

	fmt(name, sizeof name, "%s", JOBID(id));
	if (folder >= 0)
		unlinkat(folder, name, 0);
}

static void order_name(uint64_t id, enum spool_order order, char name[64])
{
	fmt(name, 64, "%s.%s", JOBID(id), order == ORDER_KILL ? "kill" : "cancel");
}

void spool_told(struct spool *spool, uint64_t id)
{
	spool->told = spool_ordered(spool, id) == ORDER_NONE ? ORDER_CANCEL : ORDER_KILL;
	spool->told_id = id;
}

static enum spool_order ordered_on_file(struct spool *spool, uint64_t id)
{
	struct err ignored = ERR_NONE;
	char name[64];
	int folder = spool_folder(spool, SPOOL_ORDERS_DIR, &ignored);

	/* The order to cancel comes first and goes last, so without it there is none to kill. */
	order_name(id, ORDER_CANCEL, name);
	if (folder < 0 || !file_exists(folder, name))
		return ORDER_NONE;
	order_name(id, ORDER_KILL, name);
	return file_exists(folder, name) ? ORDER_KILL : ORDER_CANCEL;
}

enum spool_order spool_ordered(struct spool *spool, uint64_t id)
{
	enum spool_order order = ordered_on_file(spool, id);

	return spool->told_id == id && spool->told > order ? spool->told : order;
}

static void back_name(uint64_t id, char name[64])
{
	fmt(name, 64, "%s.requeue", JOBID(id));
}

bool spool_ordered_back(struct spool *spool, uint64_t id)
{
	struct err ignored = ERR_NONE;
	char name[64];
	int folder = spool_folder(spool, SPOOL_ORDERS_DIR, &ignored);

	back_name(id, name);
	return folder >= 0 && file_exists(folder, name);
}

static int put_order(struct spool *spool, uint64_t id, const char *name, struct err *err)
{
	int folder = spool_folder(spool, SPOOL_ORDERS_DIR, err);

	if (folder < 0)
		return -1;
	SCOPE_FD int fd = openat(folder, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	return fd < 0 ? err_sys(err, "cannot write the order to end job %s", JOBID(id)) : 0;
}

int spool_order(struct spool *spool, uint64_t id, enum spool_order *ret_order, struct err *err)
{
	char name[64], back[64];

	back_name(id, back);
	bool was_back = spool_ordered_back(spool, id) && unlinkat(spool->folders[SPOOL_ORDERS_DIR], back, 0) == 0;
	*ret_order = was_back || spool_ordered(spool, id) == ORDER_NONE ? ORDER_CANCEL : ORDER_KILL;
	order_name(id, *ret_order, name);
	return put_order(spool, id, name, err);
}

/* The order to end it comes last: a process that is killed in between has ordered nothing. */
int spool_order_back(struct spool *spool, uint64_t id, struct err *err)
{
	char name[64], back[64];

	order_name(id, ORDER_CANCEL, name);
	back_name(id, back);
	if (spool_ordered(spool, id) != ORDER_NONE && !spool_ordered_back(spool, id))
		return err_set(err, EXIT_FAILED, "cannot requeue job %s: it is being cancelled", JOBID(id));
	if (put_order(spool, id, back, err) < 0)
		return -1;
	if (put_order(spool, id, name, err) == 0)
		return 0;
	unlinkat(spool->folders[SPOOL_ORDERS_DIR], back, 0);
	return -1;
}

void spool_order_done(struct spool *spool, uint64_t id)
{
	char name[64];

	if (spool->told_id == id)
		spool->told_id = 0;
	if (ordered_on_file(spool, id) != ORDER_NONE) {
		back_name(id, name);
		unlinkat(spool->folders[SPOOL_ORDERS_DIR], name, 0);
	}
	for (enum spool_order order = ordered_on_file(spool, id); order > ORDER_NONE; order--) {
		order_name(id, order, name);
		unlinkat(spool->folders[SPOOL_ORDERS_DIR], name, 0);
	}
}

/* Calls `visit` with the name of every entry of a folder but . and .. ; returns how many there were. */
static long each_name(int folder, void (*visit)(int folder, const char *name))
{
	int copy = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SCOPE_DIR DIR *list = copy < 0 ? NULL : fdopendir(copy);
	long count = 0;

	for (struct dirent *found; list && (found = readdir(list));) {
		if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0)
			continue;
		count++;
		if (visit)
			visit(folder, found->d_name);
	}
	return count;
}

struct sweep {
	struct spool *spool;
	enum spool_state state;
};

static void remove_any(int folder, const char *name)
{
	unlinkat(folder, name, 0);
}

static void remove_hidden(int folder, const char *name)
{
	if (name[0] == '.')
		unlinkat(folder, name, 0);
}

static int finish_edit(const struct spool_name *name, const char *file, void *context)
{
	struct sweep *sweep = context;
	struct spool_name finished = *name;
	struct err ignored = ERR_NONE;
	char renamed[256];

	fmt(renamed, sizeof renamed, "%s", file);
	if (name->edit)
		spool_edit_finish(sweep->spool, sweep->state, &finished, renamed, &ignored);
	return 0;
}

void spool_sweep(struct spool *spool)
{
	struct err ignored = ERR_NONE;

	for (int state = 0; state < SPOOL_STATES; state++) {
		struct sweep sweep = { spool, (enum spool_state)state };
		spool_each(spool, sweep.state, finish_edit, &sweep, &ignored);
	}
	each_name(spool_folder(spool, SPOOL_PENDING_DIR, &ignored), remove_hidden);
	each_name(spool_folder(spool, SPOOL_ORDERS_DIR, &ignored), remove_any);
	each_name(spool_folder(spool, SPOOL_ENV_DIR, &ignored), remove_hidden);
	each_name(spool_folder(spool, SPOOL_REASONS_DIR, &ignored), remove_hidden);
	each_name(spool->queue_fd, remove_hidden);
}

long spool_count_bad(struct spool *spool)
{
	struct err ignored = ERR_NONE;

	return each_name(spool_folder(spool, SPOOL_BAD_DIR, &ignored), NULL);
}
