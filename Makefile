# SPDX-License-Identifier: BSD-3-Clause
# Shoal. `make help` lists the targets.
VERSION := 0.1.0
SOVERSION := 0

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DESTDIR ?=
CC ?= cc
CXX ?= c++
OPT ?= -O3 -g
WARN := -Wall -Wextra -Wmissing-prototypes
PKG_CONFIG ?= pkg-config

# SAN=address,undefined or SAN=thread; HOSTILE=1: tiny sizes, forced retries, char without a sign, as on
# aarch64. Each variant has its own build folder.
BUILD ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(HOSTILE),-hostile)
comma := ,
ifdef SAN
SANFLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPT := -Og -g1
WARN += $(if $(findstring thread,$(SAN)),-Wno-tsan)
DEFINES += $(if $(findstring thread,$(SAN)),-DSHOAL_THREAD_SANITIZED)
DEFINES += -DSHOAL_SANITIZED # they see neither what an instruction copies nor other processes
endif
ifdef HOSTILE
OPT := -O1 -g1
CHARS := -funsigned-char # of programs as well: it is the processor's convention
DEFINES += -DSHOAL_HOSTILE
endif

# What compilers do not do by themselves for x86-64 in general, where there is such a flag: a prefetch of a line
# that will be written has others give it up; and structs of more than 128 bytes are cleared and copied by
# stores, and not by gcc's "rep stos" and "rep movs", which take as long to begin.
accepted = $(shell echo 'int x;' | $(CC) -Werror $(1) -xc -c -o /dev/null - 2>/dev/null && echo '$(1)')
UP_TO := 1024:noalign,libcall:-1:noalign
# A function begins a line: how fast its loops are is not up to what happens to be linked before it.
TUNING := $(call accepted,-mprfchw) $(call accepted,-falign-functions=64) \
	$(call accepted,-mmemset-strategy=vector_loop:$(UP_TO) -mmemcpy-strategy=unrolled_loop:$(UP_TO))

# Loops over elements, for vectors of the processor at hand as well. Sanitizers are not there yet when one is chosen,
# clang gives what chooses a name for all to see, and does not know that musl has no such choice.
CLONES := '-DCLONES=__attribute__((target_clones("default","avx2")))'
CLONES := $(if $(SAN)$(findstring -fsanitize,$(CFLAGS)),-DCLONES=,$(if $(shell \
	printf '\043include <stdio.h>\n\043if defined __clang__ || !defined __GLIBC__\n\043error\n\043endif\nCLONES int f(int x) { return x; }\n' | \
	$(CC) $(CFLAGS) $(CLONES) -xc -c -o /dev/null - 2>/dev/null && echo yes),$(CLONES),-DCLONES=))

DEFINES += -D_GNU_SOURCE -DSHOAL_VERSION='"$(VERSION)"'
CFLAGS_ALL = -std=c11 $(OPT) $(CHARS) $(WARN) $(SANFLAGS) $(DEFINES) -fvisibility=hidden -fPIC -pthread \
	$(TUNING) -MMD -MP $(CPPFLAGS) $(CFLAGS)
LDFLAGS_ALL = $(SANFLAGS) -pthread $(LDFLAGS)
LDLIBS_ALL = -ldl $(LDLIBS) # this and -lrt are libraries of their own before glibc 2.34

# A folder sees what it may include and no more (style: folders and who may include whom).
INC_base := -iquote lib/base
INC_core := $(INC_base) -iquote lib/core -iquote transports -Iinclude
INC_api := $(INC_core) -iquote lib/api
INC_transports := $(INC_base) -iquote transports
INC_launch := $(INC_base) -iquote lib/core -iquote lib/launch -Iinclude
INC_shim := -Iinclude -Ishim-mpi/include -iquote shim-mpi
INC_unit := $(INC_api) -iquote lib/launch -iquote tests

HWLOC := $(shell $(PKG_CONFIG) --exists hwloc 2>/dev/null && echo yes)
FABRIC := $(shell $(PKG_CONFIG) --exists 'libfabric >= 1.17' 2>/dev/null && echo yes)
UCX := $(shell $(PKG_CONFIG) --exists 'ucx >= 1.13' 2>/dev/null && echo yes)
PMIX := $(shell $(PKG_CONFIG) --exists pmix 2>/dev/null && echo yes)
CMOCKA := $(shell $(PKG_CONFIG) --exists cmocka 2>/dev/null && echo yes)
headers = $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags $(1))) # their warnings are not ours
linked = $(call headers,$(1)) $(shell $(PKG_CONFIG) --libs $(1))

SRC_base := $(wildcard lib/base/*.c)
SRC_core := $(filter-out lib/core/pmix.c,$(wildcard lib/core/*.c))
SRC_api := $(wildcard lib/api/*.c)
SRC_transports := $(wildcard transports/shm/*.c transports/adversary/*.c)
SRC_network := $(wildcard transports/*.c) lib/base/subnet.c lib/base/device.c # parts of each network's module
BIND := $(if $(HWLOC),lib/launch/bind_hwloc.c,lib/launch/bind_none.c)
SRC_shim := $(filter-out shim-mpi/hw_%.c,$(wildcard shim-mpi/*.c)) \
	$(if $(HWLOC),shim-mpi/hw_hwloc.c,shim-mpi/hw_none.c)
SRC_oshrun := $(filter-out lib/launch/shoal.c lib/launch/bind_%.c,$(wildcard lib/launch/*.c)) $(BIND)

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
OBJ_lib := $(call objects,$(SRC_base) $(SRC_core) $(SRC_api) $(SRC_transports))
OBJ_tool := $(call objects,$(SRC_base) lib/core/job.c lib/core/call.c)

EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(shell grep -l '^int main' examples/*.c))
API_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/api/*.c tests/shoal/*.c tests/mpi/*.c tests/fault/*.c tests/net/*.c)) \
	$(patsubst tests/%.cc,$(BUILD)/tests/%,$(wildcard tests/api/*.cc))
UNIT_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*.c))
TRANSPORT_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,\
	$(filter-out $(if $(FABRIC),,%/forge.c) $(if $(UCX),,%/forge_ucx.c),$(wildcard tests/transports/*.c)))
MODELS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/model/*.c))
BENCHES := $(patsubst tests/%.c,$(BUILD)/tests/%,$(filter-out $(if $(FABRIC),,%/net_raw.c) $(if $(UCX),,%/net_raw_ucx.c),$(shell grep -l '^int main' tests/bench/*.c 2>/dev/null)))

LIB := $(BUILD)/lib/libshoal.so
LIBMPI := $(BUILD)/lib/libmpi_abi.so
MPI_SOVERSION := 1
MODULES := $(if $(FABRIC),$(BUILD)/lib/libshoal-ofi.so) $(if $(UCX),$(BUILD)/lib/libshoal-ucx.so) \
	$(if $(PMIX),$(BUILD)/lib/libshoal-pmix.so)
WRAPPERS := oshc++ oshCC mpicc mpicc_abi mpicxx mpicxx_abi mpic++ mpiCC
RUNNERS := mpiexec mpirun
TOOLS := $(addprefix $(BUILD)/bin/,oshrun shoal oshcc $(WRAPPERS) $(RUNNERS))

.PHONY: all lib help examples tests check demo fuzz fuzzers scale bench layers expand install uninstall clean
.DELETE_ON_ERROR:
.SECONDARY:

all: lib $(TOOLS)
lib: $(LIB) $(LIBMPI) $(MODULES) $(BUILD)/lib/libshoal.a $(BUILD)/include $(BUILD)/shoal-mpi
examples: all $(EXAMPLES)
tests: examples $(API_TESTS) $(TRANSPORT_TESTS) $(BUILD)/tests/scale/tables $(MODELS) $(if $(CMOCKA),$(UNIT_TESTS))

help:
	@echo 'make             the library, the launcher, the compiler wrappers'
	@echo 'make demo        build, then run the package graph on 4 PEs'
	@echo 'make check       install what the tests need, then run them'
	@echo 'make fuzz        the parsers of what others send, each for FUZZ_SECONDS=$(FUZZ_SECONDS) (clang)'
	@echo 'make scale       what a PE costs, measured to 64 PEs and computed to 1048576'
	@echo 'make bench       measure, beside the machine and Open MPI when installed'
	@echo 'make install     PREFIX=$(PREFIX) DESTDIR= LIBDIR= INCLUDEDIR= MANDIR='
	@echo 'make uninstall   the same, undone'
	@echo 'make layers      what breaks the rules of layout and size'
	@echo 'make expand F=lib/api/rma.c   what the tables became'
	@echo 'variants: SAN=address,undefined  SAN=thread  HOSTILE=1  CC=clang'
	@echo 'without what is installed: FABRIC= UCX= HWLOC= PMIX=; Q= shows the commands'
	@echo 'PE counts of the tests: PES="1 2 4 7"; NODES=2: over a network between virtual nodes,'
	@echo '                        TRANSPORT=ofi|ucx: by that one; SEEDS=200 or 3-9: and with an'
	@echo '                        adversary before it, once for each seed'

# ---- objects
define compile_rule
$(BUILD)/obj/$(1)/%.o: $(1)/%.c
	@mkdir -p $$(@D)
	$(Q)$$(CC) $(2) $$(CFLAGS_ALL) -c $$< -o $$@
endef
$(eval $(call compile_rule,lib/base,$(INC_base)))
$(eval $(call compile_rule,lib/core,$(INC_core)))
$(eval $(call compile_rule,lib/api,$(INC_api)))
$(eval $(call compile_rule,lib/launch,$(INC_launch)))
$(eval $(call compile_rule,transports,$(INC_transports)))
$(eval $(call compile_rule,shim-mpi,$(INC_shim)))
Q ?= @

# Integer sums wrap, as the operations of the specification do.
$(BUILD)/obj/lib/core/reduce_ops.o $(BUILD)/obj/lib/core/elements.o $(BUILD)/obj/shim-mpi/op_loops.o: DEFINES += -fwrapv
$(BUILD)/obj/lib/core/reduce_ops.o: DEFINES += $(CLONES)
# AVX-512 gains 30 % where all is in the caches; of the loops above, which read what others have just written, nothing.
$(BUILD)/obj/shim-mpi/op_loops.o: DEFINES += $(subst "avx2","avx2"$(comma)"avx512f",$(CLONES))

$(BUILD)/lib/libshoal.so.$(SOVERSION): $(OBJ_lib)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,libshoal.so.$(SOVERSION) -Wl,-z,defs -Wl,-z,nodelete $(LDFLAGS_ALL) $^ -o $@ $(LDLIBS_ALL)
$(LIB): $(BUILD)/lib/libshoal.so.$(SOVERSION)
	@ln -sf $(<F) $@
$(BUILD)/lib/libshoal.a: $(OBJ_lib)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
# What is installed: one object, so that programs see what is public and no other names.
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)
$(BUILD)/lib/static/libshoal.a: $(BUILD)/lib/libshoal.a
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(CC) $(if $(findstring -flto,$(CFLAGS)),$(CFLAGS) -flinker-output=nolto-rel) -r -nostdlib -o $(@D)/shoal.o \
		-Wl,--whole-archive $< -Wl,--no-whole-archive
	$(Q)$(OBJCOPY) --localize-hidden $(@D)/shoal.o && $(AR) rcs $@ $(@D)/shoal.o && rm $(@D)/shoal.o
# The MPI layer: on the runtime's public interfaces alone.
$(LIBMPI).$(MPI_SOVERSION): $(call objects,$(SRC_shim)) $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,defs -Wl,-z,nodelete -L$(BUILD)/lib $(LDFLAGS_ALL) $(filter %.o,$^) \
		-o $@ -lshoal -Wl,-rpath,'$$ORIGIN' -lm $(LDLIBS_ALL) \
		$(if $(HWLOC),$(shell $(PKG_CONFIG) --libs hwloc))
$(LIBMPI): $(LIBMPI).$(MPI_SOVERSION)
	@ln -sf $(<F) $@
# Loaded by the library when a job has PEs on more than one node.
$(BUILD)/obj/transports/ofi/%.o: DEFINES += $(if $(FABRIC),$(call headers,libfabric))
$(BUILD)/obj/transports/ucx/%.o: DEFINES += $(if $(UCX),$(call headers,ucx))
$(BUILD)/lib/libshoal-ofi.so: $(call objects,$(wildcard transports/ofi/*.c) $(SRC_network))
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-z,defs $(LDFLAGS_ALL) $^ -o $@ $(shell $(PKG_CONFIG) --libs libfabric) $(LDLIBS_ALL)
$(BUILD)/lib/libshoal-ucx.so: $(call objects,$(wildcard transports/ucx/*.c) $(SRC_network))
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-z,defs $(LDFLAGS_ALL) $^ -o $@ $(shell $(PKG_CONFIG) --libs ucx) $(LDLIBS_ALL)
# Loaded by the library when a PMIx launcher started the process.
$(BUILD)/obj/lib/core/pmix.o: DEFINES += $(if $(PMIX),$(call headers,pmix))
$(BUILD)/lib/libshoal-pmix.so: $(call objects,lib/core/pmix.c)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-z,defs $(LDFLAGS_ALL) $^ -o $@ $(shell $(PKG_CONFIG) --libs pmix) $(LDLIBS_ALL)
$(BUILD)/include:
	@mkdir -p $(BUILD)
	@ln -sfn $(abspath include) $@
$(BUILD)/shoal-mpi:
	@mkdir -p $(BUILD)
	@ln -sfn $(abspath shim-mpi/include) $@

# ---- tools
$(BUILD)/obj/lib/launch/shoal.o: DEFINES += -DSHOAL_CC='"$(shell $(CC) --version | head -n 1)"' \
	-DSHOAL_HWLOC='"$(or $(HWLOC),no)"'
$(BUILD)/obj/lib/launch/bind_hwloc.o $(BUILD)/obj/shim-mpi/hw_hwloc.o: \
	DEFINES += $(if $(HWLOC),$(call headers,hwloc))
$(BUILD)/bin/oshrun: $(call objects,$(SRC_oshrun)) $(OBJ_tool)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -o $@ $(if $(HWLOC),$(shell $(PKG_CONFIG) --libs hwloc)) $(LDLIBS_ALL)
$(BUILD)/bin/shoal: $(call objects,lib/launch/shoal.c) $(OBJ_tool)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -o $@ $(LDLIBS_ALL)

# It finds what is built next to it; where it is installed to is filled in then.
$(BUILD)/bin/oshcc: lib/launch/oshcc.in
	@mkdir -p $(@D)
	@sed -e 's|@CC@|$(CC)|g' -e 's|@CXX@|$(CXX)|g' -e 's|@VERSION@|$(VERSION)|g' -e 's|@SANFLAGS@|$(SANFLAGS)|g' \
		$< > $@ && chmod +x $@
$(addprefix $(BUILD)/bin/,$(WRAPPERS)): $(BUILD)/bin/oshcc
	@ln -sf oshcc $@
$(addprefix $(BUILD)/bin/,$(RUNNERS)): $(BUILD)/bin/oshrun
	@ln -sf oshrun $@

# ---- programs
PROGRAM_FLAGS = $(OPT) $(CHARS) -Wall -Wextra $(SANFLAGS) -Iinclude -Itests -pthread -MMD -MP $(CPPFLAGS) $(CFLAGS)
PROGRAM_LIBS = -L$(BUILD)/lib -lshoal -Wl,-rpath,$(abspath $(BUILD)/lib) -lm $(LDFLAGS) -lrt $(LDLIBS_ALL)
DEMO_PARTS := $(filter-out examples/depgraph.c,$(wildcard examples/depgraph_*.c))
$(BUILD)/examples/depgraph: $(DEMO_PARTS)
# As mpicc would.
define mpi_program
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -Ishim-mpi/include $(PROGRAM_FLAGS) $(1) $< -o $@ \
		-L$(BUILD)/lib -lmpi_abi $(PROGRAM_LIBS)
endef
$(BUILD)/examples/mpi_%: examples/mpi_%.c $(LIBMPI)
	$(call mpi_program)
$(BUILD)/examples/%: examples/%.c $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(PROGRAM_FLAGS) $(filter %.c,$^) -o $@ $(PROGRAM_LIBS)
# The MPI layer's headers have names that the runtime's have too: not for all.
UNIT_SHIM := $(call objects,shim-mpi/type_body.c shim-mpi/type_move.c)
$(BUILD)/tests/unit/test_type_%: INC_unit := $(INC_shim) -iquote tests
$(BUILD)/tests/unit/test_type_move: $(UNIT_SHIM)
$(BUILD)/tests/unit/test_way: INC_unit := $(INC_shim) -iquote tests
$(BUILD)/tests/unit/test_way: $(call objects,shim-mpi/way.c)
$(BUILD)/tests/unit/test_messages: INC_unit := $(INC_transports) -iquote tests
$(BUILD)/tests/unit/test_messages: $(call objects,$(SRC_network))
$(BUILD)/tests/unit/%: tests/unit/%.c $(BUILD)/lib/libshoal.a $(call objects,$(filter-out lib/launch/oshrun.c,$(SRC_oshrun)))
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(PROGRAM_FLAGS) $(DEFINES) $(INC_unit) $< $(filter %.o,$^) -o $@ \
		$(BUILD)/lib/libshoal.a -lcmocka $(if $(HWLOC),-lhwloc) -lm $(LDLIBS_ALL)
$(BUILD)/tests/transports/forge: $(call objects,transports/job.c)
$(BUILD)/tests/transports/%: tests/transports/%.c $(call objects,$(SRC_transports)) $(MODULES)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(PROGRAM_FLAGS) $(DEFINES) $(INC_transports) $< $(filter %.o,$^) -o $@ \
		$(if $(filter %/forge,$@),$(call linked,libfabric)) \
		$(if $(filter %/forge_ucx,$@),$(call linked,ucx)) $(LDLIBS_ALL)
# Alone, with the runtime's own parts in it, as those of tests/unit.
$(BUILD)/tests/scale/tables: tests/scale/tables.c $(BUILD)/lib/libshoal.a $(MODULES)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(PROGRAM_FLAGS) $(DEFINES) $(INC_core) $< -o $@ $(BUILD)/lib/libshoal.a -lm $(LDLIBS_ALL)
$(BUILD)/tests/bench/net_raw: RAW_LIBS = $(call linked,libfabric)
$(BUILD)/tests/bench/net_raw_ucx: RAW_LIBS = $(call linked,ucx)
$(BUILD)/tests/bench/net_raw $(BUILD)/tests/bench/net_raw_ucx: $(BUILD)/%: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(PROGRAM_FLAGS) $< -o $@ $(RAW_LIBS)
# They have no threads to look at: their time is better spent elsewhere.
$(BUILD)/tests/model/%: SANFLAGS := $(if $(findstring thread,$(SAN)),,$(SANFLAGS))
$(BUILD)/tests/model/%: tests/model/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(PROGRAM_FLAGS) $< -o $@
$(BUILD)/tests/mpi/%: tests/mpi/%.c $(LIBMPI)
	$(call mpi_program)
$(filter $(BUILD)/tests/bench/mpi%,$(BENCHES)): $(BUILD)/%: %.c $(LIBMPI)
	$(call mpi_program,-DBENCH_SHMEM)
# What they call is optimized; they need not be, and compile in half the time.
$(BUILD)/tests/api/% $(BUILD)/tests/shoal/% $(BUILD)/tests/mpi/%: private OPT := -O1 -g1
$(BUILD)/tests/%: tests/%.c $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(PROGRAM_FLAGS) $< -o $@ $(PROGRAM_LIBS)
$(BUILD)/tests/%: tests/%.cc $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++11 $(PROGRAM_FLAGS) $< -o $@ $(PROGRAM_LIBS)

# ---- what people run
demo: all $(BUILD)/examples/depgraph
	$(BUILD)/bin/oshrun -n 4 $(BUILD)/examples/depgraph

check:
	@tests/install-deps
	@$(MAKE) --no-print-directory -s -j$(shell nproc) tests
	@tests/run $(BUILD) $(if $(PES),-n '$(PES)') $(if $(NODES),-N $(NODES)) $(if $(TRANSPORT),-T $(TRANSPORT)) \
		$(if $(SEEDS),-S '$(SEEDS)') $(if $(UNTIL),-u $(UNTIL))

# Whatever comes from others, by libFuzzer; new inputs stay in the build folder. FUZZ=net: one alone.
FUZZ_SECONDS ?= 60
FUZZ ?= $(patsubst tests/fuzz/fuzz_%.c,%,\
	$(filter-out $(if $(FABRIC),,%/fuzz_ofi.c) $(if $(UCX),,%/fuzz_ucx.c),$(wildcard tests/fuzz/*.c)))
FUZZERS := $(addprefix $(BUILD)/tests/fuzz/fuzz_,$(FUZZ))
# What each of the network libraries' users is made of; the target of UCX brings a UCX of its own.
FUZZ_OBJ_ofi := $(patsubst %.c,$(BUILD)/fuzz/obj/%.o,$(wildcard transports/ofi/*.c) $(SRC_network))
FUZZ_OBJ_ucx := $(patsubst %.c,$(BUILD)/fuzz/obj/%.o,\
	$(filter-out %/ucx.c %/ucx_choose.c %/ucx_lane.c,$(wildcard transports/ucx/*.c)) $(SRC_network))
FUZZ_LIBS_ofi := $(if $(FABRIC),$(call linked,libfabric))
FUZZ_FLAGS := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
.PHONY: fuzz_objects
fuzz_objects:
	@$(MAKE) --no-print-directory -s BUILD=$(BUILD)/fuzz CC=clang SAN=fuzzer-no-link,address,undefined \
		$(BUILD)/fuzz/lib/libshoal.a $(if $(FABRIC),$(FUZZ_OBJ_ofi)) $(if $(UCX),$(FUZZ_OBJ_ucx))
$(BUILD)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c fuzz_objects
	@mkdir -p $(@D)
	$(Q)clang -std=c11 -g -O1 $(WARN) -pthread $(DEFINES) $(FUZZ_FLAGS) \
		$(if $(FUZZ_OBJ_$*),$(INC_transports),$(INC_api)) $< $(FUZZ_OBJ_$*) \
		-o $@ $(BUILD)/fuzz/lib/libshoal.a -lm $(FUZZ_LIBS_$*)
fuzzers: $(FUZZERS)
fuzz: $(FUZZERS)
	for f in $(FUZZ); do mkdir -p $(BUILD)/tests/fuzz/$$f && \
		$(BUILD)/tests/fuzz/fuzz_$$f -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -close_fd_mask=2 \
		$(BUILD)/tests/fuzz/$$f tests/fuzz/$$f || exit 1; done

SCALES := $(BUILD)/tests/scale/tables $(BUILD)/tests/scale/job
scale: all $(SCALES)
	$(BUILD)/tests/scale/tables $(if $(FABRIC),$(BUILD)/lib/libshoal-ofi.so)
	for nodes in 1 2; do echo "$$nodes virtual nodes, kB:"; for n in 2 4 8 16 32 64; do \
		SHOAL_TRANSPORT=ofi SHOAL_VNODES=$$nodes $(BUILD)/bin/oshrun -n $$n $(BUILD)/tests/scale/job || exit 1; done; done

bench: all $(BENCHES)
	@tests/bench/run $(BUILD)

layers:
	@tests/layers

expand:
	@$(CC) -E $(DEFINES) $(INC_api) -Iinclude $(F) | \
		awk '/^# [0-9]+ "/ { own = index($$0, "\"$(F)\"") } !/^#/ && own && NF' | \
		(clang-format 2>/dev/null || cat)

PKGS := shoal.pc oshmem.pc mpi_abi.pc
# As pkg-config follows a tree that has moved.
in_prefix = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
install: all $(BUILD)/lib/static/libshoal.a
	$(foreach v,DESTDIR PREFIX LIBDIR INCLUDEDIR MANDIR,$(if $(word 2,$($v)),$(error $v has a space in it: install \
		elsewhere, and copy the tree)))
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/mpp
	install -m 755 $(BUILD)/bin/oshrun $(BUILD)/bin/shoal $(DESTDIR)$(PREFIX)/bin
	rm -f $(DESTDIR)$(PREFIX)/bin/oshcc
	sed -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' $(BUILD)/bin/oshcc > $(DESTDIR)$(PREFIX)/bin/oshcc
	chmod 755 $(DESTDIR)$(PREFIX)/bin/oshcc
	for f in $(WRAPPERS); do ln -sf oshcc $(DESTDIR)$(PREFIX)/bin/$$f || exit 1; done
	for f in $(RUNNERS); do ln -sf oshrun $(DESTDIR)$(PREFIX)/bin/$$f || exit 1; done
	install -m 755 $(BUILD)/lib/libshoal.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)
	ln -sf libshoal.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libshoal.so
	install -m 755 $(LIBMPI).$(MPI_SOVERSION) $(DESTDIR)$(LIBDIR)
	ln -sf libmpi_abi.so.$(MPI_SOVERSION) $(DESTDIR)$(LIBDIR)/libmpi_abi.so
	$(if $(MODULES),install -m 755 $(MODULES) $(DESTDIR)$(LIBDIR))
	install -m 644 $(BUILD)/lib/static/libshoal.a $(DESTDIR)$(LIBDIR)
	install -m 644 include/*.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 include/mpp/*.h $(DESTDIR)$(INCLUDEDIR)/mpp
	install -d $(DESTDIR)$(INCLUDEDIR)/shoal-mpi
	install -m 644 shim-mpi/include/mpi.h $(DESTDIR)$(INCLUDEDIR)/shoal-mpi
	for f in $(PKGS); do sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(call in_prefix,$(LIBDIR))|g' \
		-e 's|@INCLUDEDIR@|$(call in_prefix,$(INCLUDEDIR))|g' -e 's|@VERSION@|$(VERSION)|g' lib/$${f%.pc}.pc.in \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/$$f || exit 1; done
	cd $(DESTDIR)$(LIBDIR)/pkgconfig && chmod 644 $(PKGS)
	docs/man/install "$(DESTDIR)$(MANDIR)"

uninstall:
	cd $(DESTDIR)$(PREFIX)/bin && rm -f oshrun shoal oshcc $(WRAPPERS) $(RUNNERS)
	cd $(DESTDIR)$(LIBDIR) && rm -f libshoal.* libmpi_abi.* libshoal-ofi.so libshoal-ucx.so libshoal-pmix.so \
		$(addprefix pkgconfig/,$(PKGS))
	cd $(DESTDIR)$(INCLUDEDIR) && rm -f $(notdir $(wildcard include/*.h)) mpp/shmem.h mpp/shmemx.h shoal-mpi/mpi.h
	-rmdir $(DESTDIR)$(INCLUDEDIR)/mpp $(DESTDIR)$(INCLUDEDIR)/shoal-mpi
	docs/man/install -u "$(DESTDIR)$(MANDIR)"

clean:
	rm -rf build build-*

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
