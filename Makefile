# SPDX-License-Identifier: GPL-3.0-or-later
# make            builds build/pgpu            make demo     an overnight render in fast motion
# make check      the whole test suite         make lint     only the checks of the source itself
# make check-vm   the tests in a virtual machine (part of check)
# make bench      the figures                  make install  PREFIX=/usr/local DESTDIR=
# make torture    kills, stops, orders at random, every job accounted for; SEED=N ROUNDS=KIND:SPOOLED:BLOCKING:ACTIONS,...
# make longrun    20,000 jobs: does anything grow?

# Size counts: a start is the pages it touches.
CFLAGS    ?= -Os
PREFIX    ?= /usr/local
BUILD     ?= build
MAKEFLAGS += --no-print-directory
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

WARN     = -Wall -Wextra -Werror
HARDEN   = -fPIE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
# C needs no unwind tables at run time; those of the libraries are left out by the linker (lean.ld): a tenth of the binary.
SMALL    = -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections
ALL_C    = -std=c17 -D_GNU_SOURCE -I. -MMD -MP $(WARN) $(HARDEN) $(SMALL) $(CFLAGS)
LEAN     = $(BUILD)/lean.ld
ALL_LD   = -pie -Wl,-T,$(LEAN) -Wl,-z,relro,-z,now,--as-needed,--gc-sections,--hash-style=gnu,--no-eh-frame-hdr $(LDFLAGS)

# The three libraries go into the binary where the distribution has them as archives: a tenth of each start is saved.
archive  = $(firstword $(wildcard $(shell $(CC) -print-file-name=lib$(1).a)) -l$(1))
# libcap first: its constructor then lies beside our own text.
LIBS     = $(call archive,cap) $(call archive,confuse) $(call archive,yaml)

SOURCES := $(wildcard conf/base/*.c conf/*.c submit/*.c runner/*.c runner/line/*.c runner/cell/*.c)
OBJECTS  = $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY  = $(BUILD)/libpgpu.a
UNITS   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*.c))
PAGES   := $(wildcard man/*.[1-9])

all: $(BUILD)/pgpu

$(BUILD)/pgpu: $(OBJECTS) | $(LEAN)
	$(CC) $(ALL_LD) -o $@ $^ $(LIBS)

$(LEAN):
	@mkdir -p $(@D)
	@echo 'SECTIONS { /DISCARD/ : { *(.eh_frame) } } INSERT AFTER .text;' >$@

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_C) -c -o $@ $<

$(BUILD)/conf/conf_builtin.o: conf/pgpu.conf

# Unit tests: tests/unit/NAME.c is one cmocka program; the archive gives it the layers it uses and no others.
$(LIBRARY): $(filter-out $(BUILD)/runner/main.o,$(OBJECTS))
	@rm -f $@
	$(AR) rcs $@ $^

$(UNITS): %: %.o $(LIBRARY) | $(LEAN)
	$(CC) $(ALL_LD) -o $@ $^ $(LIBS) -lcmocka

units: $(UNITS)

check:
	@tests/deps.sh build demo check
	@tests/deps.sh vm && tests/vm/machine build || echo "no virtual machine yet; its tests say why"
	@$(MAKE) all units
	@tests/run.sh

check-vm:
	@tests/deps.sh build
	@tests/deps.sh vm && tests/vm/machine build || echo "no virtual machine yet; its tests say why"
	@$(MAKE) all
	@tests/run.sh vm

lint unit: all units
	@tests/run.sh $@

demo:
	@tests/deps.sh build demo
	@$(MAKE) all
	@examples/demo.sh

bench:
	@tests/deps.sh build bench
	@$(MAKE) all
	@tests/bench/run.sh

torture: all
	@tests/torture/run.sh --rounds $(or $(ROUNDS),whole) $(addprefix --seed ,$(SEED))

longrun: all
	@tests/torture/run.sh longrun

install: all
	install -D -m 755 -s $(BUILD)/pgpu $(DESTDIR)$(PREFIX)/bin/pgpu
	install -D -m 644 conf/pgpu.conf $(DESTDIR)$(PREFIX)/share/doc/pgpu/pgpu.conf
	install -D -m 644 conf/pgpu-rescue.timer $(DESTDIR)$(PREFIX)/lib/systemd/user/pgpu-rescue.timer
	sed 's,@BINDIR@,$(PREFIX)/bin,' conf/pgpu-rescue.service >$(BUILD)/pgpu-rescue.service
	install -D -m 644 $(BUILD)/pgpu-rescue.service $(DESTDIR)$(PREFIX)/lib/systemd/user/pgpu-rescue.service
	$(foreach page,$(PAGES),install -D -m 644 $(page) $(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page));)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/lib/systemd/user/pgpu-rescue.service $(DESTDIR)$(PREFIX)/lib/systemd/user/pgpu-rescue.timer
	rm -f $(DESTDIR)$(PREFIX)/bin/pgpu $(foreach page,$(PAGES),$(DESTDIR)$(PREFIX)/share/man/man*/$(notdir $(page)))
	rm -rf $(DESTDIR)$(PREFIX)/share/doc/pgpu

clean:
	rm -rf $(BUILD)

.PHONY: all units unit check check-vm lint demo bench torture longrun install uninstall clean
.SECONDARY:
-include $(OBJECTS:.o=.d) $(UNITS:=.d)
