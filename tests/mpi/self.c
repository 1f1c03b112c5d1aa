// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2
// Messages to oneself, without threads.
#include "self.h"

int main(void)
{
    mpi_start();
    uint64_t state = (uint64_t)me;
    for (int i = 0; i < ROUNDS; i++)
        burst(MPI_COMM_WORLD, &state);
    return mpi_done();
}
