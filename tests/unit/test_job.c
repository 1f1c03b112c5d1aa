// SPDX-License-Identifier: BSD-3-Clause
// The job's shared file: what its header promises, and files that are none.
#include "unit.h"

#include "card.h"
#include "job.h"
#include "slice.h"
#include "tunables.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct capture seen;

static off_t size_of(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return st.st_size;
}

static void test_layout(void **state)
{
    static const int counts[] = {1, 2, 7, 64};
    static const size_t sizes[] = {1, 2UL << 20, (2UL << 20) + 1, 100UL << 20};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(counts) * ARRAY_LEN(sizes); i++) {
        int npes = counts[i % ARRAY_LEN(counts)], fd;
        size_t heap = sizes[i / ARRAY_LEN(counts)];
        fd = job_create(npes, 1, heap, 4711);
        assert_true(fd >= 0);
        assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        struct job *job = job_open(fd);
        assert_non_null(job);
        assert_int_equal(job->npes, npes);
        assert_int_equal(job->launcher, 4711);
        assert_true(job->cpus >= 1);
        assert_true(job->heap_size >= heap && job->heap_size < heap + (2UL << 20));
        assert_true(job->heap_offset >= sizeof(struct slice));
        assert_true(job->slice_size >= job->heap_offset + job->heap_size + job->arena_size);
        assert_true(job->header_size >= sizeof *job);
        assert_int_equal((job->header_size | job->slice_size | job->heap_offset) % (2UL << 20), 0);
        assert_int_equal(size_of(fd), (off_t)(job->header_size + (size_t)npes * job->slice_size));
        munmap(job, sizeof *job);
        close(fd);
    }
}

// A file of one of several hosts: where all PEs are, and the hosts' names behind the cards.
static void test_hosts(void **state)
{
    static const struct job_pe pe[] = {{0, 0}, {1, 0}, {1, 1}};
    static const char host[][JOB_HOST] = {"first", "second"};
    (void)state;
    int fd = job_create_planned(&(struct job_plan){
        .npes = 3, .nodes = 2, .slots = 2, .heap_size = 1, .secret = 7, .pe = pe, .host = host});
    struct job *job = job_open(fd);
    assert_non_null(job);
    assert_true(job_has_hosts(job));
    assert_int_equal(job->secret, 7);
    assert_memory_equal(job->pe, pe, sizeof pe);
    assert_memory_equal((char *)job + job->hosts, host, sizeof host);
    assert_true(job->hosts >= job->cards + 3 * CARD_SIZE);
    munmap(job, job->header_size);
    close(fd);
}

// Control blocks lie one in each slice, and nobody can make the file shorter.
static void test_control(void **state)
{
    enum { NPES = 3 };
    int fd = job_create(NPES, 1, 1, 0);
    struct job *job = job_open(fd);
    (void)state;
    for (int pe = 0; pe < NPES; pe++) {
        struct pe_ctl *ctl = job_map_ctl(fd, job, pe);
        int32_t pid = 0;
        assert_non_null(ctl);
        assert_int_equal(ctl->state, PE_NONE);
        ctl->pid = 100 + pe;
        off_t at = (off_t)(job->header_size + (size_t)pe * job->slice_size);
        assert_int_equal(pread(fd, &pid, sizeof pid, at), sizeof pid);
        assert_int_equal(pid, 100 + pe);
        munmap(ctl, sizeof *ctl);
    }
    assert_int_not_equal(ftruncate(fd, size_of(fd) - 4096), 0);
    munmap(job, sizeof *job);
    close(fd);
}

static void test_default_heap(void **state)
{
    int fd = job_create(4, 1, 0, 0);
    struct job *job = job_open(fd);
    (void)state;
    assert_non_null(job);
    assert_true(job->heap_size >= 2UL << 20);
    if (LIMIT_HEAP_DEFAULT)
        assert_int_equal(job->heap_size, LIMIT_HEAP_DEFAULT);
    munmap(job, sizeof *job);
    close(fd);
}

static void check_refused(int fd, const char *words)
{
    capture_start(&seen);
    struct job *job = job_open(fd);
    capture_end(&seen);
    assert_null(job);
    assert_int_equal(seen.writes, 1);
    assert_non_null(strstr(seen.text, words));
}

#define DAMAGE(field, value)                                                   \
    do {                                                                       \
        struct job copy = good;                                                \
        copy.field = (value);                                                  \
        assert_int_equal(pwrite(fd, &copy, sizeof copy, 0), (int)sizeof copy); \
        check_refused(fd, "oshrun and libshoal");                              \
    } while (0)

static void test_refused(void **state)
{
    (void)state;
    check_refused(-1, "SHOAL_JOB=-1");
    int empty = memfd_create("empty", 0);
    check_refused(empty, "SHOAL_JOB=");
    close(empty);
    int fd = job_create(2, 1, 1, 0);
    struct job good;
    assert_int_equal(pread(fd, &good, sizeof good, 0), sizeof good);
    DAMAGE(magic, 0);
    DAMAGE(layout, JOB_LAYOUT + 1);
    DAMAGE(npes, 0);
    DAMAGE(npes, -1);
    DAMAGE(npes, 3); // more slices than there are
    DAMAGE(npes, LIMIT_PES + 1);
    DAMAGE(header_size, 8);
    DAMAGE(slice_size, good.slice_size + 1);
    DAMAGE(heap_offset, good.slice_size);
    DAMAGE(heap_size, good.heap_size + 4096);
    assert_int_equal(pwrite(fd, &good, sizeof good, 0), (int)sizeof good);
    struct job *job = job_open(fd);
    assert_non_null(job);
    munmap(job, sizeof *job);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_control),
        cmocka_unit_test(test_default_heap),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, clear_settings, NULL);
}
