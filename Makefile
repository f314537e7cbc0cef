# SPDX-License-Identifier: GPL-3.0-or-later
# make            builds build/pgpu
# make check      the whole test suite         make demo     an overnight render in fast motion
# make bench      the figures                  make install  PREFIX=/usr/local DESTDIR=

CC       ?= gcc
CFLAGS   ?= -O2 -g
PREFIX   ?= /usr/local
BUILD    ?= build

WARN     = -Wall -Wextra -Werror
# C needs no unwind tables at run time: a tenth of the binary.
HARDEN   = -fPIE -fno-asynchronous-unwind-tables -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
ALL_C    = -std=c17 -D_GNU_SOURCE -I. -MMD -MP $(WARN) $(HARDEN) $(CFLAGS)
ALL_LD   = -pie -Wl,-z,relro,-z,now,--as-needed $(LDFLAGS)

# The three libraries go into the binary where the distribution has them as archives: a tenth of each start is saved.
archive  = $(firstword $(wildcard $(shell $(CC) -print-file-name=lib$(1).a)) -l$(1))
LIBS     = $(call archive,confuse) $(call archive,yaml) $(call archive,cap)

SOURCES := $(wildcard conf/base/*.c conf/*.c submit/*.c runner/*.c)
OBJECTS  = $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY  = $(filter-out $(BUILD)/runner/main.o,$(OBJECTS))

all: $(BUILD)/pgpu

$(BUILD)/pgpu: $(OBJECTS)
	$(CC) $(ALL_LD) -o $@ $(OBJECTS) $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_C) -c -o $@ $<

$(BUILD)/conf/conf_builtin.o: conf/pgpu.conf

# Unit tests: tests/unit/NAME.c is one cmocka program linked with everything but main.
UNITS   := $(wildcard tests/unit/*.c)
UNITBIN  = $(UNITS:tests/unit/%.c=$(BUILD)/tests/unit/%)

$(BUILD)/tests/unit/%: tests/unit/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(ALL_C) $(ALL_LD) -o $@ $< $(LIBRARY) $(LIBS) -lcmocka

unit: $(UNITBIN)
	@for test in $(abspath $(UNITBIN)); do $$test || exit 1; done

clean:
	rm -rf $(BUILD)

.PHONY: all unit clean
-include $(OBJECTS:.o=.d)
