// SPDX-License-Identifier: BSD-3-Clause
// More bytes in one call than the kernel copies at a time (2 GB less a page), from private memory:
// few pages, mapped over and over.
// PES: 2
// NODES: 1
#include "pieces.h"

enum { PIECE = 8 << 20, PIECES = 260, SHIFT = 5 };

int main(void)
{
#if defined(__SANITIZE_THREAD__)
    check_skip("gigabytes take a sanitizer of threads too long");
#endif
    MPI_Win win;
    MPI_Count n = (MPI_Count)PIECE * PIECES, some = n - SHIFT;
    mpi_start();
    char *mine = map_pieces(PIECE, PIECES), *own = map_pieces(PIECE, PIECES);
    memset(mine, 10 + me, PIECE);
    memset(own, 20 + me, PIECE);
    OK(MPI_Win_create_c(mine, n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    if (me == 0) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
        OK(MPI_Get_c(own, some, MPI_BYTE, 1, SHIFT, some, MPI_BYTE, win));
        OK(MPI_Win_flush(1, win));
        CHECK_EACH(i, PIECE - SHIFT, own[i], 11); // of the last piece: it came last
        OK(MPI_Win_unlock(1, win));
    }
    OK(MPI_Win_free(&win));
    munmap(own, (size_t)n);
    munmap(mine, (size_t)n);
    return mpi_done();
}
