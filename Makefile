# SPDX-License-Identifier: GPL-2.0-or-later
#
#   make            build build/rdmadiag            make check   get test dependencies, run every test
#   make deps       install build dependencies      make test    tests that need no network, root or virtual machine
#   make lint       style and layers                make demo    demonstrate trace-errno
#   make test-deps  get test dependencies           make bench   compare the cost with that of peers
#   make install    PREFIX=/usr/local DESTDIR=      make fuzz    fuzz the parsers (SECONDS=30 each)
#   make static     one file to copy to other hosts make deb rpm    packages of HEAD (dist: its source archive)
#   make torture    every failing read and call, of which make check runs a sample (takes hours)
#
# V=1 shows the commands, SAN=1 builds with AddressSanitizer and UBSan (in build/san), WERROR=1 turns warnings into errors.

VERSION = 0.2.0

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
SYSCONFDIR ?= /etc
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/rdmadiag
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
UNITDIR ?= $(PREFIX)/lib/systemd/system
BASHCOMPDIR ?= $(DATADIR)/bash-completion/completions
ZSHCOMPDIR ?= $(DATADIR)/zsh/site-functions
FISHCOMPDIR ?= $(DATADIR)/fish/vendor_completions.d

CC ?= cc
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool || echo bpftool)
PKG_CONFIG ?= pkg-config
INSTALL ?= install

PKGS = libbpf libmnl
# Loaded on demand: lib/base/late.h.
PKGS_LATE = expat libarchive libdw libibmad libibumad libibverbs ncursesw readline smartcols

# -g1: traces need function names and lines only. With -g, gcc spends most of the time on locations of variables.
SANITIZE = -Og -fno-sanitize-recover=all -fno-omit-frame-pointer -g1
ifeq ($(STATIC),1)
B = build/static
else ifeq ($(SAN),1)
B = build/san
SAN_FLAGS = $(SANITIZE) -fsanitize=address,undefined
else ifeq ($(FUZZ),1)
B = build/libfuzzer
SAN_FLAGS = $(SANITIZE) -fsanitize=fuzzer-no-link,address,undefined
else
B = build
SAN_FLAGS =
endif
# FUZZ=1, with clang: for tests/fuzz/libfuzzer
FUZZ_MAIN = $(if $(filter 1,$(FUZZ)),libfuzzer,driver)
FUZZ_FLAGS = $(if $(filter 1,$(FUZZ)),-fsanitize=fuzzer)

# Targets that compile, in this make. Without what that needs, nothing is tried; "demo" gets it first, and calls make again.
COMPILES := $(filter-out deps test-deps demo check lint uninstall dist deb rpm clean $(if $(wildcard $(B)/rdmadiag),install),\
	$(or $(MAKECMDGOALS),all))
ifneq ($(COMPILES),)
MISSING := $(strip $(foreach tool,CC CLANG LLVM_STRIP BPFTOOL PKG_CONFIG,\
	$(shell command -v $(firstword $($(tool))) >/dev/null || echo $(firstword $($(tool))))) \
	$(shell for lib in $(PKGS) $(PKGS_LATE); do $(PKG_CONFIG) --exists $$lib || echo $$lib; done 2>/dev/null))
ifneq ($(MISSING),)
$(error missing: $(MISSING). Run "make deps")
endif
endif

ifeq ($(V),1)
Q =
say = @:
else
Q = @
say = @printf '  %-7s %s\n'
endif

CFLAGS ?= -O2 -g
# Functions that are called through a pointer have parameters that one or the other of them does not need.
WARN = -Wall -Wextra -Wno-missing-field-initializers -Wno-unused-parameter -Wmissing-prototypes -Wstrict-prototypes -Wshadow -Wvla
ifeq ($(WERROR),1)
WARN += -Werror
endif

HAVE_CC := $(shell command -v $(firstword $(CC)))
# The compiler takes this option. $(call takes,OPTION)
takes = $(if $(HAVE_CC),$(shell echo 'int x;' | $(CC) $(1) -Werror -x c -c -o /dev/null - 2>/dev/null && echo $(1)))
# Level 3 of _FORTIFY_SOURCE needs a compiler that can compute object sizes at run time. It requires optimisation, and would
# hide what sanitizers find.
FORTIFY = $(if $(SAN_FLAGS),,$(if $(filter -O1 -Og -O2 -O3 -Os -Oz,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(shell \
	echo 'int f(char *p) { return __builtin_dynamic_object_size(p, 0) > 0; }' | \
	$(CC) -Werror -x c -c -o /dev/null - 2>/dev/null && echo 3 || echo 2)))
HARDEN_CFLAGS := $(FORTIFY) $(call takes,-fstack-protector-strong) $(call takes,-fstack-clash-protection) \
	$(call takes,-fcf-protection) $(call takes,-mbranch-protection=standard) -fPIE
HARDEN_LDFLAGS = -pie -Wl,-z,relro -Wl,-z,now

# Relative relocations in 2 KiB instead of 220 KiB, which every start would read. Only where a program linked so starts (glibc 2.36
# and later), and not in a binary to be copied to other hosts.
PACK = -Wl,-z,pack-relative-relocs
PACK_LDFLAGS := $(if $(filter 1,$(STATIC)),,$(shell t=$$(mktemp) && echo 'int main(void) { return 0; }' | \
	$(CC) -fPIE -pie $(PACK) -x c -o $$t - 2>/dev/null && \
	[ "$$($(CC) -dumpmachine | cut -d- -f1)" = "$$(uname -m)" ] && $$t && echo $(PACK); rm -f $$t))

# The strings of all files in one section, as the linker sorts them, would lie together by their endings: whoever reads one of them
# reads those around it, of which it needs none.
APART := $(call takes,-fno-merge-constants)

# The binary does not contain the path of the build directory.
PREFIX_MAP = -ffile-prefix-map=$(CURDIR)=.

PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS) $(PKGS_LATE) 2>/dev/null)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null)
CPPFLAGS_ALL = -D_GNU_SOURCE= $(if $(SAN_FLAGS),-DRD_SANITIZED=) $(if $(filter 1,$(STATIC)),-DRD_STATIC=) -DRD_VERSION='"$(VERSION)"' \
	-I. -Ilib -I$(B)/bpf $(PKG_CFLAGS) $(CPPFLAGS)
CFLAGS_ALL = -std=gnu17 $(HARDEN_CFLAGS) $(APART) $(CFLAGS) $(WARN) $(SAN_FLAGS) $(PREFIX_MAP)
LDFLAGS_ALL = $(HARDEN_LDFLAGS) $(PACK_LDFLAGS) $(LDFLAGS)
ifeq ($(STATIC),1)
# Linked statically, so that the binary can be copied. libmnl has no static library, and the static libelf of some distributions
# is incomplete: both are loaded when they are needed.
LIBS = -s -Wl,-Bstatic -lbpf -lz -Wl,-Bdynamic -lm -ldl
else
LIBS = $(PKG_LIBS) -lm -ldl
endif
# The program has wrappers that load libbpf (cmd/late/libbpf.c); linked with both, they would find each other.
MAIN_LIBS = $(if $(filter 1,$(STATIC)),$(LIBS),$(filter-out -lbpf,$(LIBS)))

# The target machine, which may differ from the build machine.
TRIPLET := $(if $(HAVE_CC),$(shell $(CC) -dumpmachine))
MULTIARCH := $(or $(shell $(CC) -print-multiarch 2>/dev/null),$(TRIPLET))
MACHINE = $(firstword $(subst -, ,$(TRIPLET)))
BPF_ARCH = $(or $(patsubst $(MACHINE):%,%,$(filter $(MACHINE):%,x86_64:x86 aarch64:arm64 powerpc64le:powerpc s390x:s390 \
	riscv64:riscv loongarch64:loongarch)),$(MACHINE))
# clang's BPF target does not search Debian's multiarch directory, which has asm/types.h. A cross-compiler may have its own root.
SYSROOT := $(if $(HAVE_CC),$(shell $(CC) -print-sysroot 2>/dev/null))
BPF_CFLAGS = -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -g -O2 -Wall $(filter -Werror,$(WARN)) -I. $(PREFIX_MAP) \
	$(addprefix -idirafter ,$(wildcard $(patsubst %/,%,$(SYSROOT))/usr/include/$(MULTIARCH)))

FOLDERS = -DRD_DATADIR='"$(DATADIR)/rdmadiag"' -DRD_SYSCONFDIR='"$(SYSCONFDIR)"'

LIB_SRC = $(sort $(wildcard lib/*/*.c lib/*/*/*.c))
CMD_SRC = $(sort $(wildcard cmd/*.c cmd/*/*.c))
BPF_SRC = $(sort $(wildcard bpf/*.bpf.c))
UNIT_SRC = $(sort $(wildcard tests/unit/test-*.c))
FUZZ_SRC = $(sort $(wildcard tests/fuzz/fuzz-*.c))
FUZZ_COMMAND = $(addprefix tests/fuzz/,invariants.c mutant.c mutate.c readback.c)
TORTURE_SRC = $(sort $(wildcard tests/torture/*.c))
UNIT_SHARED = $(sort $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c)))

LIB_OBJ = $(LIB_SRC:%.c=$(B)/obj/%.o)
CMD_OBJ = $(CMD_SRC:%.c=$(B)/obj/%.o)
MAIN_OBJ = $(B)/obj/cmd/main.o $(B)/obj/cmd/late/libbpf.o
# What most commands use lies together at the beginning of the program: a page in use brings those around it into memory.
FIRST = $(wildcard cmd/*.c) $(foreach room,render base report/shared model/shared source/shared source/live collect/shared collect/rdma \
	model/rdma analyse/qp report/qp,$(wildcard lib/$(room)/*.c)) $(wildcard cmd/qp-state/*.c)
PROGRAM_SRC = $(FIRST) $(filter-out $(FIRST),$(CMD_SRC) $(LIB_SRC))
PROGRAM_OBJ = $(PROGRAM_SRC:%.c=$(B)/obj/%.o)
UNIT_OBJ = $(UNIT_SRC:%.c=$(B)/obj/%.o) $(UNIT_SHARED:%.c=$(B)/obj/%.o)
SKEL = $(BPF_SRC:bpf/%.bpf.c=$(B)/bpf/%.skel.h)
FUZZERS = $(FUZZ_SRC:%.c=$(B)/%)
FUZZ_OBJ = $(FUZZ_SRC:%.c=$(B)/obj/%.o) $(FUZZ_COMMAND:%.c=$(B)/obj/%.o) $(B)/obj/tests/fuzz/$(FUZZ_MAIN).o
UNIT = $(UNIT_SRC:tests/unit/%.c=$(B)/tests/unit/%)
TORTURE = $(TORTURE_SRC:%.c=$(B)/%) $(B)/tests/torture/failing-calls.so

comma = ,

# A change of flags or of the list of sources triggers a rebuild: both are kept in files, which are written only when they
# differ. "make install" installs what was built, whatever flags it is called with.
remember = $(shell mkdir -p $(B) && { echo '$(subst ','\'',$(1))' | cmp -s - $(2) || echo '$(subst ','\'',$(1))' >$(2); })
ifneq ($(COMPILES),)
_ := $(call remember,$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(CLANG) $(BPF_CFLAGS),$(B)/flags)
_ := $(call remember,$(PROGRAM_SRC),$(B)/objects)
_ := $(call remember,$(FOLDERS),$(B)/folders)
endif

.PHONY: all objects static deps test-deps demo test check bench lint fuzz fuzzers torture torturers soak unit install uninstall \
	dist deb rpm clean
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

all: $(B)/rdmadiag

$(B)/rdmadiag: $(PROGRAM_OBJ) $(B)/objects
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $(PROGRAM_OBJ) $(MAIN_LIBS)

# For tests/lint: compile everything, link nothing.
objects: $(LIB_OBJ) $(CMD_OBJ)

# build/static/rdmadiag, to be copied to other hosts: libbpf and zlib are in it. It needs the C library of the machine
# it is built on or a newer one.
static:
	$(Q)$(MAKE) --no-print-directory STATIC=1 all

$(B)/librdmadiag.a: $(LIB_OBJ)
$(B)/libcmd.a: $(filter-out $(MAIN_OBJ),$(CMD_OBJ))
# Recreated, so that it does not keep objects of removed files.
%.a: $(B)/objects
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(B)/obj/%.o: %.c $(B)/flags | $(SKEL)
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(B)/obj/cmd/datafile.o: CPPFLAGS_ALL += $(FOLDERS)
$(B)/obj/cmd/datafile.o: $(B)/folders $(wildcard data/*)

$(B)/bpf/%.bpf.o: bpf/%.bpf.c $(B)/flags
	@mkdir -p $(@D)
	$(say) BPF $<
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -MT $@ -c -o $@ $<
	$(Q)$(LLVM_STRIP) -g $@

$(B)/bpf/%.linked.o: $(B)/bpf/%.bpf.o
	$(Q)$(BPFTOOL) gen object $@ $<

# struct NAME_bpf, dashes in NAME made underscores
$(B)/bpf/%.skel.h: $(B)/bpf/%.linked.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf > $@

# For "make clean all" in one invocation.
$(B)/flags $(B)/objects $(B)/folders:
	@mkdir -p $(@D) && touch $@

unit: $(UNIT)
# Compilers take half of the time for them without optimisation, which the fortified library calls need.
$(B)/obj/tests/unit/%.o: CFLAGS_ALL += -O0 -U_FORTIFY_SOURCE
# Without debugging information linking takes half of the time; the sanitized ones have it.
$(UNIT): LDFLAGS_ALL += $(if $(SAN_FLAGS),,-Wl,-S)
$(UNIT): UNIT_LIBS := -lcmocka $(shell $(PKG_CONFIG) --libs json-c libibmad smartcols 2>/dev/null)
# Their own libibverbs and libdw are found as preloaded ones are.
$(B)/tests/unit/test-verbs $(B)/tests/unit/test-ustack-fault: LDFLAGS_ALL += -rdynamic
$(B)/tests/unit/%: $(B)/obj/tests/unit/%.o $(UNIT_SHARED:%.c=$(B)/obj/%.o) $(B)/libcmd.a $(B)/librdmadiag.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) $(UNIT_LIBS)

fuzzers: $(FUZZERS)
$(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(B)/obj/tests/fuzz/$(FUZZ_MAIN).o $(B)/libcmd.a $(B)/librdmadiag.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(FUZZ_FLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS) $(shell $(PKG_CONFIG) --libs json-c)

# Whole commands: their output is captured, and their input comes from another source.
$(B)/tests/fuzz/fuzz-command: $(FUZZ_COMMAND:%.c=$(B)/obj/%.o)
$(B)/tests/fuzz/fuzz-command: LDFLAGS_ALL += $(addprefix -Wl$(comma)--wrap=,write fsync rd_privileges_note rd_privileges_drop rd_source_bundle_open \
	rd_source_bundle_next rd_source_live_open rd_ticks_catch_signals)

torturers: $(TORTURE)
$(B)/tests/torture/%: $(B)/obj/tests/torture/%.o $(B)/libcmd.a $(B)/librdmadiag.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# For tests/lint/advice: option tables and parser, without main().
$(B)/tests/lint/%: $(B)/obj/tests/lint/%.o $(B)/libcmd.a $(B)/librdmadiag.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# Preloaded, therefore without sanitizers and fortified calls.
$(B)/tests/torture/%.so: tests/torture/preload/%.c
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu17 -O1 -g $(WARN) -fPIC -fno-builtin -U_FORTIFY_SOURCE -shared -o $@ $<

deps:
	$(Q)scripts/deps.sh build

test-deps:
	$(Q)scripts/deps.sh test vm
	$(Q)tests/lint/uapi.sh fetch

# The sub-make evaluates the lists and pkg-config again, because deps may have changed the result.
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/demo.sh

# Tests that need no network, installation or virtual machine. PARTS="unit bats" selects parts.
PARTS = test
test: all
	$(Q)tests/check.sh $(PARTS)

check:
	$(Q)tests/check.sh all

# Tests build with the flags and directories given here, because "make install" installs what they leave in build/.
test check lint: export CC := $(CC)
test check lint: export CFLAGS := $(CFLAGS)
test check lint: export CPPFLAGS := $(CPPFLAGS)
test check lint: export LDFLAGS := $(LDFLAGS)
test check lint: export DATADIR := $(DATADIR)
test check lint: export SYSCONFDIR := $(SYSCONFDIR)

lint:
	$(Q)tests/check.sh lint

# Each program writes one table in tests/bench/results. BENCH="nic-map check" selects programs.
BENCH = $(patsubst tests/bench/results/%.md,%,$(sort $(wildcard tests/bench/results/*.md)))
bench: all
	$(Q)scripts/deps.sh test vm bench
	$(Q). tests/path.sh; for bench in $(BENCH); do tests/bench/$$bench || exit 1; done

fuzz:
	$(Q)tests/fuzz/run $(SECONDS)

# Looks at a simulated network for an hour, or SECONDS, while faults come and go; at a link that is cut for half a minute; and runs the
# service of trace-errno under load.
soak: all
	$(Q)tests/fabric/soak $(SECONDS)
	$(Q)tests/vm/check 6.12 qp-failover/34-seconds-of-silence
	$(Q)mkdir -p $(B)/tests/vm && echo $(or $(SECONDS),3600) >$(B)/tests/vm/soak
	$(Q)tests/vm/check 6.12 service/under-load; r=$$?; rm -f $(B)/tests/vm/soak; exit $$r

torture: all
	$(Q)scripts/deps.sh test vm compilers
	$(Q)TORTURE=whole tests/check.sh torture

# Preserves timestamps, for reproducible packages. To strip, set INSTALL="install -s".
PUT = $(INSTALL) -p -D -m
SITE = $(SYSCONFDIR)/rdmadiag
TABLES = $(wildcard data/*)

install: all
	$(PUT) 755 $(B)/rdmadiag $(DESTDIR)$(BINDIR)/rdmadiag
	for page in man/*.[1-9]; do \
		$(PUT) 644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/} || exit 1; done
	for file in $(TABLES); do $(PUT) 644 $$file $(DESTDIR)$(DATADIR)/rdmadiag/$${file##*/} || exit 1; done
	for file in integration/*; do \
		$(PUT) $$([ -x "$$file" ] && echo 755 || echo 644) "$$file" $(DESTDIR)$(DOCDIR)/examples/$${file##*/} || exit 1; done
	$(PUT) 644 NEWS $(DESTDIR)$(DOCDIR)/NEWS
	$(PUT) 644 doc/fleet.md $(DESTDIR)$(DOCDIR)/fleet.md
	$(PUT) 644 etc/README $(DESTDIR)$(SITE)/README
	for table in $(notdir $(TABLES)) profiles; do $(INSTALL) -d -m 755 $(DESTDIR)$(SITE)/$$table.d || exit 1; done
	$(PUT) 644 systemd/tmpfiles.conf $(DESTDIR)$(TMPFILESDIR)/rdmadiag.conf
	$(PUT) 644 systemd/rdmadiag-trace.service $(DESTDIR)$(UNITDIR)/rdmadiag-trace.service
	sed -i 's,/usr/bin/rdmadiag,$(BINDIR)/rdmadiag,' $(DESTDIR)$(UNITDIR)/rdmadiag-trace.service
	touch -r systemd/rdmadiag-trace.service $(DESTDIR)$(UNITDIR)/rdmadiag-trace.service
	$(PUT) 644 completions/rdmadiag.bash $(DESTDIR)$(BASHCOMPDIR)/rdmadiag
	$(PUT) 644 completions/_rdmadiag $(DESTDIR)$(ZSHCOMPDIR)/_rdmadiag
	$(PUT) 644 completions/rdmadiag.fish $(DESTDIR)$(FISHCOMPDIR)/rdmadiag.fish

# Keeps files that the site wrote.
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/rdmadiag $(DESTDIR)$(SITE)/README $(DESTDIR)$(TMPFILESDIR)/rdmadiag.conf
	rm -f $(DESTDIR)$(UNITDIR)/rdmadiag-trace.service
	for page in man/*.[1-9]; do rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; done
	rm -rf $(DESTDIR)$(DATADIR)/rdmadiag $(DESTDIR)$(DOCDIR)
	rm -f $(DESTDIR)$(BASHCOMPDIR)/rdmadiag $(DESTDIR)$(ZSHCOMPDIR)/_rdmadiag $(DESTDIR)$(FISHCOMPDIR)/rdmadiag.fish
	[ ! -d $(DESTDIR)$(SITE) ] || find $(DESTDIR)$(SITE) -depth -type d -empty -delete

# The committed tree as build/dist/rdmadiag-VERSION.tar.xz, and packages built from it in build/deb and build/rpm.
dist deb rpm:
	$(Q)scripts/package.sh $@ $(VERSION)

clean:
	rm -rf build

-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(UNIT_OBJ:.o=.d) $(FUZZ_OBJ:.o=.d) \
	$(TORTURE_SRC:%.c=$(B)/obj/%.d) $(B)/obj/tests/lint/advice.d \
	$(BPF_SRC:bpf/%.bpf.c=$(B)/bpf/%.bpf.d)
