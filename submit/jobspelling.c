/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobspelling.h"

#include <stdlib.h>
#include <string.h>

#include "jobplace.h"
#include "jobset.h"

struct line {
	const char *text;
	size_t length;	  /* without its newline */
	unsigned number;  /* 0: before the first */
	const char *next; /* the next line's text */
};

static bool next_line(struct line *line, const char *end)
{
	if (line->next >= end)
		return false;
	const char *newline = memchr(line->next, '\n', (size_t)(end - line->next));
	line->text = line->next;
	line->length = (size_t)((newline ? newline : end) - line->text);
	line->next = newline ? newline + 1 : end;
	line->number++;
	return true;
}

static bool begins(const struct line *line, const char *start)
{
	size_t length = strlen(start);

	return line->length >= length && memcmp(line->text, start, length) == 0;
}

static bool blank_from(const struct line *line, size_t i)
{
	while (i < line->length && (line->text[i] == ' ' || line->text[i] == '\t'))
		i++;
	return i == line->length;
}

static bool is_fence(const struct line *line)
{
	return begins(line, "---") && blank_from(line, 3);
}

static bool is_pgpu(const struct line *line)
{
	return begins(line, "#PGPU ") || begins(line, "#PGPU\t");
}

static bool is_end(const struct line *line)
{
	return is_pgpu(line) && begins(line, "#PGPU end") && blank_from(line, strlen("#PGPU end"));
}

static bool is_command(const struct line *line)
{
	size_t i = 0;

	while (i < line->length && (line->text[i] == ' ' || line->text[i] == '\t'))
		i++;
	return i < line->length && line->text[i] != '#' && line->text[i] != '\r';
}

void jobspelling_free(struct jobspelling *spelling)
{
	buf_free(&spelling->header);
	free(spelling->lines);
	*spelling = (struct jobspelling){ 0 };
}

static int add_line(struct jobspelling *spelling, const struct line *line, struct err *err)
{
	size_t count = spelling->line_count;

	/* Doubled whenever the count is a power of two. */
	if ((count & (count - 1)) == 0) {
		unsigned *lines = reallocarray(spelling->lines, count ? count * 2 : 1, sizeof *lines);
		if (!lines)
			return jobset_no_memory(err);
		spelling->lines = lines;
	}
	spelling->lines[spelling->line_count++] = line->number;
	if (line->length > JOBSPELLING_INDENT)
		buf_add(&spelling->header, line->text + JOBSPELLING_INDENT, line->length - JOBSPELLING_INDENT);
	buf_puts(&spelling->header, "\n");
	return 0;
}

/* One line among the first comments, while no `#PGPU end` has closed the block. */
static int read_comment(struct jobspelling *spelling, const char *file_name, const struct line *line, struct err *err)
{
	if (is_fence(line))
		return jobplace_refuse(
			file_name, (struct job_place){ line->number, 1 }, err,
			"'---' after '#!': begin the file with '---', or write the header as #PGPU lines");
	if (is_pgpu(line) || (begins(line, "#PGPU") && blank_from(line, strlen("#PGPU"))))
		return add_line(spelling, line, err);
	return 0;
}

static int read_comments(struct jobspelling *spelling, const char *file_name, const char *text, size_t size,
			 struct err *err)
{
	struct line line = { .next = text };
	bool closed = false, command = false;

	spelling->kind = JOBSPELLING_COMMENTS;
	spelling->body = text;
	spelling->body_size = size;
	spelling->body_line = 1;
	while (!(closed && command) && next_line(&line, text + size)) {
		if (command && is_pgpu(&line))
			return jobplace_refuse(file_name, (struct job_place){ line.number, 1 }, err,
					       "a #PGPU line after the first command; move it up, or close the header "
					       "with '#PGPU end'");
		if (command)
			continue;
		if (!closed && is_end(&line))
			closed = true;
		else if (!closed && read_comment(spelling, file_name, &line, err) < 0)
			return -1;
		command = is_command(&line);
	}
	return 0;
}

/* False, with nothing done, when no second fence follows. */
static bool read_front(struct jobspelling *spelling, struct line line, const char *end)
{
	const char *start = line.next;

	while (next_line(&line, end)) {
		if (!is_fence(&line))
			continue;
		spelling->kind = JOBSPELLING_FRONT;
		spelling->first_line = 2;
		buf_add(&spelling->header, start, (size_t)(line.text - start));
		spelling->body = line.next;
		spelling->body_size = (size_t)(end - line.next);
		spelling->body_line = line.number + 1;
		return true;
	}
	return false;
}

int jobspelling_read(const char *file_name, const char *text, size_t size, struct jobspelling *ret_spelling,
		     struct err *err)
{
	struct line first = { .next = text };

	*ret_spelling = (struct jobspelling){ .kind = JOBSPELLING_YAML, .first_line = 1 };
	buf_add(&ret_spelling->header, "", 0);
	next_line(&first, text + size);
	if (begins(&first, "#!")) {
		if (read_comments(ret_spelling, file_name, text, size, err) < 0)
			return -1;
	} else if (!is_fence(&first) || !read_front(ret_spelling, first, text + size)) {
		buf_add(&ret_spelling->header, text, size);
	}
	return buf_ok(&ret_spelling->header) ? 0 : jobset_no_memory(err);
}
