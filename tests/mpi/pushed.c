// SPDX-License-Identifier: BSD-3-Clause
// Of a long message that both sides wait for the sender copies pieces, too (split.c): some of them before
// long, and all data is right, whoever copied it. A receiver that expects less gets that, and no byte more.
// PES: 2
// NODES: 1
// ENV: SHOAL_MPI_STAGE=0 SHOAL_MPI_HINT=0
#include "mpi_check.h"

#include <shoal.h>

enum { LONG = 8 << 20, TRIES = 500 };

static unsigned char *data;

static void message(int n, int taken, unsigned seed)
{
    MPI_Status s;
    int count = -1;
    if (me == 0) {
        fill(data, (size_t)n, seed);
        OK(MPI_Send(data, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
        return;
    }
    memset(data, 0, LONG);
    int error = MPI_Recv(data, taken, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &s);
    CHECK_EQ(class_of(error), taken < n ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    OK(MPI_Get_count(&s, MPI_BYTE, &count));
    CHECK_EQ(count, taken);
    CHECK_EACH(i, taken, data[i], fill_byte(seed, i));
    CHECK_EACH(i, LONG - taken, data[taken + (int)i], 0);
}

int main(void)
{
    unsigned long long mine, all = 0;
    uint64_t is_reached = 0;
    mpi_start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_EQ(shoal_query(SHOAL_Q_PRIVATE, 1 - me, &is_reached), SHOAL_OK);
    if (!is_reached)
        check_skip("the other's memory cannot be reached here");
    struct counter pushed = counter_start("pushed");
    data = must_alloc(LONG);
    for (unsigned i = 0; i < TRIES && !all && !check_failures; i++) {
        message(LONG, LONG, i);
        message(LONG, LONG - 4097, i);
        mine = counter_read(&pushed);
        OK(MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    }
    CHECK(all > 0);
    counter_end(&pushed);
    free(data);
    return mpi_done();
}
