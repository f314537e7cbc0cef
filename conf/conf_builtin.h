/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in configuration: conf/pgpu.conf, put into the program byte for byte when it is built. It is read by the
 * same parser as everyone's file, so the shipped file cannot be wrong without the tests telling.
 */
#ifndef PGPU_CONF_BUILTIN_H
#define PGPU_CONF_BUILTIN_H

#include <stdint.h>

/* Ends with a NUL. */
extern const char conf_builtin_text[] __attribute__((visibility("hidden")));

/* FNV-1a of `count` bytes: finds accidents, not attackers. */
uint64_t conf_sum(const char *bytes, uint64_t count);
/* Sixteen hexadecimal digits, no NUL; returns the end. printf(3) would cost more than the rest of a start's check. */
char *conf_sum_put(char *to, uint64_t sum);
/* The built-in text's sum: part of each stamp, so that a newer pgpu takes its new table over. */
uint64_t conf_builtin_sum(void);

#endif
