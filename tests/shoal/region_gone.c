// SPDX-License-Identifier: BSD-3-Clause
// Regions whose memory is unmapped, or moves, before they are deregistered: others are told, by every
// PES: 2 4 7
// call and at every length, and the owner lives. What is at that address later is another region.
// region_gone_help.c runs this where private memory is reached only with its owner's help.
#include "../check.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <shoal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1 // of Linux 5.11's headers
#endif

enum { FEW = 8 };
static size_t size = 1 << 17; // whole pages, an even number

static shoal_key_t mine, theirs;
static unsigned char *local, *got;
static bool is_near; // the right neighbour's private memory is reached as it is: nobody watches it

// Does the kernel tell of what is unmapped?
static bool kernel_tells(void)
{
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_EVENT_UNMAP};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register one = {.range = {(uintptr_t)page, 4096},
                                  .mode = UFFDIO_REGISTER_MODE_WP};
    bool does = fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &one);
    if (fd >= 0)
        close(fd);
    munmap(page, 4096);
    return does;
}

static unsigned char *map_at(void *at)
{
    void *p = mmap(at, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
    CHECK(p != MAP_FAILED);
    return p;
}

// In the same place, unless another thread, of a library or a sanitizer, has been given it meanwhile.
static unsigned char *map_again(unsigned char *p)
{
    void *q = mmap(p, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return q == p ? p : map_at(NULL);
}

// The right neighbour's region, once all have registered theirs.
static shoal_rptr_t offer(void *base, shoal_region_t *region)
{
    shoal_rptr_t r = {0};
    CHECK_EQ(shoal_region_register(base, size, region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(*region, &mine), SHOAL_OK);
    shmem_barrier_all();
    shmem_getmem(&theirs, &mine, sizeof theirs, right_pe());
    CHECK_EQ(shoal_rptr(&theirs, 0, &r), SHOAL_OK);
    shmem_barrier_all();
    return r;
}

static void works(shoal_rptr_t r, unsigned seed)
{
    fill(local, size, seed);
    for (size_t n = FEW; n <= size; n += size - FEW) {
        CHECK_EQ(shoal_put(r, local, n, NULL, NULL), SHOAL_OK);
        CHECK_EQ(shoal_get(got, r, n, NULL, NULL), SHOAL_OK);
        CHECK_MEM(got, local, n, "bytes put and got again");
    }
}

static void refuses(int line, int status)
{
    if (status != SHOAL_EKEY && status != SHOAL_EFAULT) // of what others copied it is the latter
        check_eq(__FILE__, line, "refuses", status, SHOAL_EKEY, "the status");
}
#define REFUSED(call) refuses(__LINE__, call)

static void is_refused(shoal_rptr_t r)
{
    uint64_t one = 1, old = 0;
    for (size_t n = FEW; n <= size; n += size - FEW) {
        shoal_part_t part = {r, local, n};
        REFUSED(shoal_put(r, local, n, NULL, NULL));
        REFUSED(shoal_get(got, r, n, NULL, NULL));
        REFUSED(shoal_getv(&part, 1, NULL, NULL));
    }
    enum { MANY = 64, APART = 100 };
    shoal_part_t many[MANY];
    for (int i = 0; i < MANY; i++)
        many[i] = (shoal_part_t){shoal_rptr_add(r, i * APART), local + i * FEW, FEW};
    REFUSED(shoal_putv(many, MANY, NULL, NULL));
    REFUSED(shoal_getv(many, MANY, NULL, NULL));
    REFUSED(shoal_puts(r, &(ptrdiff_t){APART}, local, &(ptrdiff_t){FEW}, (size_t[]){FEW, MANY}, 1,
                       NULL, NULL));
    REFUSED(shoal_gets(got, &(ptrdiff_t){FEW}, r, &(ptrdiff_t){APART}, (size_t[]){FEW, MANY}, 1,
                       NULL, NULL));
    if (!is_near) // else EFAULT is only told of what the kernel copies
        REFUSED(shoal_atomic(r, SHOAL_SUM, SHOAL_UINT64, &one, NULL, &old, NULL, NULL));
}

// What ends a region's memory, and how much of it is left.
static size_t is_unmapped(unsigned char *p)
{
    CHECK_EQ(munmap(p, size), 0);
    return 0;
}

static size_t moves(unsigned char *p)
{
    unsigned char *to = map_at(NULL);
    CHECK(mremap(p, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
    CHECK_EQ(munmap(to, size), 0);
    return 0;
}

static size_t loses_a_part(unsigned char *p)
{
    CHECK_EQ(munmap(p + size / 2, size / 2), 0);
    if (is_near)
        CHECK_EQ(munmap(p, size / 2), 0);
    return is_near ? 0 : size / 2;
}

static void once(size_t (*goes)(unsigned char *p), unsigned seed)
{
    shoal_region_t region, next;
    unsigned char *p = map_at(NULL);
    shoal_rptr_t r = offer(p, &region);
    works(r, seed);
    shmem_barrier_all();
    size_t left = goes(p);
    shmem_barrier_all();
    is_refused(r);
    shmem_barrier_all();
    if (left)
        CHECK_EQ(munmap(p, left), 0);
    p = map_again(p);
    shoal_rptr_t again = offer(p, &next);
    works(again, seed + 1);
    if (!is_near)
        is_refused(r);
    shmem_barrier_all();
    CHECK_MEM(p, local, FEW, "what was put into the new region");
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    CHECK_EQ(shoal_region_deregister(region), SHOAL_EINVAL);
    CHECK_EQ(shoal_region_deregister(next), SHOAL_OK);
    CHECK_EQ(munmap(p, size), 0);
    shmem_barrier_all();
}

// Registered over and over, with and without another mapping between.
static void often(void)
{
    shoal_region_t region;
    unsigned char *p = map_at(NULL);
    shoal_rptr_t last = {0};
    for (unsigned i = 0; i < 6; i++) {
        shoal_rptr_t r = offer(p, &region);
        works(r, 50 + i);
        if (i)
            REFUSED(shoal_get(got, last, size, NULL, NULL));
        last = r;
        shmem_barrier_all();
        CHECK_MEM(p, local, size, "what was put");
        CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
        if (i % 2)
            CHECK(map_at(p) == p);
        shmem_barrier_all();
    }
    CHECK_EQ(munmap(p, size), 0);
}

// Of a mapped file the kernel does not tell.
static void file(void)
{
    shoal_region_t region;
    int fd = open("/proc/self/exe", O_RDONLY);
    unsigned char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    CHECK(fd >= 0 && p != MAP_FAILED);
    shoal_rptr_t r = offer(p, &region);
    CHECK_EQ(shoal_put(r, local, FEW, NULL, NULL), SHOAL_OK);
    shmem_barrier_all();
    CHECK_EQ(munmap(p, size), 0);
    shmem_barrier_all();
    is_refused(r);
    shmem_barrier_all();
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    close(fd);
}

int main(void)
{
    uint64_t am_max = 0;
    check_start();
    const char *cross = getenv("SHOAL_CROSS_MEMORY");
    bool is_one_node = shmem_team_n_pes(SHMEM_TEAM_SHARED) == npes;
    is_near = is_one_node && !(cross && !strcmp(cross, "0"));
    if (npes == 1)
        check_skip("nobody else reaches its memory");
    if (!is_near && !kernel_tells())
        check_skip("the kernel does not tell of memory that is unmapped (userfaultfd)");
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &am_max), SHOAL_OK);
    if (am_max < 1024) // tiny limits make long transfers take long
        size = 1 << 14;
    local = must_alloc(size);
    got = must_alloc(size);
    once(is_unmapped, 1);
    once(moves, 10);
    once(loses_a_part, 20);
    often();
    file();
    free(local);
    free(got);
    return check_done();
}
