// SPDX-License-Identifier: BSD-3-Clause
// The messages of MPI_Finalize itself may be those after which a receiver tells its sender what it has
// taken, as each does where so few may be under way: who has left the last barrier by then takes note of
// it all the same.
// ENV: SHOAL_MPI_WINDOW=512
#include "mpi_check.h"

int main(void)
{
    mpi_start();
    for (int distance = 1; distance < npes; distance *= 2)
        OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, (me + distance) % npes, 0, NULL, 0, MPI_BYTE,
                        (me - distance + npes) % npes, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return mpi_done();
}
