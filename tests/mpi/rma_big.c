// SPDX-License-Identifier: BSD-3-Clause
// More bytes in one call than the kernel copies at a time (2 GB less a page), from private memory:
// few pages, mapped over and over.
// PES: 2
// NODES: 1
#include "mpi_check.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 8 << 20, PIECES = 260, SHIFT = 5 };

static char *map_pieces(void)
{
    int fd = memfd_create("pieces", 0);
    CHECK(fd >= 0 && ftruncate(fd, PIECE) == 0);
    char *all = mmap(NULL, (size_t)PIECE * PIECES, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(all != MAP_FAILED);
    for (size_t i = 0; i < PIECES; i++)
        CHECK(mmap(all + i * PIECE, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
              MAP_FAILED);
    close(fd);
    return all;
}

int main(void)
{
#if defined(__SANITIZE_THREAD__)
    check_skip("gigabytes take a sanitizer of threads too long");
#endif
    MPI_Win win;
    MPI_Count n = (MPI_Count)PIECE * PIECES, some = n - SHIFT;
    mpi_start();
    char *mine = map_pieces(), *own = map_pieces();
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
