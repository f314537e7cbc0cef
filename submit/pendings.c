/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pendings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"

/* More kinds of names than that are not what this is for. */
enum { PILES = 1024 };

struct pile {
	struct spool_name like; /* its id says nothing */
	char tail[256];		/* of the name, behind the id */
	uint64_t *ids;		/* sorted, from `first` on */
	size_t first, count, room;
};

struct pendings {
	struct spool *spool;
	int notify;
	bool lost;		   /* something came that is not for us to understand */
	struct pile *piles[PILES]; /* sorted by their tails */
	size_t pile_count, total;
};

/* Where the tail is, or would be. */
static size_t place_of(const struct pendings *pendings, const char *tail, bool *ret_there)
{
	size_t low = 0, high = pendings->pile_count;

	*ret_there = false;
	while (low < high && !*ret_there) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(tail, pendings->piles[middle]->tail);
		*ret_there = order == 0;
		low = order > 0 ? middle + 1 : order == 0 ? middle : low;
		high = order < 0 ? middle : high;
	}
	return low;
}

static struct pile *new_pile(struct pendings *pendings, size_t place, const struct spool_name *name, const char *tail)
{
	struct pile *pile = pendings->pile_count == PILES ? NULL : calloc(1, sizeof *pile);

	if (!pile)
		return NULL;
	pile->like = *name;
	fmt(pile->tail, sizeof pile->tail, "%s", tail);
	memmove(pendings->piles + place + 1, pendings->piles + place,
		(pendings->pile_count - place) * sizeof(struct pile *));
	pendings->piles[place] = pile;
	pendings->pile_count++;
	return pile;
}

/* Where the id is, or would be, counted from `first`. */
static size_t place_in(const struct pile *pile, uint64_t id)
{
	const uint64_t *ids = pile->ids + pile->first;
	size_t low = 0, high = pile->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_at(const struct pile *pile, size_t place, uint64_t id)
{
	return place < pile->count && pile->ids[pile->first + place] == id;
}

/* Room for one more behind the last. */
static bool make_room(struct pile *pile)
{
	if (pile->first + pile->count < pile->room)
		return true;
	/* Half of it is behind us: no more memory than twice what is there. */
	if (pile->first > pile->count) {
		memmove(pile->ids, pile->ids + pile->first, pile->count * sizeof *pile->ids);
		pile->first = 0;
		return true;
	}
	size_t room = pile->room ? 2 * pile->room : 16;
	uint64_t *ids = reallocarray(pile->ids, room, sizeof *ids);
	if (!ids)
		return false;
	pile->ids = ids;
	pile->room = room;
	return true;
}

static bool add_id(struct pendings *pendings, struct pile *pile, uint64_t id)
{
	size_t place = place_in(pile, id);

	if (has_at(pile, place, id))
		return true;
	if (!make_room(pile))
		return false;
	uint64_t *at = pile->ids + pile->first + place;
	memmove(at + 1, at, (pile->count - place) * sizeof *at);
	*at = id;
	pile->count++;
	pendings->total++;
	return true;
}

static void remove_id(struct pendings *pendings, struct pile *pile, uint64_t id)
{
	size_t place = place_in(pile, id);

	if (!has_at(pile, place, id))
		return;
	uint64_t *at = pile->ids + pile->first + place;
	pile->count--;
	pendings->total--;
	/* As a rule it is the first: the one that was started. */
	if (place == 0)
		pile->first++;
	else
		memmove(at, at + 1, (pile->count - place) * sizeof *at);
}

/* Behind the last: sort_pile() comes later. */
static bool append_id(struct pendings *pendings, struct pile *pile, uint64_t id)
{
	if (!make_room(pile))
		return false;
	pile->ids[pile->first + pile->count++] = id;
	pendings->total++;
	return true;
}

static int compare_ids(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Some file systems name a file twice that is moved away and back while they are read. */
static void sort_pile(struct pendings *pendings, struct pile *pile)
{
	size_t kept = 0;

	qsort(pile->ids, pile->count, sizeof pile->ids[0], compare_ids);
	for (size_t i = 0; i < pile->count; i++) {
		if (kept == 0 || pile->ids[i] != pile->ids[kept - 1])
			pile->ids[kept++] = pile->ids[i];
	}
	pendings->total -= pile->count - kept;
	pile->count = kept;
}

static bool add_name(struct pendings *pendings, const struct spool_name *name, const char *file,
		     bool (*add)(struct pendings *, struct pile *, uint64_t id))
{
	const char *tail;
	bool there;

	jobid_read(file, &tail);
	size_t place = place_of(pendings, tail, &there);
	struct pile *pile = there ? pendings->piles[place] : new_pile(pendings, place, name, tail);
	return pile && add(pendings, pile, name->id);
}

/* A folder names its files in no order. */
static int add_found(const struct spool_name *name, const char *file, void *context)
{
	struct pendings *pendings = context;

	pendings->lost |= !add_name(pendings, name, file, append_id);
	return pendings->lost;
}

static bool start_watch(struct pendings *pendings, int folder)
{
	const uint32_t events = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF;
	char path[64];

	if (folder_network(folder))
		return false;
	pendings->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	fmt(path, sizeof path, "/proc/self/fd/%d", folder);
	return pendings->notify >= 0 && inotify_add_watch(pendings->notify, path, events | IN_ONLYDIR) >= 0;
}

struct pendings *pendings_new(struct spool *spool)
{
	struct err ignored = ERR_NONE;
	int folder = spool_folder(spool, SPOOL_PENDING_DIR, &ignored);
	struct pendings *pendings = folder < 0 ? NULL : calloc(1, sizeof *pendings);

	if (!pendings)
		return NULL;
	pendings->spool = spool;
	pendings->notify = -1;
	/* Watched first, read then: what changes meanwhile is heard of afterwards, and may be true already. */
	if (start_watch(pendings, folder) && spool_each(spool, SPOOL_PENDING, add_found, pendings, &ignored) == 0) {
		for (size_t i = 0; i < pendings->pile_count; i++)
			sort_pile(pendings, pendings->piles[i]);
		return pendings;
	}
	pendings_free(pendings);
	return NULL;
}

void pendings_free(struct pendings *pendings)
{
	if (!pendings)
		return;
	scope_close(&pendings->notify);
	for (size_t i = 0; i < pendings->pile_count; i++) {
		free(pendings->piles[i]->ids);
		free(pendings->piles[i]);
	}
	free(pendings);
}

/* Of a name that came: it is a regular file; or it is gone again, which is heard of next. */
static bool is_record(const struct pendings *pendings, const char *file)
{
	struct stat found;

	if (fstatat(pendings->spool->folders[SPOOL_PENDING_DIR], file, &found, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	return S_ISREG(found.st_mode);
}

static bool heed(struct pendings *pendings, const struct inotify_event *event)
{
	struct spool_name name;
	const char *tail;
	bool there;

	/* The folder itself, or more than the kernel keeps (IN_Q_OVERFLOW). */
	if (event->len == 0)
		return false;
	if (event->name[0] == '.')
		return true;
	if ((event->mask & IN_ISDIR) || spool_name_parse(event->name, &name) < 0 || name.outcome != OUTCOME_NONE)
		return false;
	if (event->mask & (IN_CREATE | IN_MOVED_TO))
		return is_record(pendings, event->name) && add_name(pendings, &name, event->name, add_id);
	jobid_read(event->name, &tail);
	size_t place = place_of(pendings, tail, &there);
	if (there)
		remove_id(pendings, pendings->piles[place], name.id);
	return true;
}

bool pendings_refresh(struct pendings *pendings)
{
	char events[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t got = 0;

	while (!pendings->lost && (got = read(pendings->notify, events, sizeof events)) > 0) {
		for (const char *at = events; at < events + got && !pendings->lost;) {
			const struct inotify_event *event = (const void *)at;
			pendings->lost = !heed(pendings, event);
			at += sizeof *event + event->len;
		}
	}
	return !pendings->lost && got < 0 && errno == EAGAIN;
}

size_t pendings_count(const struct pendings *pendings)
{
	return pendings->total;
}

int pendings_each(const struct pendings *pendings,
		  int (*visit)(const struct spool_name *name, const char *file, size_t count, void *context),
		  void *context)
{
	int result = 0;

	for (size_t i = 0; i < pendings->pile_count && result == 0; i++) {
		struct pile *pile = pendings->piles[i];
		struct spool_name name = pile->like;
		bool each = name.array || name.standing;
		size_t calls = each ? pile->count : pile->count > 0;
		for (size_t one = 0; one < calls && result == 0; one++) {
			char file[256];
			name.id = pile->ids[pile->first + one];
			fmt(file, sizeof file, "%s%s", JOBID(name.id), pile->tail);
			result = visit(&name, file, each ? 1 : pile->count, context);
		}
	}
	return result;
}
