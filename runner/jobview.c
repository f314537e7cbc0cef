/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobview.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/json.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/arrayview.h"
#include "runner/line/ticket.h"
#include "submit/spooltasks.h"

void jobview_free(struct jobview *view)
{
	free(view->name);
	free(view->command);
	free(view->workdir);
	free(view->output);
	free(view->error);
	free(view->after);
	free(view->array);
	view->after = view->array = NULL;
	free(view->pattern);
	view->name = view->command = view->workdir = view->output = view->error = view->pattern = NULL;
}

static void start_view(struct jobview *view, uint64_t id, const char *class_name, const char *session)
{
	*view = (struct jobview){
		.id = id,
		.task_count = -1,
		.waited_ns = -1,
		.outlook = OUTLOOK_NONE,
		.ran_ns = -1,
		.frozen_ns = -1,
		.cpu_ns = -1,
		.gpu_ns = -1,
		.peak_memory_bytes = -1,
		.budget_ns = -1,
		.limit_ns = -1,
		.memory_bytes = -1,
		.vram_bytes = -1,
		.lane = -1,
		.exit_code = -1,
	};
	fmt(view->class_name, sizeof view->class_name, "%s", class_name);
	fmt(view->session, sizeof view->session, "%s", session);
}

static int64_t known(int64_t figure)
{
	return figure ? figure : -1;
}

static void tell_settling(const struct entry *entry, char *text, size_t size)
{
	char bytes[TEXT_SIZE];

	text_size_show((uint64_t)entry->settling_bytes, bytes);
	if (entry->settling_pid)
		fmt(text, size, "has ended; process %d of it still has the card open", entry->settling_pid);
	else
		fmt(text, size, "has ended; %s of the card's memory is not free yet", bytes);
}

/* How long the job's present hold has lasted, the time that the machine was suspended aside. */
static int64_t awake_since(const struct entry *entry, int64_t now_boot_ns)
{
	int64_t asleep_ns = now_boot_ns - clock_awake_ns() - entry->asleep_ns;
	int64_t since_ns = now_boot_ns - entry->since_boot_ns;

	/* On file are whole seconds, and nothing before the job has begun. */
	if (entry->main.pid && asleep_ns > NS_PER_S)
		since_ns -= asleep_ns;
	return since_ns > 0 ? since_ns : 0;
}

void jobview_of_entry(const struct entry *entry, int lane, struct jobview *ret_view)
{
	struct jobview *view = ret_view;
	int64_t now = clock_boot_ns();

	start_view(view, entry->id, entry->class_name, entry->session);
	view->state = entry->state == ENTRY_COMPLETING ? VIEW_COMPLETING
		      : entry->state == ENTRY_RUNNING  ? VIEW_RUNNING
		      : entry->state == ENTRY_FROZEN   ? VIEW_FROZEN
						       : VIEW_PENDING;
	view->spooled = entry->kind == ENTRY_SPOOL;
	view->name = entry->name[0] ? strdup(entry->name) : NULL;
	view->command = entry->command[0] ? strdup(entry->command) : NULL;
	view->workdir = entry->workdir[0] ? strdup(entry->workdir) : NULL;
	view->submitted_wall_ns = entry->arrived_wall_ns;
	view->started_wall_ns = entry->started_wall_ns;
	view->waited_ns = view->state == VIEW_PENDING ? clock_wall_ns() - entry->arrived_wall_ns : entry->waited_ns;
	view->frozen_ns = view->state == VIEW_PENDING ? -1 : entry->frozen_ns;
	if (view->state == VIEW_RUNNING || view->state == VIEW_COMPLETING)
		view->ran_ns = entry->ran_ns + awake_since(entry, now);
	if (view->state == VIEW_FROZEN)
		view->ran_ns = entry->ran_ns;
	if (view->state != VIEW_PENDING && entry->main.pid && entry->socket[0])
		progress_read(entry->socket, &view->progress);
	view->budget_ns = known(entry->budget_ns);
	view->limit_ns = known(entry->limit_ns);
	view->memory_bytes = known((int64_t)entry->memory_bytes);
	view->vram_bytes = known((int64_t)entry->vram_bytes);
	memcpy(view->card, entry->card, sizeof view->card);
	view->lane = lane;
	view->pid = entry->main.pid;
	view->gpu_ns = entry->looked_boot_ns ? entry->gpu_ns : -1;
	view->restarts = entry->restarts;
	fmt(view->cell, sizeof view->cell, "%s", entry->cell);
	if (entry->stuck)
		fmt(view->sentence, sizeof view->sentence, "blocked by unkillable pid %d", entry->stuck);
	else if (entry->settling_pid || entry->settling_bytes)
		tell_settling(entry, view->sentence, sizeof view->sentence);
}

static char *expand(const char *pattern, const struct jobview *view)
{
	char path[PATH_MAX];
	struct err ignored = ERR_NONE;

	if (!pattern || !view->name ||
	    job_output_path(pattern, view->id, view->output_restart, view->name, path, sizeof path, &ignored) < 0)
		return NULL;
	return strdup(path);
}

static char *after_text(const struct after_list *after)
{
	struct buf text = BUF_EMPTY;

	after_put_all(after, &text);
	return text.text;
}

static char *array_text(const struct array *array)
{
	struct buf text = BUF_EMPTY;

	array_put(array, &text);
	return text.text;
}

/* The tasks that it speaks for. Read without the lock, it may be a moment old. */
static void count_tasks(struct queue *queue, const struct spool_name *name, struct jobview *view)
{
	SCOPE_TASKS struct tasks tasks = TASKS_NONE;
	struct err ignored = ERR_NONE;

	if (tasks_open(&queue->spool, name->id, &tasks, &ignored) < 0)
		return;
	array_show(&tasks.array, tasks.states, view->tasks, sizeof view->tasks);
	view->task_count = tasks_waiting(&tasks);
}

int jobview_of_record(struct queue *queue, enum spool_state state, const struct spool_name *name, const char *file,
		      struct jobview *ret_view, struct err *err)
{
	SCOPE_JOB struct job job = JOB_EMPTY;
	SCOPE_BUF struct buf command = BUF_EMPTY;
	struct job_facts facts = { 0 };
	struct jobview *view = ret_view;

	if (spool_read(&queue->spool, state, file, &job, &facts, err) < 0)
		return -1;
	start_view(view, name->id, name->class_name, name->session);
	job_command_line(&job, &command);
	view->state = state == SPOOL_ENDED ? VIEW_ENDED : state == SPOOL_RUNNING ? VIEW_RUNNING : VIEW_PENDING;
	view->spooled = true;
	view->outcome = name->outcome;
	view->name = strdup(job.name);
	view->command = command.text ? strdup(command.text) : NULL;
	view->workdir = strdup(job.workdir);
	/* Of a job that waits the next start's, else the last one's; a standing job's name counts each when it begins.
	 */
	view->output_restart = name->standing && name->restarts ? name->restarts - 1 : name->restarts;
	view->truncate = job.truncate;
	view->output = expand(job.output, view);
	view->error = expand(job.error, view);
	view->pattern = TAKE(job.output);
	view->submitted_wall_ns = facts.submitted_wall_ns;
	if (state == SPOOL_PENDING)
		view->waited_ns = clock_wall_ns() - facts.submitted_wall_ns;
	view->budget_ns = known(job.budget_ns);
	view->limit_ns = known(job.limit_ns);
	view->memory_bytes = known((int64_t)job.memory_bytes);
	view->vram_bytes = known((int64_t)job.vram_bytes);
	memcpy(view->card, job.card, sizeof view->card);
	view->standing = job.standing;
	view->begin_wall_ns = job.begin_wall_ns;
	view->after = after_text(&job.after);
	view->array = array_text(&job.array);
	if (name->array)
		count_tasks(queue, name, view);
	view->restarts = name->restarts;
	view->nice = name->nice;
	view->retries = job.retries;
	view->attempts = name->tries + (state != SPOOL_PENDING);
	if (name->held || ((name->tries || name->begin_s) && state == SPOOL_PENDING))
		spool_reason_read(&queue->spool, name->id, view->sentence, sizeof view->sentence);
	if (state == SPOOL_ENDED) {
		view->exit_code = name->code;
		spool_moved(&queue->spool, state, file, &view->ended_wall_ns);
		spool_reason_read(&queue->spool, name->id, view->sentence, sizeof view->sentence);
	}
	job_facts_free(&facts);
	return 0;
}

static void tell_retry(const struct jobview *view, const struct candidate *one, char sentence[128])
{
	char when[CLOCK_TEXT];

	clock_wall_format(one->begin_s * NS_PER_S, when);
	fmt(sentence, 128, "attempt %d of %d not before %s", view->attempts + 1, view->retries + 1, when);
}

static void tell_after(const char *text, char sentence[128])
{
	SCOPE_BUF struct buf told = BUF_EMPTY;
	struct after_list after = { 0 };

	if (after_parse(text, &after, NULL) == 0)
		after_tell(&after, &told);
	after_free(&after);
	fmt(sentence, 128, "waits for %s", told.text ? told.text : text);
}

void jobview_explain(struct jobview *view, const struct snapshot *snapshot, const struct conf *conf, size_t index)
{
	char known[sizeof view->sentence / 2], sentence[128];
	const char *reason = snapshot_reason(snapshot, conf, index, sentence);

	fmt(known, sizeof known, "%s", view->sentence);
	if (snapshot->waiting.list[index].gate == WAITS_RETRY)
		tell_retry(view, &snapshot->waiting.list[index], sentence);
	if (snapshot->waiting.list[index].gate == WAITS_AFTER && view->after)
		tell_after(view->after, sentence);
	fmt(view->reason, sizeof view->reason, "%s", reason);
	fmt(view->sentence, sizeof view->sentence, "%s%s%s", known, known[0] ? "; " : "", sentence);
}

void jobview_foresee(struct jobview *view, struct forecast *forecast)
{
	struct forecast_job job = {
		.class_name = view->class_name,
		.session = view->session,
		.name = view->name ? view->name : "",
		.ran_ns = view->ran_ns > 0 ? view->ran_ns : 0,
		.budget_ns = view->budget_ns,
		.limit_ns = view->limit_ns,
		.left_ns = progress_left_ns(&view->progress, view->ran_ns),
		.several = view->task_count > 1,
	};

	if (view->standing)
		return;
	if (view->state == VIEW_RUNNING || view->state == VIEW_COMPLETING)
		forecast_runs(forecast, &job, &view->outlook);
	else if (strcmp(view->reason, waits_for_names[WAITS_LANE]) == 0)
		forecast_waits(forecast, &job, &view->outlook);
}

static void tell_end(const struct jobview *view, char text[JOBVIEW_OUTLOOK])
{
	char ends[TEXT_DURATION], most[TEXT_DURATION];
	int64_t most_ns = view->limit_ns - view->ran_ns;

	text_duration_format(view->outlook.ends_in_ns, ends);
	if (most_ns > 0)
		text_duration_format(estimate_round(most_ns), most);
	if (view->outlook.by == FORECAST_BUDGET && view->ran_ns >= view->budget_ns)
		fmt(text, JOBVIEW_OUTLOOK, "past its budget; ends in at most %s, by its limit", ends);
	else if (view->outlook.by == FORECAST_BUDGET)
		fmt(text, JOBVIEW_OUTLOOK, "ends in about %s if it takes its budget", ends);
	else
		fmt(text, JOBVIEW_OUTLOOK, "ends in about %s, as like jobs took%s%s%s", ends,
		    most_ns > 0 ? "; in at most " : "", most_ns > 0 ? most : "", most_ns > 0 ? ", by its limit" : "");
}

void jobview_outlook(const struct jobview *view, char text[JOBVIEW_OUTLOOK])
{
	char starts[TEXT_DURATION];

	text[0] = '\0';
	if (view->outlook.starts_in_ns >= 0) {
		text_duration_format(view->outlook.starts_in_ns, starts);
		fmt(text, JOBVIEW_OUTLOOK, "starts in about %s%s", starts,
		    view->outlook.starts_by == FORECAST_BUDGET ? " if each takes its budget"
		    : view->outlook.starts_by == FORECAST_LIKE ? ", as like jobs took"
							       : ", by what runs");
	} else if (view->outlook.ends_in_ns >= 0 && view->state == VIEW_RUNNING &&
		   view->outlook.by != FORECAST_PROGRESS) {
		/* What it says itself is said already. */
		tell_end(view, text);
	}
}

void jobview_add_row(struct jobview *view, const struct history_row *row)
{
	int64_t away = (row->ran_ns > 0 ? row->ran_ns : 0) + (row->frozen_ns > 0 ? row->frozen_ns : 0);

	view->ended_wall_ns = row->ended_wall_ns;
	view->started_wall_ns = row->ran_ns < 0 ? 0 : row->ended_wall_ns - away;
	/* The log's times are whole seconds. */
	if (view->started_wall_ns && view->started_wall_ns < view->submitted_wall_ns)
		view->started_wall_ns = view->submitted_wall_ns;
	view->waited_ns = row->waited_ns;
	view->ran_ns = row->ran_ns;
	view->frozen_ns = row->frozen_ns;
	view->cpu_ns = row->cpu_ns;
	view->gpu_ns = row->gpu_ns;
	view->peak_memory_bytes = row->peak_memory_bytes;
}

int jobview_of_row(const struct history_row *row, struct jobview *ret_view)
{
	start_view(ret_view, row->id, row->class_name, row->session);
	ret_view->state = VIEW_ENDED;
	ret_view->spooled = row->spooled;
	ret_view->outcome = row->outcome;
	ret_view->exit_code = row->exit_code;
	ret_view->name = strdup(row->name);
	ret_view->command = strdup(row->command);
	jobview_add_row(ret_view, row);
	return ret_view->name && ret_view->command ? 0 : -1;
}

struct search {
	struct line *line;
	uint64_t id;
	struct entry *entry;
};

static int match_ticket(const struct ticket_name *name, const char *file, void *context)
{
	struct search *search = context;

	return name->id == search->id && ticket_read(search->line, file, search->entry) ? name->flag + 1 : 0;
}

/* A standing job that runs: 1 and the entry, else 0. */
static int find_service(struct queue *queue, uint64_t id, struct entry *entry, struct err *err)
{
	struct seat_view seat;

	if (seat_read(&queue->line, SEAT_STANDING, &seat, err) < 0)
		return -1;
	*entry = seat.entry;
	return seat.entry.id == id && (seat.entry.state == ENTRY_RUNNING || seat.entry.state == ENTRY_COMPLETING);
}

/* What stands in a lane or in line under this id: 1 and the entry, else 0. */
static int find_live(struct queue *queue, uint64_t id, struct entry *entry, int *lane, struct err *err)
{
	struct search search = { &queue->line, id, entry };
	struct seat_view seat;

	for (*lane = 0; *lane < CONF_LANES; ++*lane) {
		if (seat_read(&queue->line, *lane, &seat, err) < 0)
			return -1;
		if (seat.entry.gen == 0 && *lane >= queue->line.conf.lanes)
			break;
		if (seat.entry.id == id &&
		    (seat.entry.state == ENTRY_RUNNING || seat.entry.state == ENTRY_COMPLETING)) {
			*entry = seat.entry;
			return 1;
		}
	}
	*lane = -1;
	int found = ticket_each(&queue->line, match_ticket, &search, err);
	return found < 0 ? -1 : found > 0;
}

/* A spooled job that runs: its record says what was asked for, its lane how it goes. */
static void merge_live(struct jobview *view, const struct entry *entry, int lane)
{
	struct jobview live;

	jobview_of_entry(entry, lane, &live);
	view->state = live.state;
	view->started_wall_ns = live.started_wall_ns;
	view->waited_ns = live.waited_ns;
	view->ran_ns = live.ran_ns;
	view->frozen_ns = live.frozen_ns;
	view->progress = live.progress;
	view->lane = lane;
	view->pid = live.pid;
	if (live.card[0])
		memcpy(view->card, live.card, sizeof view->card);
	/* The name of a standing job that runs counts this start as well. */
	view->restarts = live.restarts;
	view->gpu_ns = live.gpu_ns;
	memcpy(view->cell, live.cell, sizeof view->cell);
	memcpy(view->sentence, live.sentence, sizeof view->sentence);
	jobview_free(&live);
}

/* 1: it is an array, or one that was, and the view is of all its tasks; else 0. */
static int find_array(struct queue *queue, uint64_t id, struct jobview *view, struct err *err)
{
	SCOPE_ARRAYVIEW struct arrayview array = { 0 };

	if (jobid_task(id) >= 0)
		return 0;
	if (arrayview_take(&queue->spool, id, &array, err) < 0)
		return -1;
	if (!array.is_array)
		return 0;
	array.name.id = id;
	if (jobview_of_record(queue, array.state, &array.name, array.file, view, err) < 0)
		return -1;
	view->state = array.running ? VIEW_RUNNING : array.pending ? VIEW_PENDING : VIEW_ENDED;
	view->outcome = array.outcome;
	view->exit_code = view->state == VIEW_ENDED ? array.exit_code : -1;
	view->ended_wall_ns = view->state == VIEW_ENDED ? array.ended_wall_ns : 0;
	/* Each task has its own. */
	free(view->output);
	free(view->error);
	view->output = view->error = NULL;
	view->tasks[0] = '\0';
	view->tasks_pending = array.pending;
	view->tasks_running = array.running;
	memcpy(view->tasks_ended, array.ended, sizeof view->tasks_ended);
	view->whole = true;
	return 1;
}

/* 1: a task for which its array's record speaks. */
static int find_task(struct queue *queue, uint64_t id, struct jobview *view, struct err *err)
{
	struct spool_name name;
	char file[256];
	int found = tasks_find(&queue->spool, id, &name, file, err);
	enum spool_state state = SPOOL_PENDING;

	if (found == 0 && jobid_task(id) >= 0) {
		found = spool_find_in(&queue->spool, SPOOL_ENDED, jobid_array(id), &name, file, err);
		found = found == 1 ? name.array : found;
		state = SPOOL_ENDED;
	}
	if (found <= 0)
		return found;
	name.id = id;
	name.array = false;
	if (jobview_of_record(queue, state, &name, file, view, err) < 0)
		return -1;
	struct array array;
	if (view->array && array_parse(view->array, &array, NULL) == 0 && array_position(&array, jobid_task(id)) >= 0)
		return 1;
	jobview_free(view);
	start_view(view, id, "", "");
	return 0;
}

static int find_once(struct queue *queue, uint64_t id, struct jobview *ret_view, struct err *err)
{
	struct entry entry;
	struct spool_name name;
	enum spool_state state;
	char file[256];
	int lane;
	SCOPE_FREE struct history_row *row = malloc(sizeof *row);

	start_view(ret_view, id, "", "");
	if (!row)
		return err_sys(err, "cannot look job %s up", JOBID(id));
	int live = find_live(queue, id, &entry, &lane, err);
	int spooled = live < 0 ? -1 : spool_find(&queue->spool, id, &state, &name, file, err);
	if (live < 0 || spooled < 0)
		return -1;
	if (!live && (!spooled || name.array)) {
		int found = spooled ? 0 : find_task(queue, id, ret_view, err);
		found = found == 0 ? find_array(queue, id, ret_view, err) : found;
		if (found != 0)
			return found < 0 ? -1 : 0;
	}
	if (live && !spooled) {
		jobview_of_entry(&entry, lane, ret_view);
		return 0;
	}
	if (spooled && jobview_of_record(queue, state, &name, file, ret_view, err) < 0)
		return -1;
	if (spooled && name.standing && (live = find_service(queue, id, &entry, err)) < 0)
		return -1;
	if (spooled && state != SPOOL_ENDED) {
		if (live)
			merge_live(ret_view, &entry, lane);
		return 0;
	}
	int found = history_find(queue->line.queue_fd, id, row, err);
	if (found < 0)
		return -1;
	if (found && spooled)
		jobview_add_row(ret_view, row);
	/* The log goes further back than the spool: a job whose record was removed is gone. */
	if (found && !spooled && row->spooled) {
		ret_view->state = VIEW_GONE;
		ret_view->spooled = true;
		return 0;
	}
	if (found && !spooled)
		return jobview_of_row(row, ret_view) < 0 ? err_sys(err, "cannot look job %s up", JOBID(id)) : 0;
	if (!found && !spooled && line_id_known(&queue->line, id))
		ret_view->state = VIEW_GONE;
	return 0;
}

int jobview_find(struct queue *queue, uint64_t id, struct jobview *ret_view, struct err *err)
{
	enum { TRIES = 10 }; /* it can go from pending to running to ended, and back some times */
	struct err why = ERR_NONE;
	int found = -1;

	/* A record that is not where it was a moment ago has moved on. */
	for (int tries = 0; found < 0 && tries < TRIES; tries++) {
		why = ERR_NONE;
		found = find_once(queue, id, ret_view, &why);
		if (found < 0 && why.errnum != ENOENT)
			break;
	}
	return found < 0 ? err_pass(err, &why) : found;
}

void jobview_id(const struct jobview *view, char text[96])
{
	fmt(text, 96, "%s%s%s", JOBID(view->id), view->tasks[0] ? "_" : "", view->tasks);
}

const char *jobview_state(const struct jobview *view)
{
	static const char *const names[] = {
		[VIEW_UNKNOWN] = "unknown", [VIEW_PENDING] = "pending",	      [VIEW_RUNNING] = "running",
		[VIEW_FROZEN] = "frozen",   [VIEW_COMPLETING] = "completing", [VIEW_ENDED] = "ended",
		[VIEW_GONE] = "gone",
	};

	return view->state == VIEW_ENDED ? outcome_names[view->outcome] : names[view->state];
}

const char *jobview_letters(const struct jobview *view)
{
	static const char *const letters[] = {
		[VIEW_UNKNOWN] = "?",	  [VIEW_PENDING] = "PD", [VIEW_RUNNING] = "R", [VIEW_FROZEN] = "S",
		[VIEW_COMPLETING] = "CG", [VIEW_ENDED] = "",	 [VIEW_GONE] = "?",
	};

	return view->state == VIEW_ENDED ? outcome_letters[view->outcome] : letters[view->state];
}

/* Those counts that are not 0. */
static void put_tasks(const struct jobview *view, struct buf *out)
{
	buf_printf(out, ",\"tasks\":{\"pending\":%ld,\"running\":%ld", view->tasks_pending, view->tasks_running);
	for (int outcome = 0; outcome < OUTCOMES; outcome++) {
		if (view->tasks_ended[outcome])
			buf_printf(out, ",\"%s\":%ld", outcome_names[outcome], view->tasks_ended[outcome]);
	}
	buf_puts(out, "}");
}

/* The sentence of what waits, or of a standing job. */
static void put_why(const struct jobview *view, struct buf *out)
{
	char text[sizeof view->sentence + JOBVIEW_OUTLOOK], outlook[JOBVIEW_OUTLOOK];

	jobview_outlook(view, outlook);
	fmt(text, sizeof text, "%s%s%s", view->sentence, outlook[0] ? "; " : "", outlook);
	json_text(out, "why", (view->standing || view->reason[0]) && view->sentence[0] ? text : NULL);
}

void jobview_json(const struct jobview *view, bool full, struct buf *out)
{
	static const char *const estimated_by[] = {
		[FORECAST_PROGRESS] = "progress", [FORECAST_LIKE] = "history", [FORECAST_BUDGET] = "budget"
	};
	char id[96];

	jobview_id(view, id);
	buf_printf(out, "{\"id\":\"%s\"", id);
	json_text(out, "state", jobview_state(view));
	json_text(out, "reason", view->reason[0] ? view->reason : view->sentence[0] ? view->sentence : NULL);
	json_text(out, "class", view->class_name);
	json_text(out, "session", view->session);
	json_text(out, "name", view->name);
	json_text(out, "command", view->command);
	json_text(out, "kind", view->spooled ? "spool" : "run");
	json_time(out, "submitted", view->submitted_wall_ns);
	json_time(out, "started", view->started_wall_ns);
	json_time(out, "ended", view->ended_wall_ns);
	json_seconds(out, "waited_s", view->waited_ns);
	json_seconds(out, "ran_s", view->ran_ns);
	json_seconds(out, "frozen_s", view->frozen_ns);
	progress_json(&view->progress, view->ran_ns, out);
	json_seconds(out, "budget_s", view->budget_ns);
	json_count(out, "memory_bytes", view->memory_bytes);
	json_count(out, "vram_bytes", view->vram_bytes);
	json_text(out, "card", view->card[0] ? view->card : NULL);
	json_count(out, "lane", view->lane);
	json_count(out, "pid", view->pid > 0 ? view->pid : -1);
	json_count(out, "exit_code", view->exit_code);
	json_count(out, "restarts", view->restarts);
	json_text(out, "workdir", view->workdir);
	json_text(out, "output", view->output);
	buf_printf(out, ",\"standing\":%s", view->standing ? "true" : "false");
	put_why(view, out);
	json_time(out, "begin", view->begin_wall_ns);
	json_text(out, "after", view->after);
	json_text(out, "array", view->array);
	json_seconds(out, "starts_in_s", view->outlook.starts_in_ns);
	json_seconds(out, "ends_in_s", view->outlook.ends_in_ns);
	json_text(out, "estimated_by", estimated_by[view->outlook.by]);
	if (full && view->whole)
		put_tasks(view, out);
	if (full) {
		json_seconds(out, "limit_s", view->limit_ns);
		buf_printf(out, ",\"nice\":%d,\"retries\":%d,\"attempts\":%d", view->nice, view->retries,
			   view->attempts);
		json_count(out, "peak_memory_bytes", view->peak_memory_bytes);
		json_seconds(out, "cpu_s", view->cpu_ns);
		json_seconds(out, "gpu_s", view->gpu_ns);
		json_text(out, "cell", view->cell[0] ? view->cell : NULL);
	}
	buf_puts(out, "}");
}

void jobview_json_sample(struct buf *out)
{
	struct jobview view;

	start_view(&view, 1, "", "");
	view.progress.total = 1;
	view.whole = true;
	for (int outcome = 0; outcome < OUTCOMES; outcome++)
		view.tasks_ended[outcome] = outcome != OUTCOME_NONE && outcome != OUTCOME_TURN;
	jobview_json(&view, true, out);
}
