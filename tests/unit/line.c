/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of the line: entries, seats with their generations and locks, tickets, ids, who was served. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "conf/base/file.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "runner/line/line.h"
#include "runner/line/seat.h"
#include "runner/line/settle.h"
#include "runner/line/ticket.h"

static char folder[64];

static int set_up(void **state)
{
	static struct line line;

	strcpy(folder, "/tmp/pgpu-unit.XXXXXX");
	if (!mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) < 0)
		return -1;
	line_init(&line);
	line.conf.lanes = 2;
	*state = &line;
	return line_open(&line, NULL);
}

static int tear_down(void **state)
{
	char command[128];
	struct line *line = *state;
	pid_t pid;

	line_close(line);
	snprintf(command, sizeof command, "%s", folder);
	pid = fork();
	if (pid == 0)
		execlp("rm", "rm", "-rf", command, NULL);
	return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}

static void an_entry_reads_back(void **state)
{
	struct entry entry = { .gen = 12,
			       .state = ENTRY_RUNNING,
			       .since_boot_ns = 99,
			       .owner = { 7, 8, 9 },
			       .worker = true,
			       .socket = "/run/x/7-8",
			       .id = jobid_of(42),
			       .kind = ENTRY_SPOOL,
			       .class_name = "render",
			       .session = "film.v2",
			       .name = "two words",
			       .command = "sh -c 'a b'",
			       .workdir = "/tmp",
			       .restarts = 3,
			       .arrived_wall_ns = 1,
			       .started_wall_ns = 2,
			       .waited_ns = 3,
			       .ran_ns = 4,
			       .frozen_ns = 5,
			       .budget_ns = 6,
			       .limit_ns = 7,
			       .memory_bytes = 8,
			       .main = { 10, 11, 12 },
			       .cell = "/c",
			       .mark = "A=b" },
		     back;
	char text[ENTRY_TEXT];
	(void)state;

	entry_format(&entry, text);
	assert_int_equal(entry_parse(text, &back), 0);
	assert_memory_equal(&entry, &back, sizeof entry);
}

static void an_entry_keeps_its_lines_whatever_a_name_holds(void **state)
{
	struct entry entry = { .gen = 1, .id = jobid_of(1), .name = "a\nend\nstate free\x1b[2J" }, back;
	char text[ENTRY_TEXT];
	(void)state;

	entry.state = ENTRY_RUNNING;
	entry_format(&entry, text);
	assert_int_equal(entry_parse(text, &back), 0);
	assert_int_equal(back.state, ENTRY_RUNNING);
	assert_string_equal(back.name, "a?end?state free?[2J");
}

static void a_long_entry_lies_whole_in_its_file(void **state)
{
	struct entry entry = { .gen = 7, .state = ENTRY_RUNNING, .id = jobid_of(1) }, back;
	struct err err = ERR_NONE;
	FILE *file = tmpfile();
	(void)state;

	memset(entry.name, 'n', sizeof entry.name - 1);
	memset(entry.command, 'c', sizeof entry.command - 1);
	memset(entry.workdir, 'w', sizeof entry.workdir - 1);
	memset(entry.cell, '/', sizeof entry.cell - 1);
	assert_non_null(file);
	for (size_t length = sizeof entry.workdir - 1; length > 0; length--) {
		entry.workdir[length] = '\0';
		assert_int_equal(entry_write(fileno(file), &entry, &err), 0);
		assert_int_equal(entry_read(fileno(file), &back, &err), 0);
		assert_memory_equal(&entry, &back, sizeof entry);
	}
	/* A shorter one in the same place. */
	entry = (struct entry){ .gen = 8 };
	for (size_t length = 0; length < sizeof entry.command - 2; length++) {
		entry.command[length] = entry.name[length / 2] = entry.cell[length] = 'x';
		assert_int_equal(entry_write(fileno(file), &entry, &err), 0);
		assert_int_equal(entry_read(fileno(file), &back, &err), 0);
		assert_memory_equal(&entry, &back, sizeof entry);
	}
	fclose(file);
}

static void half_an_entry_is_none(void **state)
{
	struct entry back;
	(void)state;

	assert_int_equal(entry_parse("gen 3\nstate running\n", &back), -1);
	assert_int_equal(entry_parse("gen x\nend\n", &back), -1);
	assert_int_equal(entry_parse("state nowhere\nend\n", &back), -1);
	assert_int_equal(entry_parse("owner 0 1 2\nend\n", &back), -1);
	assert_int_equal(entry_parse("later 1\ngen 3\nend\n", &back), 0);
	assert_int_equal(back.gen, 3);
}

static void take(struct line *line, int number, struct seat *seat)
{
	struct seat_view view;
	struct entry entry = { .state = ENTRY_RUNNING, .id = jobid_of(5) };

	assert_int_equal(seat_read(line, number, &view, NULL), 0);
	assert_int_equal(seat_take(line, &view, &entry, seat, NULL), 0);
}

static void a_seat_is_held_as_long_as_its_descriptor(void **state)
{
	struct seat seat;
	struct seat_view view;

	assert_int_equal(seat_read(*state, 0, &view, NULL), 0);
	assert_int_equal(view.entry.state, ENTRY_FREE);
	assert_false(view.held);
	take(*state, 0, &seat);
	assert_int_equal(seat_read(*state, 0, &view, NULL), 0);
	assert_true(view.held);
	assert_true(seat_ours(&seat));
	close(seat.fd);
	assert_int_equal(seat_read(*state, 0, &view, NULL), 0);
	assert_int_equal(view.entry.state, ENTRY_RUNNING);
	assert_false(view.held);
}

static void a_grant_takes_the_seat_from_who_is_locked(void **state)
{
	struct seat seat;
	struct seat_view view;
	struct entry entry = { .id = jobid_of(6) };

	take(*state, 0, &seat);
	assert_int_equal(seat_read(*state, 0, &view, NULL), 0);
	assert_int_equal(seat_grant(*state, &view, &entry, NULL), 0);
	assert_false(seat_ours(&seat));
	assert_int_equal(seat_read(*state, 0, &view, NULL), 0);
	assert_int_equal(view.entry.state, ENTRY_GRANTED);
	assert_false(view.held);
	/* What is no longer ours is not written free. */
	assert_int_equal(seat_free(&seat, NULL), 0);
	assert_int_equal(seat_read(*state, 0, &view, NULL), 0);
	assert_int_equal(view.entry.id, jobid_of(6));
}

static void a_lock_dies_with_its_process(void **state)
{
	struct seat_view view;
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct seat seat;
		struct seat_view mine;
		struct entry entry = { .state = ENTRY_RUNNING };
		if (seat_read(*state, 1, &mine, NULL) < 0 || seat_take(*state, &mine, &entry, &seat, NULL) < 0)
			_exit(1);
		byte = write(ends[1], "x", 1) == 1 ? 0 : 1;
		pause();
		_exit(byte);
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(seat_read(*state, 1, &view, NULL), 0);
	assert_true(view.held);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(seat_read(*state, 1, &view, NULL), 0);
	assert_false(view.held);
	close(ends[0]);
	close(ends[1]);
}

static void put(struct line *line, const char *name, const char *text)
{
	SCOPE_FD int fd = openat(line->boot_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write_all(fd, text, strlen(text)), 0);
}

static void a_damaged_seat_starts_anew_unless_it_is_locked(void **state)
{
	struct seat seat;
	struct seat_view view;

	put(*state, "lane-0", "garbage");
	assert_int_equal(seat_read(*state, 0, &view, NULL), 0);
	assert_int_equal(view.entry.state, ENTRY_FREE);
	take(*state, 0, &seat);
	put(*state, "lane-0", "garbage");
	assert_int_equal(seat_read(*state, 0, &view, NULL), 0);
	assert_true(view.held);
	assert_int_not_equal(view.entry.state, ENTRY_FREE);
	seat_drop(&seat);
}

static void lanes_that_were_lowered_still_count(void **state)
{
	struct line *line = *state;
	struct seat seat;
	struct seat_view *views;
	int lanes;

	take(line, 2, &seat);
	line->conf.lanes = 1;
	put(line, "lane-1", "gen 1\nstate free\nend\n");
	assert_int_equal(seat_read_all(line, &views, &lanes, NULL), 0);
	assert_int_equal(lanes, 3);
	assert_true(views[2].held);
	free(views);
	seat_drop(&seat);
}

static void take_as(struct line *line, int number, pid_t owner, struct seat *seat)
{
	struct entry entry = { .state = ENTRY_RUNNING, .owner = { owner, 1, 1 } };
	struct seat_view view;

	assert_int_equal(seat_read(line, number, &view, NULL), 0);
	assert_int_equal(seat_take(line, &view, &entry, seat, NULL), 0);
}

static void the_line_is_calm_only_where_all_lanes_are_watched(void **state)
{
	struct line *line = *state;
	struct seat one = SEAT_NONE, two = SEAT_NONE, standby = SEAT_NONE;

	assert_false(settle_calm(line));
	take_as(line, 0, 7, &one);
	take_as(line, SEAT_STANDBY, 8, &standby);
	assert_false(settle_calm(line)); /* a lane is free */
	take_as(line, 1, 8, &two);
	assert_true(settle_calm(line));
	seat_drop(&one);
	assert_false(settle_calm(line)); /* a supervisor died */
	take_as(line, 0, 8, &one);
	assert_false(settle_calm(line)); /* the standby is every supervisor */
	seat_drop(&one);
	take_as(line, 0, 7, &one);
	assert_true(settle_calm(line));
	seat_drop(&standby);
	assert_false(settle_calm(line)); /* nobody watches */
	seat_drop(&one);
	seat_drop(&two);
}

static void a_ticket_says_who_waits(void **state)
{
	struct ticket ticket;
	struct entry entry = { .id = jobid_of(77), .class_name = "test", .session = "me.2" }, back;
	struct ticket_name name;

	assert_int_equal(ticket_make(*state, &entry, TICKET_PLAIN, &ticket, NULL), 0);
	assert_string_equal(ticket.file, "77:test:me.2");
	assert_true(ticket_read(*state, ticket.file, &back));
	assert_int_equal(back.state, ENTRY_WAITING);
	assert_int_equal(ticket_flag(*state, ticket.file, TICKET_PASSED, NULL), 0);
	assert_string_equal(ticket.file, "77:test:me.2:passed");
	assert_int_equal(ticket_name_parse(ticket.file, &name), 0);
	assert_int_equal(name.flag, TICKET_PASSED);
	close(ticket.fd);
	assert_false(ticket_read(*state, ticket.file, NULL));
}

static void a_ticket_s_name_says_what_its_job_reserves(void **state)
{
	struct ticket ticket;
	struct entry entry = {
		.id = jobid_of(78), .class_name = "test", .session = "me", .reserved_bytes = UINT64_C(700) << 20
	};
	struct ticket_name name;
	struct candidate candidate;

	assert_int_equal(ticket_make(*state, &entry, TICKET_PASSED, &ticket, NULL), 0);
	assert_string_equal(ticket.file, "78:test:me:m700M:passed");
	assert_int_equal(ticket_name_parse(ticket.file, &name), 0);
	candidate_of_ticket(&name, ticket.file, &candidate);
	assert_int_equal(candidate.reserved_bytes, UINT64_C(700) << 20);
	assert_true(candidate.barred);
	ticket_remove(*state, &ticket);
}

/* An empty folder is not looked through again until it changes; one that changed just now may do so unseen. */
static void a_folder_that_was_empty_is_asked_once(void **state)
{
	struct line *line = *state;
	const struct timespec long_ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct names_empty empty = { 0 };

	assert_int_equal(futimens(line->tickets_fd, long_ago), 0);
	assert_false(names_still_empty(line->tickets_fd, &empty));
	assert_false(names_still_empty(line->tickets_fd, &empty));
	names_seen_empty(&empty);
	assert_true(names_still_empty(line->tickets_fd, &empty));
	SCOPE_FD int fd = openat(line->tickets_fd, "x", O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_false(names_still_empty(line->tickets_fd, &empty));
	assert_int_equal(unlinkat(line->tickets_fd, "x", 0), 0);
	assert_false(names_still_empty(line->tickets_fd, &empty));
	names_seen_empty(&empty);
	assert_false(names_still_empty(line->tickets_fd, &empty));
}

static void strange_names_are_no_tickets(void **state)
{
	static const char *const strange[] = { "",
					       ".",
					       "x",
					       "0:test:me",
					       "1:test",
					       "1:te st:me",
					       "1:test:me:gone",
					       "1:test:me:m",
					       "1:test:me:m5Q",
					       "-1:test:me",
					       "1:test:me:" };
	struct ticket_name name;
	(void)state;

	for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++)
		assert_int_equal(ticket_name_parse(strange[i], &name), -1);
}

static uint64_t take_id(struct line *line)
{
	uint64_t id;

	for (;;) {
		assert_int_equal(line_reserve(line, 1, NULL), 0);
		assert_int_equal(line_lock(line, NULL), 0);
		int taken = line_take_ids(line, 1, &id, NULL);
		line_unlock(line);
		assert_true(taken >= 0);
		if (taken == 0)
			return jobid_number(id);
	}
}

static void ids_go_up_and_skip_to_the_next_block_after_a_boot(void **state)
{
	struct line *line = *state;

	for (uint64_t id = 1; id <= 250; id++)
		assert_int_equal(take_id(line), id);
	assert_true(line_id_known(line, jobid_of(250)));
	assert_false(line_id_known(line, jobid_of(251)));
	assert_int_equal(unlinkat(line->boot_fd, "next", 0), 0);
	assert_int_equal(take_id(line), 301);
	/* A counter that was lost half way is no reason to give an id out twice. */
	put(line, "next", "garbage");
	assert_int_equal(take_id(line), 401);
}

static void who_was_served_is_remembered(void **state)
{
	struct line *line = *state;
	struct served served;

	for (int i = 0; i < 3; i++) {
		served_read(line, &served);
		assert_int_equal(served_touch(line, &served, i == 1 ? "b" : "a", NULL), 0);
		served_free(&served);
	}
	served_read(line, &served);
	assert_int_equal(served_of(&served, "a"), 3);
	assert_int_equal(served_of(&served, "b"), 2);
	assert_int_equal(served_of(&served, "c"), 0);
	assert_int_equal(served.last, 3);
	served_free(&served);
}

static void served_forgets_the_oldest_session_when_it_is_full(void **state)
{
	struct line *line = *state;
	struct served served;
	char session[32];

	for (int i = 0; i < 1030; i++) {
		served_read(line, &served);
		snprintf(session, sizeof session, "s%d", i);
		assert_int_equal(served_touch(line, &served, session, NULL), 0);
		served_free(&served);
	}
	served_read(line, &served);
	assert_int_equal(served_of(&served, "s1029"), 1030);
	assert_int_equal(served_of(&served, "s0"), 0);
	assert_true(served.size <= 86 * 1024);
	served_free(&served);
}

#define ON_A_QUEUE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* What poll(2) said of a descriptor may be of another one that had its number before. */
static void who_lives_is_not_gone_by_a_stale_poll(void **state)
{
	struct member *member = malloc(sizeof *member);
	struct pollfd polls[MEMBER_POLL] = { 0 };
	siginfo_t info;

	assert_non_null(member);
	member_open(member, *state, MEMBER_GUEST);
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	member->watched = calloc(MEMBER_WATCHED, sizeof *member->watched);
	assert_non_null(member->watched);
	member->watched[0] = (struct watched){ .id = { .pid = child }, .pidfd = pidfd_open(child, 0) };
	member->watched_count = 1;
	polls[0] = (struct pollfd){ .fd = member->watched[0].pidfd, .events = POLLIN, .revents = POLLIN };
	assert_int_equal(member_poll_done(member, polls, 1), 0);
	assert_int_equal(member->watched_count, 1);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED), 0);
	assert_int_equal(member_poll_done(member, polls, 1), 1);
	assert_int_equal(member->watched_count, 0);
	member_close(member);
	free(member);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_entry_reads_back),
		cmocka_unit_test(an_entry_keeps_its_lines_whatever_a_name_holds),
		cmocka_unit_test(a_long_entry_lies_whole_in_its_file),
		cmocka_unit_test(half_an_entry_is_none),
		ON_A_QUEUE(a_seat_is_held_as_long_as_its_descriptor),
		ON_A_QUEUE(a_grant_takes_the_seat_from_who_is_locked),
		ON_A_QUEUE(a_lock_dies_with_its_process),
		ON_A_QUEUE(a_damaged_seat_starts_anew_unless_it_is_locked),
		ON_A_QUEUE(lanes_that_were_lowered_still_count),
		ON_A_QUEUE(the_line_is_calm_only_where_all_lanes_are_watched),
		ON_A_QUEUE(a_ticket_says_who_waits),
		ON_A_QUEUE(a_ticket_s_name_says_what_its_job_reserves),
		ON_A_QUEUE(a_folder_that_was_empty_is_asked_once),
		cmocka_unit_test(strange_names_are_no_tickets),
		cmocka_unit_test(who_lives_is_not_gone_by_a_stale_poll),
		ON_A_QUEUE(ids_go_up_and_skip_to_the_next_block_after_a_boot),
		ON_A_QUEUE(who_was_served_is_remembered),
		ON_A_QUEUE(served_forgets_the_oldest_session_when_it_is_full),
	};

	return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
