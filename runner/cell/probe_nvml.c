/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_nvml.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/child.h"
#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"
#include "probe_walk.h"

/* Without its persistence mode the driver starts a card anew for the first who asks: seconds. */
enum { FIRST_MS = 5000, NEXT_MS = 1000, END_MS = 100 };

struct probe_nvml {
	char path[PATH_MAX];
	int socket; /* -1: there is no reader */
	int pidfd;
	pid_t pid;
	bool tried, answered;
	struct nvml_card card; /* that is being read */
};

/* False when no card has the driver, or one of them is asleep. */
static bool may_start(int sys)
{
	SCOPE_FD int driver = sys < 0 ? -1 : probe_folder(sys, "bus/pci/drivers/nvidia");
	SCOPE_NAMES struct names names = NAMES_NONE;
	const struct dirent64 *found;
	char path[64], text[16];
	int awake = 0;

	if (driver < 0 || names_open(&names, driver) < 0)
		return false;
	while ((found = names_next(&names))) {
		struct probe_span name = { found->d_name, strlen(found->d_name) };
		if (probe_pci_parse(name) == PROBE_NO_PCI)
			continue;
		fmt(path, sizeof path, "%.16s/power/runtime_status", found->d_name);
		ssize_t size = probe_read(driver, path, text, sizeof text);
		if (size > 0 && probe_is((struct probe_span){ text, (size_t)size }, "suspended\n"))
			return false;
		awake++;
	}
	return awake > 0;
}

/* In a folder where others may write, what is theirs is not started. */
static bool is_trusted(const char *path, const struct stat *own)
{
	struct stat found;

	return lstat(path, &found) == 0 && S_ISREG(found.st_mode) && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
	       (found.st_uid == own->st_uid || found.st_uid == 0 || found.st_uid == geteuid());
}

/* Beside our own file, as it was built, or where it is installed. */
static bool find_reader(char path[PATH_MAX])
{
	static const char *const places[] = { "pgpu-nvml", "../libexec/pgpu/pgpu-nvml" };
	char own[PATH_MAX];
	struct stat ours;
	ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);

	if (length <= 0 || stat("/proc/self/exe", &ours) < 0)
		return false;
	own[length] = '\0';
	*strrchr(own, '/') = '\0';
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		if (fmt(path, PATH_MAX, "%s/%s", own, places[i]) < PATH_MAX && is_trusted(path, &ours))
			return true;
	}
	return false;
}

struct probe_nvml *probe_nvml_of(const char *path)
{
	struct probe_nvml *nvml = calloc(1, sizeof *nvml);

	if (nvml) {
		nvml->socket = nvml->pidfd = -1;
		fmt(nvml->path, sizeof nvml->path, "%s", path);
	}
	return nvml;
}

struct probe_nvml *probe_nvml_open(int sys)
{
	char path[PATH_MAX];

	return may_start(sys) && find_reader(path) ? probe_nvml_of(path) : NULL;
}

/* It may hang in the driver, where no signal reaches it: it is not waited for then, and is nobody's when we end. */
static void give_up(struct probe_nvml *nvml)
{
	struct pollfd end = { .fd = nvml->pidfd, .events = POLLIN };

	scope_close(&nvml->socket);
	if (nvml->pidfd >= 0) {
		pidfd_send_signal(nvml->pidfd, SIGKILL, NULL, 0);
		if (poll(&end, 1, END_MS) == 1) {
			waitid(P_PIDFD, (id_t)nvml->pidfd, &(siginfo_t){ 0 }, WEXITED | WNOHANG);
			nvml->pid = 0;
		}
	}
	scope_close(&nvml->pidfd);
	nvml->socket = nvml->pidfd = -1;
}

void probe_nvml_close(struct probe_nvml *nvml)
{
	if (nvml)
		give_up(nvml);
	free(nvml);
}

pid_t probe_nvml_reader(const struct probe_nvml *nvml)
{
	return nvml ? nvml->pid : 0;
}

static void start(struct probe_nvml *nvml)
{
	char *argv[] = { nvml->path, NULL };
	int ends[2];

	nvml->tried = true;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return;
	nvml->socket = ends[0];
	SCOPE_FD int theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(ends[1]);
	if (theirs < 0 || child_start(nvml->path, argv, environ, (int[]){ theirs, -1, -1 }, 3, &nvml->pid) != 0) {
		nvml->pid = 0;
		scope_close(&nvml->socket);
		nvml->socket = -1;
		return;
	}
	nvml->pidfd = pidfd_open(nvml->pid, 0);
}

/* A packet into `bytes`; -1 when none comes in time. */
static ssize_t hear(const struct probe_nvml *nvml, void *bytes, size_t size, int64_t until_ns)
{
	for (;;) {
		int64_t left_ns = until_ns - clock_awake_ns();
		struct pollfd wait = { .fd = nvml->socket, .events = POLLIN };
		int ready = poll(&wait, 1, left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0);
		if (ready < 0 && errno == EINTR)
			continue;
		return ready == 1 ? recv(nvml->socket, bytes, size, MSG_DONTWAIT) : -1;
	}
}

/* The card of the sample, added when sysfs does not know it; NULL: there is no more room. */
static struct probe_card *card_of(const struct nvml_card *known, struct probe_cards *cards)
{
	const struct probe_card *found = probe_cards_find(cards, known->pci, "");

	if (found)
		return &cards->list[found - cards->list];
	if (cards->count == PROBE_CARDS)
		return NULL;
	struct probe_card *card = &cards->list[cards->count++];
	*card = (struct probe_card){
		.driver = "nvidia", .pci = known->pci, .gtt_total_bytes = -1, .gtt_used_bytes = -1
	};
	fmt(card->name, sizeof card->name, "nvidia%u", known->index);
	return card;
}

static void add_user(const struct nvml_user *user, const struct probe_card *card, int proc, struct probe_sample *sample)
{
	struct probe_process process = { .pid = user->pid };
	struct probe_share share = {
		.via = PROBE_NVML, .pci = card->pci, .vram_bytes = user->bytes, .busy_percent = user->busy_percent
	};

	share.process = sample->abroad ? PROBE_NOBODY : probe_find_process(sample, user->pid);
	if (share.process == PROBE_NOBODY) {
		process.gone = !sample->abroad && !probe_walk_name(proc, user->pid, &process);
		share.process = probe_add_process(sample, &process);
	} else if (!sample->processes[share.process].named) {
		process = sample->processes[share.process];
		probe_walk_name(proc, user->pid, &sample->processes[share.process]);
		sample->processes[share.process].shut = process.shut;
	}
	if (share.process != PROBE_NOBODY)
		probe_add_share(sample, &share);
}

void probe_nvml_add(const struct nvml_card *known, int proc, const struct probe_set *only, struct probe_sample *sample)
{
	struct probe_card *card = card_of(known, &sample->cards);

	sample->partial = sample->partial || known->partial;
	if (!card)
		return;
	card->busy_percent = known->busy_percent;
	card->vram_total_bytes = known->total_bytes;
	card->vram_used_bytes = known->used_bytes;
	for (uint32_t i = 0; i < known->user_count; i++) {
		if (sample->abroad || probe_set_has(only, known->users[i].pid))
			add_user(&known->users[i], card, proc, sample);
	}
}

/* False when it says nothing, or what no reader of our build says. */
static bool look(struct probe_nvml *nvml, int proc, const struct probe_set *only, struct probe_sample *sample)
{
	int64_t until_ns = clock_awake_ns() + (nvml->answered ? NEXT_MS : FIRST_MS) * NS_PER_MS;
	const size_t bare = offsetof(struct nvml_card, users);
	struct nvml_head head;

	if (send(nvml->socket, &(char){ NVML_LOOK }, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1 ||
	    hear(nvml, &head, sizeof head, until_ns) != sizeof head || head.version != NVML_VERSION)
		return false;
	for (uint32_t i = 0; i < head.cards && i < NVML_CARDS; i++) {
		ssize_t got = hear(nvml, &nvml->card, sizeof nvml->card, until_ns);
		if (got < (ssize_t)bare || nvml->card.user_count > NVML_USERS ||
		    (size_t)got != bare + nvml->card.user_count * sizeof nvml->card.users[0])
			return false;
		probe_nvml_add(&nvml->card, proc, only, sample);
	}
	return nvml->answered = true;
}

void probe_nvml_read(struct probe_nvml *nvml, int proc, const struct probe_set *only, struct probe_sample *sample)
{
	if (!nvml)
		return;
	if (!nvml->tried)
		start(nvml);
	if (nvml->socket >= 0 && !look(nvml, proc, only, sample))
		give_up(nvml);
}
