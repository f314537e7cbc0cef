/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "doctor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "conf/base/account.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/text.h"
#include "conf/paths.h"
#include "runner/cardview.h"
#include "runner/cell/cell.h"
#include "runner/cell/login.h"
#include "runner/snapshot.h"

/* Below it a submit may find no room: a record is small, an environment and the log are not. */
enum { FREE_MIB = 64, OPEN_FILES = 256 };

static struct finding *add(struct doctor *doctor, enum finding_kind kind, const char *about)
{
	enum { ROOM = sizeof doctor->list / sizeof doctor->list[0] };
	struct finding *finding = &doctor->list[doctor->count < ROOM ? doctor->count++ : ROOM - 1];

	*finding = (struct finding){ .kind = kind, .about = about };
	return finding;
}

#define TEXT(finding, ...) fmt((finding)->text, DOCTOR_TEXT, __VA_ARGS__)
#define MEND(finding, ...) fmt((finding)->mend, DOCTOR_TEXT, __VA_ARGS__)

void doctor_configuration(struct doctor *doctor)
{
	struct err err = ERR_NONE;
	struct conf *conf = malloc(sizeof *conf);

	if (conf && conf_load(conf, &err) == 0) {
		TEXT(add(doctor, FINDING_OK, "configuration"), "%s", conf->source);
	} else {
		struct finding *lost = add(doctor, FINDING_LOST, "configuration");
		TEXT(lost, "%s; run and submit refuse to start anything", err.text);
		MEND(lost, "mend that line; pgpu conf says when all is right");
	}
	free(conf);
}

static void look_at_disk(struct doctor *doctor, const char *path)
{
	struct statvfs disk;
	char left[TEXT_SIZE];
	int fd = doctor->queue->line.queue_fd;
	const char *network = folder_network(fd);

	if (network) {
		struct finding *lost = add(doctor, FINDING_LOST, "disk");
		TEXT(lost, "the queue is on a network file system (%s), whose locks are not to be relied on", network);
		MEND(lost, "%s", paths_state_advice);
		return;
	}
	if (fstatvfs(fd, &disk) < 0)
		return;
	/* The kernel makes it so by itself where a disk has errors. */
	if (disk.f_flag & ST_RDONLY) {
		struct finding *lost = add(doctor, FINDING_LOST, "disk");
		TEXT(lost, "the queue is on a disk that is mounted read-only: nothing can be queued");
		MEND(lost, "sudo mount -o remount,rw the disk of %s, once dmesg says that it has no errors", path);
		return;
	}
	uint64_t bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	text_size_show(bytes, left);
	/* Btrfs and others make room for files as they come, and count none. */
	if (bytes >= (uint64_t)FREE_MIB << 20 && (disk.f_files == 0 || disk.f_favail > 1000)) {
		TEXT(add(doctor, FINDING_OK, "disk"), "%s free for the queue", left);
		return;
	}
	struct finding *lost = add(doctor, FINDING_LOST, "disk");
	if (disk.f_files)
		TEXT(lost, "%s and %llu files free for the queue: a submit may fail", left,
		     (unsigned long long)disk.f_favail);
	else
		TEXT(lost, "%s free for the queue: a submit may fail", left);
	MEND(lost, "remove what is not needed there: du -x %s/..", path);
}

void doctor_queue(struct doctor *doctor, struct queue *queue)
{
	char path[PATH_MAX] = "";
	struct err err = ERR_NONE;

	if (paths_state(path, &err) < 0 || queue_open(queue, QUEUE_LENIENT, &err) < 0) {
		struct finding *lost = add(doctor, FINDING_LOST, "queue");
		TEXT(lost, "%s: nothing can be queued", err.text);
		MEND(lost, "ls -ld %s: a folder of your own, mode 0700", path);
		return;
	}
	doctor->queue = queue;
	TEXT(add(doctor, FINDING_OK, "queue"), "%s, yours alone", path);
	look_at_disk(doctor, path);
	long bad = spool_count_bad(&queue->spool);
	if (bad) {
		struct finding *note = add(doctor, FINDING_NOTE, "queue");
		TEXT(note, "%ld damaged or strange files were set aside in its folder bad/", bad);
		MEND(note, "look at them and remove them: ls %s/bad", path);
	}
}

void doctor_sockets(struct doctor *doctor)
{
	char path[PATHS_RUNTIME] = "", notice[256] = "";
	struct err err = ERR_NONE;
	int fd = paths_runtime_open(path, notice, &err);
	bool usable = fd >= 0 && !notice[0];
	struct finding *found;

	if (fd >= 0)
		close(fd);
	if (usable) {
		TEXT(add(doctor, FINDING_OK, "sockets"), "%s", path);
		return;
	}
	found = add(doctor, FINDING_LOST, "sockets");
	TEXT(found, "%s: turns and cancels are heard late", notice[0] ? notice : err.text);
	MEND(found, "%s", paths_runtime_advice);
}

void doctor_cells(struct doctor *doctor)
{
	char missing[CELL_MISSING];

	if (!doctor->queue)
		return;
	const struct conf *conf = &doctor->queue->line.conf;
	const struct cell_place *place = cell_place_look(conf->cells);
	cell_missing(place, NULL, missing);
	/* status says the same until the first job. */
	if (!place->available && login_managed() && strstr(place->reason, "first job")) {
		TEXT(add(doctor, FINDING_OK, "cells"), "%s", place->reason);
	} else if (place->available && !missing[0]) {
		TEXT(add(doctor, FINDING_OK, "cells"), "memory ceiling, freezer and kill, in %s", place->folder);
	} else {
		bool swap_alone = place->available && place->memory && place->pids;
		struct finding *lost = add(doctor, swap_alone ? FINDING_NOTE : FINDING_LOST, "cells");
		TEXT(lost, "%s%s%s", missing, place->reason[0] ? ": " : "", place->reason);
		if (!conf->cells)
			MEND(lost, "take cells = \"off\" out of %.400s", conf->source);
		else if (!swap_alone)
			cell_place_mend(place, lost->mend, sizeof lost->mend);
	}
}

void doctor_logout(struct doctor *doctor)
{
	const char *mortal = cell_place_mortal();

	if (!mortal) {
		TEXT(add(doctor, FINDING_OK, "logout"), "spooled jobs go on after it");
		return;
	}
	struct finding *lost = add(doctor, FINDING_LOST, "logout");
	TEXT(lost, "spooled jobs do not outlive it: %s", mortal);
	MEND(lost, "loginctl enable-linger");
}

static bool is_enabled(const char *folder)
{
	char path[PATH_MAX];

	return fmt(path, sizeof path, "%s/timers.target.wants/pgpu-rescue.timer", folder) < PATH_MAX &&
	       faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void doctor_boot(struct doctor *doctor)
{
	char folder[PATH_MAX];
	struct err ignored = ERR_NONE;

	if (!login_managed()) {
		struct finding *note = add(doctor, FINDING_NOTE, "boot");
		TEXT(note, "no systemd: after a boot the queue goes on with the first call of pgpu");
		MEND(note, "a line for crontab -e: @reboot pgpu rescue");
		return;
	}
	if ((paths_user_units(folder, &ignored) == 0 && is_enabled(folder)) || is_enabled("/etc/systemd/user")) {
		TEXT(add(doctor, FINDING_OK, "boot"), "pgpu-rescue.timer lets the queue go on after one");
		return;
	}
	struct finding *lost = add(doctor, FINDING_LOST, "boot");
	TEXT(lost, "after one the queue waits for the first call of pgpu");
	MEND(lost, "systemctl --user enable --now pgpu-rescue.timer");
}

/* What a driver gives to a group: a device that is there and not ours to open. */
static void look_at_device(struct doctor *doctor, const char *path)
{
	struct stat found;

	if (stat(path, &found) < 0 || faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0)
		return;
	char group[256];
	bool named = account_group(found.st_gid, group, sizeof group);
	struct finding *lost = add(doctor, FINDING_LOST, "card");
	TEXT(lost, "%s is not yours to open: no job can use it", path);
	MEND(lost, "sudo usermod -aG %s $USER, and log in again", named ? group : "the device's group");
}

static void look_at_card(struct doctor *doctor, const struct probe_card *card)
{
	char total[TEXT_SIZE];

	if (card->vram_total_bytes > 0) {
		text_size_show((uint64_t)card->vram_total_bytes, total);
		TEXT(add(doctor, FINDING_OK, "card"), "%s (%s), %s", card->name, card->driver, total);
		return;
	}
	bool nvidia = strcmp(card->driver, "nvidia") == 0;
	struct finding *note = add(doctor, nvidia ? FINDING_LOST : FINDING_NOTE, "card");
	TEXT(note, "%s (%s): its memory cannot be read: no --vram, and nobody waits for its bytes", card->name,
	     card->driver[0] ? card->driver : "no driver");
	if (nvidia)
		MEND(note, "install libnvidia-ml.so.1: it comes with nvidia-smi");
}

void doctor_cards(struct doctor *doctor)
{
	struct snapshot snapshot = { 0 };
	struct cardview view = { 0 };
	struct err err = ERR_NONE;
	struct queue *queue = doctor->queue;

	if (!queue)
		return;
	if (snapshot_take(&queue->line, &queue->spool, &snapshot, &err) < 0 ||
	    cardview_take(&snapshot, &view, &err) < 0) {
		TEXT(add(doctor, FINDING_LOST, "card"), "%s", err.text);
	} else {
		const struct probe_cards *cards = &view.sample.cards;
		for (int i = 0; i < cards->count && i < 4; i++)
			look_at_card(doctor, &cards->list[i]);
		if (cards->count == 0)
			TEXT(add(doctor, FINDING_NOTE, "card"), "none found: jobs take turns all the same");
	}
	look_at_device(doctor, "/dev/kfd");
	look_at_device(doctor, "/dev/dri/renderD128");
	look_at_device(doctor, "/dev/nvidiactl");
	cardview_free(&view);
	snapshot_free(&snapshot);
}

void doctor_limits(struct doctor *doctor)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	if (files.rlim_cur >= OPEN_FILES) {
		TEXT(add(doctor, FINDING_OK, "limits"), "%llu open files", (unsigned long long)files.rlim_cur);
		return;
	}
	struct finding *lost = add(doctor, FINDING_LOST, "limits");
	TEXT(lost, "only %llu open files: with many in line calls fail", (unsigned long long)files.rlim_cur);
	MEND(lost, "ulimit -n %d", OPEN_FILES);
}
