/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the probe goes through /proc and /sys: trees are made here that have what a fixture in git cannot hold. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "conf/base/scope.h"
#include "runner/cell/probe.h"
#include "runner/cell/probe_foreign.h"
#include "runner/cell/probe_use.h"

#define CARD "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n"
#define CLIENT                                                                                                         \
	"pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t%d\ndrm-pdev:\t0000:03:00.0\n"                                  \
	"drm-memory-vram:\t1024 KiB\ndrm-memory-gtt: \t0 KiB\ndrm-engine-gfx:\t%d ns\n"

static char root[64];
static struct probe *probe;
static struct probe_sample sample;

static int set_up(void **state)
{
	char path[96];

	(void)state;
	strcpy(root, "/tmp/pgpu-unit.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof path, "%s/proc", root);
	mkdir(path, 0700);
	setenv("PGPU_PROCFS", path, 1);
	snprintf(path, sizeof path, "%s/sys", root);
	mkdir(path, 0700);
	setenv("PGPU_SYSFS", path, 1);
	probe = malloc(sizeof *probe);
	probe_open(probe);
	return 0;
}

static int tear_down(void **state)
{
	pid_t pid;

	(void)state;
	probe_sample_free(&sample);
	probe_close(probe);
	free(probe);
	pid = fork();
	if (pid == 0)
		execlp("rm", "rm", "-rf", root, NULL);
	return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}

/* The path of a file below the root, its folders made. */
static const char *path_of(const char *format, va_list args)
{
	static char path[512];
	int length = snprintf(path, sizeof path, "%s/", root);

	vsnprintf(path + length, sizeof path - (size_t)length, format, args);
	for (char *at = strchr(path + length, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	return path;
}

static void put(const char *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	FILE *file = fopen(path_of(format, args), "w");
	va_end(args);
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void link_to(const char *target, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	assert_int_equal(symlink(target, path_of(format, args)), 0);
	va_end(args);
}

static void put_card(void)
{
	put(CARD, "sys/class/drm/card1/device/uevent");
	put(CARD, "sys/class/drm/renderD128/device/uevent");
}

static void put_process(int pid, int start)
{
	char text[256];

	snprintf(text, sizeof text, "%d (p%d) S 1 1 1 0 -1 4194304 1 0 3 0 1 2 0 0 20 0 1 0 %d 4096 1\n", pid, pid,
		 start);
	put(text, "proc/%d/stat", pid);
	snprintf(text, sizeof text, "p%d\n", pid);
	put(text, "proc/%d/comm", pid);
}

/* A descriptor that is `target`, and what it says of itself; NULL: it is closed by the time it is read. */
static void put_descriptor(int pid, int fd, const char *target, const char *info)
{
	link_to(target, "proc/%d/fd/%d", pid, fd);
	if (info)
		put(info, "proc/%d/fdinfo/%d", pid, fd);
}

static const char *client_text(int id, int time_ns)
{
	static char text[512];

	snprintf(text, sizeof text, CLIENT, id, time_ns);
	return text;
}

static void take(const struct probe_set *only)
{
	probe_sample_free(&sample);
	assert_int_equal(probe_sample(probe, only, &sample, NULL), 0);
}

static struct probe_use use_of(pid_t pid)
{
	struct probe_use use;

	probe_use_of(&sample, &(struct probe_set){ &pid, 1 }, &use);
	return use;
}

static void only_devices_are_read(void **state)
{
	(void)state;
	put_card();
	put_process(10, 1);
	put_descriptor(10, 0, "/dev/null", client_text(1, 1));
	put_descriptor(10, 1, "/dev/pts/3", client_text(2, 1));
	put_descriptor(10, 3, "/home/user/dev/dri/card1", client_text(3, 1));
	put_descriptor(10, 4, "socket:[12]", client_text(4, 1));
	put_descriptor(10, 5, "/dev/dri/renderD128", client_text(5, 1));
	put_descriptor(10, 6, "/dev/gpu-of-a-container", client_text(6, 1));
	put_descriptor(10, 7, "/dev/dri/card1", client_text(5, 1));
	take(NULL);
	assert_int_equal(sample.client_list.count, 2);
	assert_int_equal(sample.clients[0].id + sample.clients[1].id, 11);
	assert_int_equal(sample.hold_list.count, 2);
	assert_int_equal(use_of(10).cards[0].vram_bytes, 2 << 20);
}

static void what_vanishes_is_nothing(void **state)
{
	(void)state;
	put_card();
	put_process(10, 1);
	put_descriptor(10, 3, "/dev/dri/renderD128", NULL);
	put_descriptor(10, 4, "/dev/dri/renderD128", client_text(4, 1));
	put("", "proc/11/stat");
	put("", "proc/12/fd");
	take(NULL);
	assert_int_equal(sample.client_list.count, 1);
	assert_int_equal(use_of(10).doubt, PROBE_KNOWN);
	assert_false(use_of(11).holds);
	/* A set may name who has ended. */
	take(&(struct probe_set){ (pid_t[]){ 9, 10, 99999 }, 3 });
	assert_int_equal(sample.client_list.count, 1);
	assert_int_equal(sample.seen, 1);
}

static void a_device_that_says_nothing_is_a_doubt(void **state)
{
	struct probe_foreign *list;
	const struct probe_set nobody = { NULL, 0 };
	size_t count;

	(void)state;
	put_card();
	put_process(10, 1);
	put_descriptor(10, 3, "/dev/dri/renderD128", "pos:\t0\nflags:\t02\n");
	put_descriptor(10, 4, "/dev/dri/card1", "pos:\t0\nflags:\t02\n");
	put_process(20, 1);
	put_descriptor(20, 3, "/dev/nvidia0", "pos:\t0\n");
	put_process(30, 1);
	put_descriptor(30, 3, "/dev/kfd", "pos:\t0\n");
	take(NULL);
	assert_int_equal(sample.share_list.count, 3);
	for (pid_t pid = 10; pid <= 30; pid += 10) {
		assert_true(use_of(pid).holds);
		assert_int_equal(use_of(pid).doubt, PROBE_UNTOLD);
		assert_int_equal(use_of(pid).time_ns, -1);
	}
	assert_int_equal(probe_foreign_list(&sample, &nobody, &list, &count, NULL), 0);
	assert_int_equal(count, 3);
	assert_int_equal(list[0].pid, 10);
	assert_int_equal(list[0].vram_bytes, -1);
	assert_string_equal(list[0].via, "unknown");
	assert_int_equal(list[0].pci, 3 << 8);
	assert_true(list[1].pci == PROBE_NO_PCI);
	free(list);
}

static void a_sleeping_card_is_not_asked_what_would_wake_it(void **state)
{
	(void)state;
	put_card();
	put("suspended\n", "sys/class/drm/card1/device/power/runtime_status");
	put("77\n", "sys/class/drm/card1/device/gpu_busy_percent");
	put("DRIVER=xe\nPCI_SLOT_NAME=0000:04:00.0\n", "sys/class/drm/card2/device/uevent");
	put("DRIVER=xe\nPCI_SLOT_NAME=0000:04:00.0\n", "sys/class/drm/renderD129/device/uevent");
	put("suspended\n", "sys/class/drm/card2/device/power/runtime_status");
	put_process(10, 1);
	put_descriptor(10, 3, "/dev/dri/renderD128", client_text(3, 1));
	put_descriptor(10, 4, "/dev/dri/renderD129", "drm-driver:\txe\ndrm-client-id:\t4\ndrm-pdev:\t0000:04:00.0\n");
	take(NULL);
	assert_int_equal(sample.cards.list[0].busy_percent, 0);
	assert_int_equal(sample.client_list.count, 1);
	assert_int_equal(sample.share_list.count, 1);
	assert_int_equal(sample.shares[0].pci, 4 << 8);
	put("active\n", "sys/class/drm/card2/device/power/runtime_status");
	take(NULL);
	assert_int_equal(sample.client_list.count, 2);
	assert_int_equal(sample.share_list.count, 0);
}

static void who_cannot_be_looked_into_is_unknown(void **state)
{
	(void)state;
	put_card();
	put_process(10, 1);
	put("", "proc/10/fdinfo"); /* stands for one that may not be opened */
	put_process(20, 1);
	put_descriptor(20, 3, "/dev/dri/renderD128", client_text(3, 1));
	put("", "proc/20/fdinfo/4/unreadable");
	link_to("/dev/dri/renderD128", "proc/20/fd/4");
	take(NULL);
	assert_int_equal(sample.shut, 2);
	assert_int_equal(use_of(10).doubt, PROBE_SHUT);
	assert_int_equal(use_of(20).doubt, PROBE_SHUT);
	assert_int_equal(use_of(20).clients, 1);
	take(NULL);
	assert_int_equal(sample.shut, 2);
	assert_int_equal(use_of(10).doubt, PROBE_SHUT);
}

static void who_has_nothing_is_not_looked_into_twice(void **state)
{
	(void)state;
	put_card();
	for (int pid = 10; pid < 20; pid++) {
		put_process(pid, 1);
		put_descriptor(pid, 0, "/dev/null", "pos:\t0\n");
	}
	put_descriptor(15, 3, "/dev/dri/renderD128", client_text(3, 1));
	take(NULL);
	assert_int_equal(probe->looked, 10);
	take(NULL);
	assert_int_equal(probe->looked, 10);
	assert_int_equal(sample.client_list.count, 1);
	assert_int_equal(sample.seen, 10);
	/* Another descriptor. */
	put_descriptor(12, 4, "/dev/dri/renderD128", client_text(4, 1));
	take(NULL);
	assert_int_equal(probe->looked, 11);
	assert_int_equal(sample.client_list.count, 2);
	/* A look at a set knows them, too. */
	take(&(struct probe_set){ (pid_t[]){ 10, 11, 12 }, 3 });
	assert_int_equal(probe->looked, 11);
	assert_int_equal(sample.client_list.count, 1);
	/* After a while all are. */
	for (size_t i = 0; i < probe->memory.size.count; i++)
		probe->memory.list[i].looked_ns -= 61 * NS_PER_S;
	take(NULL);
	assert_int_equal(probe->looked, 21);
}

static void put_holder(void)
{
	put_card();
	put_process(10, 7);
	put_descriptor(10, 0, "/dev/null", "pos:\t0\n");
	put_descriptor(10, 3, "/dev/dri/renderD128", client_text(3, 1));
	put_descriptor(10, 5, "/dev/dri/renderD128", client_text(3, 1));
	put_descriptor(10, 6, "/dev/dri/renderD128", client_text(6, 1));
	take(NULL);
	assert_int_equal(probe->looked, 1);
}

/* Of a process that is known to hold a card only those descriptors are read, and they are read anew. */
static void of_a_holder_its_clients_alone_are_read(void **state)
{
	(void)state;
	put_holder();
	put("", "proc/10/comm");
	put(client_text(3, 9), "proc/10/fdinfo/3");
	take(NULL);
	assert_int_equal(probe->looked, 1);
	assert_int_equal(sample.client_list.count, 2);
	assert_int_equal(use_of(10).clients, 2);
	assert_string_equal(sample.processes[0].comm, "p10");
	assert_int_equal(sample.processes[0].start, 7);
	/* For five seconds. */
	probe->memory.list[0].looked_ns -= 5 * NS_PER_S;
	take(NULL);
	assert_int_equal(probe->looked, 2);
	assert_false(sample.processes[0].named);
}

static void a_holder_that_shows_other_descriptors_is_looked_through(void **state)
{
	(void)state;
	put_holder();
	/* A client is there no more, though the folder is as it was: all is read, and again the next time. */
	char path[96];
	snprintf(path, sizeof path, "%s/proc/10/fdinfo/6", root);
	assert_int_equal(unlink(path), 0);
	take(NULL);
	assert_int_equal(probe->looked, 2);
	assert_int_equal(sample.client_list.count, 1);
	take(NULL);
	assert_int_equal(probe->looked, 3);
	take(NULL);
	assert_int_equal(probe->looked, 3);
	assert_int_equal(sample.client_list.count, 1);
	/* A new client of it. */
	put_descriptor(10, 8, "/dev/dri/renderD128", client_text(8, 1));
	take(NULL);
	assert_int_equal(probe->looked, 4);
	assert_int_equal(sample.client_list.count, 2);
}

static void a_holder_of_too_many_descriptors_is_always_looked_through(void **state)
{
	(void)state;
	put_card();
	put_process(10, 1);
	for (int fd = 3; fd < 3 + PROBE_HELD + 1; fd++)
		put_descriptor(10, fd, "/dev/dri/renderD128", client_text(fd, 1));
	take(NULL);
	take(NULL);
	assert_int_equal(probe->looked, 2);
	assert_int_equal(sample.client_list.count, PROBE_HELD + 1);
}

/* Where the kernel does not tell how many descriptors there are, a holder's new ones would not be seen. */
static void without_a_count_a_holder_is_always_looked_through(void **state)
{
	(void)state;
	probe->memory.tells = false;
	put_holder();
	take(NULL);
	assert_int_equal(probe->looked, 2);
}

static void a_job_of_many_short_processes_is_not_remembered_for_ever(void **state)
{
	enum { MANY = 9000 };
	struct probe_memory memory = { .folder = 1, .met = true };

	(void)state;
	put_process(10, 1);
	put_descriptor(10, 0, "/dev/null", "pos:\t0\n");
	for (memory.pid = 100; memory.pid < 100 + MANY; memory.pid++)
		probe_memory_keep(&probe->memory, &memory);
	take(&(struct probe_set){ (pid_t[]){ 10 }, 1 });
	take(&(struct probe_set){ (pid_t[]){ 10 }, 1 });
	assert_int_equal(probe->memory.size.count, 1);
	assert_int_equal(probe->looked, 1);
}

static void links_in_place_of_folders_are_not_followed(void **state)
{
	(void)state;
	put_card();
	put_process(10, 1);
	put_descriptor(10, 3, "/dev/dri/renderD128", client_text(3, 1));
	link_to("10", "proc/11");
	put_process(12, 1);
	link_to("../10/fd", "proc/12/fd");
	link_to("../10/fdinfo", "proc/12/fdinfo");
	put_process(13, 1);
	link_to("/dev/dri/renderD128", "proc/13/fd/3");
	link_to("../../10/fdinfo/3", "proc/13/fdinfo/3");
	take(NULL);
	assert_int_equal(sample.client_list.count, 1);
	assert_int_equal(sample.hold_list.count, 1);
	assert_int_equal(use_of(12).doubt, PROBE_SHUT);
	assert_int_equal(use_of(13).doubt, PROBE_SHUT);
}

static void large_and_endless_files(void **state)
{
	size_t size = (size_t)1 << 20;
	char *text = malloc(size + 1), path[128];

	(void)state;
	put_card();
	put_process(10, 1);
	strcpy(text, client_text(3, 1));
	memset(text + strlen(text), 'x', size - strlen(text));
	text[size] = '\0';
	put_descriptor(10, 3, "/dev/dri/renderD128", text);
	put_descriptor(10, 4, "/dev/dri/renderD128", client_text(4, 1));
	snprintf(path, sizeof path, "%s/proc/10/fdinfo/5", root);
	assert_int_equal(mkfifo(path, 0600), 0);
	put(text, "sys/class/drm/card1/device/gpu_busy_percent");
	put(text, "proc/10/comm");
	take(NULL);
	assert_int_equal(sample.client_list.count, 2);
	assert_int_equal(sample.clients[0].partial + sample.clients[1].partial, 1);
	assert_int_equal(sample.cards.list[0].busy_percent, -1);
	assert_int_equal(use_of(10).doubt, PROBE_UNREAD);
	free(text);
}

static void more_clients_than_a_sample_holds(void **state)
{
	enum { MANY = 4100 };

	(void)state;
	put_card();
	put_process(10, 1);
	for (int i = 0; i < MANY; i++)
		put(client_text(i, 1), "proc/10/fdinfo/%d", i);
	take(NULL);
	assert_true(sample.partial);
	assert_int_equal(sample.client_list.count, 4096);
	assert_int_equal(use_of(10).doubt, PROBE_UNREAD);
}

static void whose_a_shared_client_is(void **state)
{
	(void)state;
	put_card();
	put_process(10, 900); /* numbers begin anew: a lower one may be the younger */
	put_descriptor(10, 3, "/dev/dri/renderD128", client_text(3, 1));
	put_process(20, 500);
	put_descriptor(20, 3, "/dev/dri/renderD128", client_text(3, 1));
	put_process(30, 500);
	put_descriptor(30, 3, "/dev/dri/renderD128", client_text(3, 1));
	take(NULL);
	assert_int_equal(sample.client_list.count, 1);
	assert_int_equal(sample.hold_list.count, 3);
	assert_int_equal(use_of(10).clients, 0);
	assert_int_equal(use_of(20).clients, 1);
	assert_int_equal(use_of(30).clients, 0);
}

static void foreign_is_who_has_something(void **state)
{
	const pid_t job = 40;
	const struct probe_set ours = { &job, 1 };
	struct probe_foreign *list;
	size_t count;

	(void)state;
	put_card();
	put("0\n", "sys/class/kfd/kfd/topology/nodes/0/gpu_id");
	put("77\n", "sys/class/kfd/kfd/topology/nodes/1/gpu_id");
	put("location_id 768\ndomain 0\n", "sys/class/kfd/kfd/topology/nodes/1/properties");
	put("0\n", "sys/class/kfd/kfd/proc/10/vram_77");
	put("0\n", "sys/class/kfd/kfd/proc/20/vram_77");
	put("77", "sys/class/kfd/kfd/proc/20/queues/0/gpuid");
	put("2097152\n", "sys/class/kfd/kfd/proc/30/vram_77");
	put("4096\n", "sys/class/kfd/kfd/proc/99/vram_77");
	put("-1\n", "sys/class/kfd/kfd/proc/70/vram_77");
	put("4096\n", "sys/class/kfd/kfd/proc/70/context_1/vram_77");
	for (int pid = 10; pid <= 70; pid += 10)
		put_process(pid, pid);
	put_descriptor(40, 3, "/dev/dri/renderD128", client_text(40, 1));
	/* The KFD and fdinfo tell of the same memory: the larger counts. */
	put_descriptor(30, 3, "/dev/dri/renderD128", client_text(30, 0));
	put_descriptor(50, 3, "/dev/dri/renderD128",
		       "drm-driver:\tamdgpu\ndrm-client-id:\t50\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t0 KiB\n");
	put_descriptor(60, 3, "/dev/dri/renderD128",
		       "drm-driver:\tamdgpu\ndrm-client-id:\t60\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t-1 KiB\n");
	take(NULL);
	assert_int_equal(probe_foreign_list(&sample, &ours, &list, &count, NULL), 0);
	assert_int_equal(count, 4);
	assert_int_equal(list[0].pid, 30);
	assert_int_equal(list[0].vram_bytes, 2 << 20);
	assert_string_equal(list[0].via, "kfd");
	assert_string_equal(list[0].comm, "p30");
	assert_int_equal(list[1].pid, 20);
	assert_int_equal(list[1].vram_bytes, 0);
	assert_string_equal(list[1].via, "kfd");
	assert_int_equal(list[2].pid, 60);
	assert_int_equal(list[2].vram_bytes, -1);
	assert_string_equal(list[2].via, "drm");
	assert_int_equal(list[3].pid, 70);
	assert_int_equal(list[3].vram_bytes, -1);
	assert_int_equal(use_of(20).doubt, PROBE_QUEUES);
	assert_int_equal(use_of(10).doubt, PROBE_KNOWN);
	free(list);
}

static void on_an_apu_the_machines_memory_counts(void **state)
{
	const struct probe_set nobody = { NULL, 0 };
	struct probe_foreign *list;
	size_t count;

	(void)state;
	put_card();
	put("536870912\n", "sys/class/drm/card1/device/mem_info_vram_total");
	put("16501243904\n", "sys/class/drm/card1/device/mem_info_gtt_total");
	put_process(10, 1);
	put_descriptor(10, 3, "/dev/dri/renderD128",
		       "drm-driver:\tamdgpu\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t1 KiB\n"
		       "drm-memory-gtt: \t2 KiB\n");
	take(NULL);
	assert_true(sample.cards.list[0].apu);
	assert_int_equal(probe_foreign_list(&sample, &nobody, &list, &count, NULL), 0);
	assert_int_equal(list[0].vram_bytes, 3072);
	free(list);
	put("", "sys/class/drm/card1/device/mem_busy_percent");
	take(NULL);
	assert_false(sample.cards.list[0].apu);
	assert_int_equal(probe_foreign_list(&sample, &nobody, &list, &count, NULL), 0);
	assert_int_equal(list[0].vram_bytes, 1024);
	free(list);
}

static void drivers_of_another_pid_namespace_name_nobody_of_ours(void **state)
{
	const pid_t job = 10;
	struct probe_foreign *list;
	size_t count;

	(void)state;
	put_card();
	link_to("pid:[4026532000]", "proc/self/ns/pid");
	put("77\n", "sys/class/kfd/kfd/topology/nodes/1/gpu_id");
	put("location_id 768\ndomain 0\n", "sys/class/kfd/kfd/topology/nodes/1/properties");
	put("4096\n", "sys/class/kfd/kfd/proc/10/vram_77");
	put_process(10, 1);
	probe_close(probe);
	probe_open(probe);
	take(&(struct probe_set){ &job, 1 });
	assert_int_equal(use_of(10).doubt, PROBE_ABROAD);
	take(NULL);
	assert_int_equal(probe_foreign_list(&sample, &(struct probe_set){ &job, 1 }, &list, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_false(list[0].named);
	assert_int_equal(list[0].vram_bytes, 4096);
	free(list);
}

static void roots_that_are_not_there(void **state)
{
	(void)state;
	probe_close(probe);
	setenv("PGPU_PROCFS", "/nonexistent", 1);
	setenv("PGPU_SYSFS", "/nonexistent", 1);
	probe_open(probe);
	assert_true(probe->elsewhere);
	assert_int_equal(probe->proc, -1);
	assert_int_equal(probe->sys, -1);
	take(NULL);
	assert_int_equal(sample.cards.count + (int)sample.process_list.count, 0);
	take(&(struct probe_set){ (pid_t[]){ getpid() }, 1 });
	assert_int_equal(sample.seen, 0);
}

/* The processes are read between two looks at the card. */
static void the_larger_use_counts(void **state)
{
	struct probe_cards cards;
	int sys = open(getenv("PGPU_SYSFS"), O_RDONLY | O_DIRECTORY);

	(void)state;
	put(CARD, "sys/class/drm/card1/device/uevent");
	put("1000\n", "sys/class/drm/card1/device/mem_info_vram_total");
	put("500\n", "sys/class/drm/card1/device/mem_info_vram_used");
	probe_cards_read(sys, &cards);
	put("700\n", "sys/class/drm/card1/device/mem_info_vram_used");
	probe_cards_read_used(sys, &cards);
	assert_int_equal(cards.list[0].vram_used_bytes, 700);
	put("300\n", "sys/class/drm/card1/device/mem_info_vram_used");
	probe_cards_read_used(sys, &cards);
	assert_int_equal(cards.list[0].vram_used_bytes, 700);
	put("1001\n", "sys/class/drm/card1/device/mem_info_vram_used");
	probe_cards_read_used(sys, &cards);
	assert_int_equal(cards.list[0].vram_used_bytes, 700);
	close(sys);
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_TREE(the_larger_use_counts),
		ON_A_TREE(only_devices_are_read),
		ON_A_TREE(what_vanishes_is_nothing),
		ON_A_TREE(a_device_that_says_nothing_is_a_doubt),
		ON_A_TREE(a_sleeping_card_is_not_asked_what_would_wake_it),
		ON_A_TREE(who_cannot_be_looked_into_is_unknown),
		ON_A_TREE(who_has_nothing_is_not_looked_into_twice),
		ON_A_TREE(of_a_holder_its_clients_alone_are_read),
		ON_A_TREE(a_holder_that_shows_other_descriptors_is_looked_through),
		ON_A_TREE(a_holder_of_too_many_descriptors_is_always_looked_through),
		ON_A_TREE(without_a_count_a_holder_is_always_looked_through),
		ON_A_TREE(a_job_of_many_short_processes_is_not_remembered_for_ever),
		ON_A_TREE(links_in_place_of_folders_are_not_followed),
		ON_A_TREE(large_and_endless_files),
		ON_A_TREE(more_clients_than_a_sample_holds),
		ON_A_TREE(whose_a_shared_client_is),
		ON_A_TREE(foreign_is_who_has_something),
		ON_A_TREE(on_an_apu_the_machines_memory_counts),
		ON_A_TREE(drivers_of_another_pid_namespace_name_nobody_of_ours),
		ON_A_TREE(roots_that_are_not_there),
	};

	return cmocka_run_group_tests_name("probe_tree", tests, NULL, NULL);
}
