// SPDX-License-Identifier: BSD-3-Clause
// Gigabytes of private memory that cost few pages: one piece, mapped over and over.
#ifndef TESTS_MPI_PIECES_H
#define TESTS_MPI_PIECES_H

#include "mpi_check.h"

#include <sys/mman.h>
#include <unistd.h>

static char *map_pieces(size_t piece, size_t pieces)
{
    int fd = memfd_create("pieces", 0);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)piece) == 0);
    char *all = mmap(NULL, piece * pieces, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                     -1, 0);
    CHECK(all != MAP_FAILED);
    for (size_t i = 0; i < pieces; i++)
        CHECK(mmap(all + i * piece, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
              MAP_FAILED);
    close(fd);
    return all;
}

#endif
