// SPDX-License-Identifier: BSD-3-Clause
// Start and end: query_initialized at every stage, nested initialisations, starting again after the
// last finalize, thread levels, numbers of PEs, version and name.
#include "../check.h"

static int started(void)
{
    int yes = -1;
    shmem_query_initialized(&yes);
    return yes != 0;
}

static void identity(void)
{
    int major = -1, minor = -1;
    char name[SHMEM_MAX_NAME_LEN];
    memset(name, 'x', sizeof name);
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION);
    CHECK(major == 1 && minor == 6);
    CHECK(memchr(name, '\0', sizeof name) != NULL);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0);
    CHECK(npes >= 1 && me >= 0 && me < npes);
    CHECK(shmem_my_pe() == me && shmem_n_pes() == npes);
    // Every number is taken once.
    static int here, *seen;
    seen = shmem_calloc((size_t)npes, sizeof(int));
    shmem_int_atomic_inc(&seen[me], 0);
    shmem_int_atomic_inc(&here, 0);
    shmem_barrier_all();
    if (me == 0) {
        CHECK_EACH(i, npes, seen[i], 1);
        CHECK_EQ(here, npes);
    }
    here = 0;
    shmem_free(seen);
}

static void use_it(int round)
{
    static long value;
    long *heap = shmem_malloc(sizeof(long));
    CHECK(heap != NULL);
    value = me + round;
    shmem_barrier_all();
    shmem_long_p(heap, shmem_long_g(&value, right_pe()), left_pe());
    shmem_barrier_all();
    CHECK_EQ(*heap, (me + 2) % npes + round);
    shmem_free(heap);
}

static void nested(void)
{
    int provided = -1;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided), 0);
    CHECK(provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE);
    shmem_init();
    use_it(1);
    shmem_finalize();
    CHECK(started());
    use_it(2);
    shmem_finalize();
    CHECK(started());
    use_it(3);
}

// What was allocated and set up before an inner finalize is still there after it.
static void inner_finalize_keeps(void)
{
    long *heap = shmem_calloc(4, sizeof(long));
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team);
    shmem_init();
    shmem_long_p(&heap[1], me + 7, right_pe());
    shmem_finalize(); // is a barrier, too
    CHECK_EQ(heap[1], left_pe() + 7);
    CHECK_EQ(shmem_team_n_pes(team), npes);
    CHECK_EQ(shmem_team_sync(team), 0);
    shmem_team_destroy(team);
    shmem_free(heap);
}

static void again(int level)
{
    int provided = -1, queried = -2;
    CHECK(!started());
    CHECK_EQ(shmem_init_thread(level, &provided), 0);
    shmem_query_thread(&queried);
    CHECK(started());
    CHECK_EQ(queried, provided);
    CHECK(provided >= level);
    CHECK(shmem_my_pe() == me && shmem_n_pes() == npes);
    use_it(level);
    identity();
    shmem_finalize();
    CHECK(!started());
}

int main(void)
{
    CHECK(!started());
    check_start();
    CHECK(started());
    identity();
    nested();
    inner_finalize_keeps();
    // Resources left behind end with the last finalize.
    shmem_team_t forgotten;
    shmem_ctx_t lost;
    CHECK(shmem_malloc(1000) != NULL);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &forgotten);
    shmem_ctx_create(0, &lost);
    shmem_finalize();
    again(SHMEM_THREAD_SINGLE);
    again(SHMEM_THREAD_FUNNELED);
    again(SHMEM_THREAD_SERIALIZED);
    again(SHMEM_THREAD_MULTIPLE);
    return check_done();
}
