# SPDX-License-Identifier: GPL-3.0-or-later
# make            builds build/pgpu            make demo     an overnight render in fast motion
# make check      the whole test suite         make lint     only the checks of the source itself
# make check-vm   the tests in a virtual machine (part of check)
# make fuzz       the fuzzers, FUZZ_SECONDS=60 each           make analyse   the analysers that take minutes
# make check-asan, make check-valgrind   the units and the command line under sanitizers, under valgrind
# make bench      the figures                  make install  PREFIX=/usr/local DESTDIR=
# make torture    kills, stops, orders at random, every job accounted for; SEED=N ROUNDS=KIND:SPOOLED:BLOCKING:ACTIONS,...
# make crash      every operation killed at each of its system calls, and given each error (some 20 minutes)
# make longrun    20,000 jobs: does anything grow?
# make dist       build/pgpu-VERSION.tar.gz, the source: the same bytes each time
# make deb        build/deb/pgpu_VERSION_ARCH.deb, a package for Debian and Ubuntu

# Size counts: a start is the pages it touches. A sanitizer's build, SANITIZE=address,undefined, is for tests alone.
ifdef SANITIZE
CFLAGS    ?= -O1 -g
else
CFLAGS    ?= -Os
endif
PREFIX    ?= /usr/local
BUILD     ?= build
STRIP     ?= -s
# Where the shells look for completions.
BASHDIR   ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR    ?= $(PREFIX)/share/zsh/site-functions
FISHDIR   ?= $(PREFIX)/share/fish/vendor_completions.d
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
ifdef SANITIZE
# The sanitizers have their own checks for FORTIFY's, and want the unwind tables.
HARDEN   = -fPIE -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
SMALL    =
LEAN     =
ALL_LD   = -pie -fsanitize=$(SANITIZE) $(LDFLAGS)
else
ALL_LD   = -pie -Wl,-T,$(LEAN) -Wl,-z,relro,-z,now,--as-needed,--gc-sections,--hash-style=gnu,--no-eh-frame-hdr $(LDFLAGS)
endif

# The three libraries go into the binary where the distribution has them as archives: a tenth of each start is saved.
archive  = $(firstword $(wildcard $(shell $(CC) -print-file-name=lib$(1).a)) -l$(1))
# libcap first: its constructor then lies beside our own text.
LIBS     = $(call archive,cap) $(call archive,confuse) $(call archive,yaml)
# libc as well, where all are archives: a start then maps, relocates and binds nothing but itself, a seventh of its time.
# `make clean all STATIC=` links with the machine's libc instead.
ifndef SANITIZE
STATIC  ?= $(if $(filter-out /%,$(LIBS) $(foreach file,libc.a rcrt1.o,$(shell $(CC) -print-file-name=$(file)))),,yes)
endif
PGPU_LD  = $(if $(STATIC),$(patsubst -pie,-static-pie,$(ALL_LD)),$(ALL_LD))

SOURCES := $(wildcard conf/base/*.c conf/*.c submit/*.c runner/*.c runner/line/*.c runner/cell/*.c)
READER   = runner/cell/nvml/main.c runner/cell/nvml/library.c
OBJECTS  = $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY  = $(BUILD)/libpgpu.a
UNITS   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*.c))
FUZZERS := $(patsubst %.c,$(BUILD)/%,$(filter-out tests/fuzz/fuzz.c tests/fuzz/replay.c,$(wildcard tests/fuzz/*.c)))
PAGES   := $(wildcard man/*.[1-9])

all: $(BUILD)/pgpu $(BUILD)/pgpu-nvml

$(BUILD)/pgpu: $(OBJECTS) $(if $(SANITIZE),$(BUILD)/tests/sanitize/options.o) | $(LEAN)
	$(CC) $(PGPU_LD) -o $@ $^ $(LIBS)

# With the machine's libc in any case: for valgrind, and to see what is ours.
$(BUILD)/shared/pgpu: $(OBJECTS) | $(LEAN)
	@mkdir -p $(@D)
	$(CC) $(ALL_LD) -o $@ $^ $(LIBS)

# The reader of NVIDIA's library, which can be loaded only by a program that is linked with libc.
$(BUILD)/pgpu-nvml: $(READER:%.c=$(BUILD)/%.o) | $(LEAN)
	$(CC) $(ALL_LD) -o $@ $^

$(BUILD)/lean.ld:
	@mkdir -p $(@D)
	@echo 'SECTIONS { /DISCARD/ : { *(.eh_frame) } } INSERT AFTER .text;' >$@

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_C) -c -o $@ $<

$(BUILD)/conf/conf_builtin.o: conf/pgpu.conf
ifdef SANITIZE
# The child that becomes the job leaves its frames by execve(2), on a piece of our stack: marks around its variables would
# be taken for ours.
$(BUILD)/runner/cell/launch.o: CFLAGS += $(if $(findstring clang,$(CC)),-mllvm -asan-stack=0,--param asan-stack=0)
endif
$(BUILD)/tests/sanitize/options.o: CFLAGS += -DREPORTS='"$(abspath $(BUILD))/reports"'

# Unit tests: tests/unit/NAME.c is one cmocka program; the archive gives it the layers it uses and no others.
$(LIBRARY): $(filter-out $(BUILD)/runner/main.o $(BUILD)/conf/nopasswd.o,$(OBJECTS))
	@rm -f $@
	$(AR) rcs $@ $^

$(UNITS): %: %.o $(LIBRARY) | $(LEAN)
	$(CC) $(ALL_LD) -o $@ $^ $(LIBS) -lcmocka

$(BUILD)/tests/unit/probe_nvml: $(BUILD)/runner/cell/nvml/library.o

# Stands for NVIDIA's library where its reader is tested.
NVML     = $(BUILD)/tests/nvml/libnvidia-ml.so.1
$(NVML): tests/nvml/library.c tests/nvml/library.h
	@mkdir -p $(@D)
	$(CC) -std=c17 -D_GNU_SOURCE $(WARN) -O1 -shared -fPIC -o $@ $<

units: $(UNITS) $(NVML) $(if $(SANITIZE),,$(BUILD)/shared/pgpu)

# Fuzz targets: linked with clang's libFuzzer where ENGINE names it, else with a driver of our own.
ENGINE  ?= $(BUILD)/tests/fuzz/replay.o
$(FUZZERS): %: %.o $(BUILD)/tests/fuzz/fuzz.o $(filter %.o,$(ENGINE)) $(LIBRARY) | $(LEAN)
	$(CC) $(ALL_LD) $(filter -%,$(ENGINE)) -o $@ $^ $(LIBS)

fuzzers: $(FUZZERS)

fuzz:
	@tests/deps.sh build check
	@tests/fuzz/run.sh $${FUZZ_SECONDS:-60}

check:
	@tests/deps.sh build demo check
	@tests/deps.sh schema || echo "no validator of JSON; its test says so"
	@tests/deps.sh shells || echo "not all shells are here; the test of completion says so"
	@tests/deps.sh deb package || echo "nothing to make packages with; their test says so"
	@tests/deps.sh slurm || echo "no Slurm; its test says so"
	@tests/deps.sh browser || echo "no browser; its test says so"
	@tests/deps.sh vm && tests/vm/machine build || echo "no virtual machine yet; its tests say why"
	@$(MAKE) all units
	@tests/run.sh

# The units and the command line under sanitizers and under valgrind: tests/sanitize/README.md.
check-asan:
	@tests/deps.sh build check
	@$(MAKE) BUILD=$(BUILD)/asan SANITIZE=address,undefined all units
	@tests/sanitize/suite.sh asan unit cli

check-valgrind:
	@tests/deps.sh build check
	@$(MAKE) all units
	@tests/sanitize/suite.sh valgrind unit cli

check-vm:
	@tests/deps.sh build
	@tests/deps.sh vm && tests/vm/machine build || echo "no virtual machine yet; its tests say why"
	@$(MAKE) all
	@tests/run.sh vm

# With clang's static analyser as well.
analyse:
	@tests/deps.sh build check
	@tests/lint/analysers.sh all

lint unit: all units
	@tests/run.sh $@

demo:
	@tests/deps.sh build demo
	@$(MAKE) all
	@examples/demo.sh

crash:
	@tests/deps.sh build check
	@$(MAKE) all
	@EVERY=1 JOBS_CRASH=2 tests/crash/run.sh

bench:
	@tests/deps.sh build bench
	@$(MAKE) all
	@tests/bench/run.sh

torture: all
	@tests/torture/run.sh --rounds $(or $(ROUNDS),whole) $(addprefix --seed ,$(SEED))

longrun: all
	@tests/torture/run.sh longrun

install: all
	install -D -m 755 $(STRIP) $(BUILD)/pgpu $(DESTDIR)$(PREFIX)/bin/pgpu
	install -D -m 755 $(STRIP) $(BUILD)/pgpu-nvml $(DESTDIR)$(PREFIX)/libexec/pgpu/pgpu-nvml
	install -D -m 644 conf/pgpu.conf $(DESTDIR)$(PREFIX)/share/doc/pgpu/pgpu.conf
	install -D -m 644 man/pgpu.schema.json $(DESTDIR)$(PREFIX)/share/doc/pgpu/pgpu.schema.json
	install -D -m 644 conf/pgpu-rescue.timer $(DESTDIR)$(PREFIX)/lib/systemd/user/pgpu-rescue.timer
	sed 's,@BINDIR@,$(PREFIX)/bin,' conf/pgpu-rescue.service >$(BUILD)/pgpu-rescue.service
	install -D -m 644 $(BUILD)/pgpu-rescue.service $(DESTDIR)$(PREFIX)/lib/systemd/user/pgpu-rescue.service
	install -D -m 644 conf/completion/pgpu.bash $(DESTDIR)$(BASHDIR)/pgpu
	install -D -m 644 conf/completion/_pgpu $(DESTDIR)$(ZSHDIR)/_pgpu
	install -D -m 644 conf/completion/pgpu.fish $(DESTDIR)$(FISHDIR)/pgpu.fish
	$(foreach page,$(PAGES),install -D -m 644 $(page) $(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page));)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/lib/systemd/user/pgpu-rescue.service $(DESTDIR)$(PREFIX)/lib/systemd/user/pgpu-rescue.timer
	rm -f $(DESTDIR)$(BASHDIR)/pgpu $(DESTDIR)$(ZSHDIR)/_pgpu $(DESTDIR)$(FISHDIR)/pgpu.fish
	rm -f $(DESTDIR)$(PREFIX)/bin/pgpu $(foreach page,$(PAGES),$(DESTDIR)$(PREFIX)/share/man/man*/$(notdir $(page)))
	rm -rf $(DESTDIR)$(PREFIX)/share/doc/pgpu $(DESTDIR)$(PREFIX)/libexec/pgpu

# What git tracks, or what is there where there is no git; all of it as old as the last commit.
VERSION  = $(shell sed -n 's/^.define PGPU_VERSION "\(.*\)"/\1/p' runner/version.h)
SOURCE   = $(BUILD)/pgpu-$(VERSION)
GIT      = git -c safe.directory='*'
COMMIT   = $(shell [ -e .git ] && $(GIT) log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)
MADE     = $(or $(SOURCE_DATE_EPOCH),$(COMMIT))
PLAIN    = --format=gnu --owner=0 --group=0 --numeric-owner --mode=u+rwX,go=rX --mtime=@$(MADE)
dist:
	@mkdir -p $(BUILD)
	@if [ -e .git ] && command -v git >/dev/null; then $(GIT) ls-files -z; \
		else find . -path ./.git -prune -o ! -type d -printf '%P\0'; fi >$(BUILD)/dist.all
	@sed -z '\,^$(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))/,d; \,^build/,d' $(BUILD)/dist.all | \
		LC_ALL=C sort -z >$(BUILD)/dist.files
	@tar --create --file=$(SOURCE).tar $(PLAIN) --transform='s,^,pgpu-$(VERSION)/,S' \
		--null --verbatim-files-from --files-from=$(BUILD)/dist.files
	@gzip -9nf $(SOURCE).tar
	@echo $(SOURCE).tar.gz

# dpkg-buildpackage is no part of this make: its variables are its own. What it needs is seen to by deps.sh.
DEB      = $(BUILD)/deb/pgpu-$(VERSION)
OURS     = MAKEFLAGS MFLAGS MAKELEVEL BUILD CFLAGS LDFLAGS LIBS PREFIX DESTDIR STRIP BASHDIR ZSHDIR FISHDIR
PACKAGER = $(shell sed -n 's/^Maintainer: //p' conf/debian/control)
deb: dist
	@tests/deps.sh build deb
	rm -rf $(BUILD)/deb
	mkdir -p $(BUILD)/deb
	tar -C $(BUILD)/deb -xzf $(SOURCE).tar.gz
	cp -r conf/debian $(DEB)/debian
	printf 'pgpu (%s) unstable; urgency=medium\n\n  * The source as of this version.\n\n -- %s  %s\n' \
		'$(VERSION)' '$(PACKAGER)' "$$(date -uRd @$(MADE))" >$(DEB)/debian/changelog
	cd $(DEB) && env $(OURS:%=-u %) dpkg-buildpackage -us -uc -b -d
	@ls $(BUILD)/deb/*.deb

clean:
	rm -rf $(BUILD)

.PHONY: all units unit fuzzers fuzz check check-asan check-valgrind analyse check-vm lint demo bench crash torture longrun install uninstall
.PHONY: dist deb clean
.SECONDARY:
-include $(OBJECTS:.o=.d) $(READER:%.c=$(BUILD)/%.d) $(UNITS:=.d) $(FUZZERS:=.d)
