/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of job files share: a file by its text, and the exact words of its refusal. */
#ifndef PGPU_TESTS_UNIT_JOB_TEST_H
#define PGPU_TESTS_UNIT_JOB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "submit/job.h"

/* The bytes end exactly where the text does, so that the sanitizer sees a read beyond them. */
static inline int parse_bytes(const char *text, size_t size, struct job *job, struct err *err)
{
	char *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, text, size);
	int result = job_parse("f.yaml", copy, size, job, NULL, err);
	free(copy);
	return result;
}

static inline void parses_bytes(const char *text, size_t size, struct job *job)
{
	struct err err = ERR_NONE;

	*job = JOB_EMPTY;
	if (parse_bytes(text, size, job, &err) < 0)
		fail_msg("refused: %s\n%s", err.text, text);
}

static inline void parses(const char *text, struct job *job)
{
	parses_bytes(text, strlen(text), job);
}

static inline void refuses_bytes(const char *text, size_t size, const char *wanted)
{
	struct job job = JOB_EMPTY;
	struct err err = ERR_NONE;

	if (parse_bytes(text, size, &job, &err) == 0)
		fail_msg("accepted, but should be \"%s\":\n%s", wanted, text);
	assert_string_equal(err.text, wanted);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_null(job.file_name);
}

static inline void refuses(const char *text, const char *wanted)
{
	refuses_bytes(text, strlen(text), wanted);
}

/* A header in the `---` spelling with a script behind it. */
static inline void refuses_header(const char *header, const char *wanted)
{
	char *text;

	assert_true(asprintf(&text, "---\n%s\n---\n#!/bin/sh\n", header) > 0);
	refuses(text, wanted);
	free(text);
}

static inline void parses_header(const char *header, struct job *job)
{
	char *text;

	assert_true(asprintf(&text, "---\n%s\n---\n#!/bin/sh\n", header) > 0);
	parses(text, job);
	free(text);
}

static inline void same_words(char *const *a, char *const *b)
{
	size_t i = 0;

	if (!a || !b) {
		assert_true((!a || !a[0]) && (!b || !b[0]));
		return;
	}
	for (; a[i] && b[i]; i++)
		assert_string_equal(a[i], b[i]);
	assert_true(!a[i] && !b[i]);
}

static inline void same_text(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (a)
		assert_string_equal(a, b);
}

static inline void same_job(const struct job *a, const struct job *b)
{
	same_text(a->name, b->name);
	same_text(a->class_name, b->class_name);
	same_text(a->session, b->session);
	assert_true(a->budget_ns == b->budget_ns && a->limit_ns == b->limit_ns);
	assert_true(a->memory_bytes == b->memory_bytes);
	assert_int_equal(a->nice, b->nice);
	assert_true(a->min_run_ns == b->min_run_ns);
	same_text(a->workdir, b->workdir);
	same_text(a->output, b->output);
	same_text(a->error, b->error);
	assert_int_equal(a->truncate, b->truncate);
	same_words(a->env, b->env);
	assert_int_equal(a->export, b->export);
	same_words(a->export_names, b->export_names);
	assert_int_equal(a->requeue, b->requeue);
	assert_int_equal(a->standing, b->standing);
	assert_int_equal(a->slurm_env, b->slurm_env);
	same_text(a->dedupe, b->dedupe);
	assert_true(!a->on_end == !b->on_end);
	same_words(a->on_end, b->on_end);
	assert_int_equal(a->body, b->body);
	assert_int_equal(a->script_size, b->script_size);
	if (a->script_size)
		assert_memory_equal(a->script, b->script, a->script_size);
	same_words(a->argv, b->argv);
}

#endif
