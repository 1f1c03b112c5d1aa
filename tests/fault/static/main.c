// SPDX-License-Identifier: BSD-3-Clause
// Which variables are symmetric, and that they are whole. ../static_data.sh compiles it in many
// ways and runs it; 0: all as documented. With an argument it also prints the most memory it ever
// had, in KB.
#include "plugin.h"

#include <shmem.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef SEED
#define SEED 8
#endif

// First in .data, which with some linkers and flags starts in the middle of a page.
int data_int = 41;
long data_array[40] = {1, 2, 3};
int bss_int;
static long bss_array[3000];
static char *relocated = (char *)&data_array[2]; // filled in by the loader
const long constant[4] = {5, 6, 7, SEED};
__attribute__((weak)) long weak_data = 17;
__attribute__((weak)) long weak_bss;
__attribute__((weak)) long weak_other = 1; // other.c has the strong one: 23
_Thread_local long thread_local_data = 9;
static long from_constructor;
#ifdef BIG // 64 MiB of zeroes
static char big[64 << 20];
#endif

// Where the linker says that the data is.
extern char data_start[] __attribute__((weak)), edata[] __attribute__((weak)),
    end[] __attribute__((weak));

static int me, npes, failures;

__attribute__((constructor)) static void construct(void)
{
    from_constructor = 77;
    bss_array[2999] = 78;
#ifdef BIG
    big[40 << 20] = 3;
#endif
}

static void check(int ok, const char *what)
{
    if (ok)
        return;
    failures++;
    fprintf(stderr, "PE %d: failed: %s\n", me, what);
}
#define CHECK(what) check((what), #what)

static long *function_static(void)
{
    static long counter = 1000;
    static long zero;
    zero = shmem_addr_accessible(&zero, (me + 1) % npes);
    CHECK(zero == 1);
    return &counter;
}

static void check_values(void)
{
    CHECK(data_int == 41 && data_array[0] == 1 && data_array[2] == 3 && data_array[39] == 0);
    CHECK(bss_int == 0 && bss_array[0] == 0 && bss_array[2999] == 78);
    CHECK(relocated == (char *)&data_array[2]);
    CHECK(weak_data == 17 && weak_bss == 0 && weak_other == 23 && from_constructor == 77);
    CHECK(*function_static() == 1000);
    CHECK(thread_local_data == 9 && constant[3] == SEED);
}

// Each PE writes into its right neighbour, which must find it, and nobody else.
static void check_word(const char *name, void *word, size_t size)
{
    uint64_t sent = 100 + (uint64_t)me, got = 0;
    if (!shmem_addr_accessible(word, (me + 1) % npes)) {
        fprintf(stderr, "PE %d: failed: %s is not symmetric\n", me, name);
        failures++;
    } else {
        shmem_putmem(word, &sent, size, (me + 1) % npes);
    }
    shmem_barrier_all();
    memcpy(&got, word, size);
    if (got != 100 + (uint64_t)((me + npes - 1) % npes)) {
        fprintf(stderr, "PE %d: failed: %s has %ld from its neighbour\n", me, name, (long)got);
        failures++;
    }
}
#define WORD(v) check_word(#v, &(v), sizeof(v))

static void check_words(void)
{
    WORD(data_int);
    WORD(data_array[0]);
    WORD(data_array[39]);
    WORD(bss_int);
    WORD(bss_array[0]);
    WORD(bss_array[2999]);
    WORD(weak_data);
    WORD(weak_bss);
    WORD(weak_other);
    WORD(other_data);
    WORD(other_bss);
    WORD(from_constructor);
    check_word("a function's static", function_static(), sizeof(long));
    CHECK(data_array[1] == 2 && data_array[2] == 3 && bss_array[1] == 0); // the neighbours of words
}

static void check_ends(void)
{
    if (data_start)
        CHECK(shmem_addr_accessible(data_start, 0));
    if (edata)
        CHECK(shmem_addr_accessible((char *)((uintptr_t)edata - 1), 0));
    if (end)
        CHECK(shmem_addr_accessible((char *)((uintptr_t)end - 1), 0));
}

// As the manual has it: not symmetric.
static void check_private(void)
{
    CHECK(!shmem_addr_accessible(&thread_local_data, 0));
#ifdef PLUGIN
    CHECK(!shmem_addr_accessible(plugin_data(), 0));
    *plugin_data() = me;
    shmem_barrier_all();
    CHECK(*plugin_data() == me);
#endif
}

// With what the job's file holds: a page that nobody maps takes memory too.
static void print_peak(void)
{
    char line[256];
    struct stat file;
    long file_kb = fstat(atoi(getenv("SHOAL_JOB")), &file) ? 1L << 30 : (long)(file.st_blocks / 2);
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            printf("%ld\n", strtol(line + 6, NULL, 10) + file_kb);
    if (f)
        fclose(f);
}

int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    check_values();
    shmem_barrier_all();
    check_words();
    check_ends();
    check_private();
#ifdef BIG
    CHECK(big[40 << 20] == 3 && big[0] == 0 && shmem_char_g(&big[40 << 20], (me + 1) % npes) == 3);
    shmem_barrier_all();
    shmem_char_p(&big[sizeof big - 1], (char)me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK(big[sizeof big - 1] == (char)((me + npes - 1) % npes));
#endif
    shmem_barrier_all();
    if (argc > 1)
        print_peak();
    shmem_finalize();
    return failures > 0;
}
