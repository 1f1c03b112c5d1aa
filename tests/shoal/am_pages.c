// SPDX-License-Identifier: BSD-3-Clause
// Messages that fit into their envelopes touch no pages of payloads, in the inbox that all share.
// ENV: SHOAL_RING_AFTER=0
#include "../check.h"

#include <shoal.h>
#include <sys/stat.h>

enum { MESSAGE = 1, EACH = 400, MOST_KB = 128 };

static long got;

static void on_message(const shoal_am_t *am)
{
    (void)am;
    got++;
}

static long job_kb(void)
{
    struct stat at = {0};
    const char *fd = getenv("SHOAL_JOB");
    CHECK(fd && fstat(atoi(fd), &at) == 0);
    return at.st_blocks / 2;
}

int main(void)
{
    check_start();
    CHECK_EQ(shoal_am_register(MESSAGE, on_message, NULL), SHOAL_OK);
    shmem_barrier_all();
    long before = job_kb();
    shmem_barrier_all();
    for (uint64_t i = 0; i < EACH; i++)
        CHECK_EQ(shoal_am_request((me + 1) % npes, MESSAGE, i, &i, sizeof i), SHOAL_OK);
    while (got < EACH)
        shoal_progress();
    shmem_barrier_all();
    CHECK(job_kb() - before <= (long)MOST_KB * npes);
    return check_done();
}
