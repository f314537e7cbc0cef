/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns out of JSON objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runner/fields.h"

static const char sample[] =
	"{\"id\":\"1\",\"state\":\"\",\"state_s\":1,\"list\":[1,{\"a\":\"]\"}],\"progress\":{\"done\":1,"
	"\"deep\":{\"x\":2}},\"why\":null,\"last\":false}";

static void gives(const char *list, const char *object, const char *wanted)
{
	struct fields fields = { 0 };
	struct buf out = BUF_EMPTY;
	struct err err = ERR_NONE;

	assert_int_equal(fields_parse(list, sample, "queue", &fields, &err), 0);
	fields_put(&fields, object, &out);
	assert_string_equal(out.text, wanted);
	buf_free(&out);
	fields_free(&fields);
}

static void refuses(const char *list, const char *wanted)
{
	struct fields fields = { 0 };
	struct err err = ERR_NONE;

	assert_int_equal(fields_parse(list, sample, "queue", &fields, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_string_equal(err.text, wanted);
	assert_int_equal(fields.count, 0);
}

static void members_in_the_order_asked_for(void **state)
{
	(void)state;
	gives("id", sample, "1\n");
	gives("last,id,id", sample, "false\t1\t1\n");
	gives("state_s,state", sample, "1\t\n");
	gives("progress.done,progress.deep.x,list", sample, "1\t2\t[1,{\"a\":\"]\"}]\n");
	gives("progress", sample, "{\"done\":1,\"deep\":{\"x\":2}}\n");
}

static void what_has_no_value_is_empty(void **state)
{
	(void)state;
	gives("why,id,why", sample, "\t1\t\n");
	gives("id,progress.done", "{\"id\":\"2\",\"progress\":null}", "2\t\n");
	gives("id,state", "{\"state\":\"\"}", "\t\n");
	gives("id", "", "\n");
	gives("id", NULL, "\n");
}

static void texts_are_one_field(void **state)
{
	struct buf object = BUF_EMPTY;

	(void)state;
	buf_puts(&object, "{\"id\":");
	buf_json(&object, "a\tb\nc\\d\"e\x1b[31m\xc2\x9b\xc3\xa9");
	buf_puts(&object, ",\"state\":\"x\"}");
	gives("id,state", object.text, "a\\tb\\nc\\\\d\"e\\x1b[31m\\xc2\\x9b\xc3\xa9\tx\n");
	buf_free(&object);
}

static void an_object_that_is_cut_ends_there(void **state)
{
	char cut[sizeof sample];

	(void)state;
	for (size_t length = 0; length < sizeof sample; length++) {
		struct fields fields = { 0 };
		struct buf out = BUF_EMPTY;
		struct err err = ERR_NONE;
		memcpy(cut, sample, length);
		cut[length] = '\0';
		assert_int_equal(fields_parse("id,list,progress.deep.x,why,last", sample, "queue", &fields, &err), 0);
		fields_put(&fields, cut, &out);
		fields_free(&fields);
		buf_free(&out);
	}
	gives("id", "{\"id\":\"a\\", "a\n");
	gives("id", "{\"id\":\"a\\u00", "au00\n");
}

static void what_is_no_field_is_refused(void **state)
{
	char many[FIELDS_MOST * 3 + 3] = "id";

	(void)state;
	refuses("id,stat", "queue: unknown field 'stat', did you mean 'state'?");
	refuses("", "queue: unknown field ''");
	refuses("id,", "queue: unknown field ''");
	refuses("progress.", "queue: unknown field 'progress.', did you mean 'progress'?");
	refuses("progress.dome", "queue: unknown field 'progress.dome', did you mean 'progress.done'?");
	refuses("id.x", "queue: unknown field 'id.x'");
	for (int i = 0; i < FIELDS_MOST; i++)
		memcpy(many + 2 + i * 3, ",id", 4);
	refuses(many, "queue: more than 64 fields");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_in_the_order_asked_for),
		cmocka_unit_test(what_has_no_value_is_empty),
		cmocka_unit_test(texts_are_one_field),
		cmocka_unit_test(an_object_that_is_cut_ends_there),
		cmocka_unit_test(what_is_no_field_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
