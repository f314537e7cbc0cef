/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Linked into pgpu when it is built with SANITIZE, and into nothing else: what a sanitizer finds is written to a file
 * of REPORTS, a path from the Makefile. No environment variable could say so: a worker has none of its caller's, and
 * its standard error is /dev/null.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "log_path=" REPORTS
	       "/report:detect_stack_use_after_return=0:allocator_may_return_null=1:strict_string_checks=1"
	       ":intercept_tls_get_addr=0";
}
