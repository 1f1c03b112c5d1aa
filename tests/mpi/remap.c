// SPDX-License-Identifier: BSD-3-Clause
// PES: 2 4
// Memory of which parts were sent and received, to other nodes too, is still one mapping: mremap makes more of it.
// Parts that share pages are under way at the same time.
#include "mpi_check.h"

#include <sys/mman.h>

enum { ALL = 8 << 20, PARTS = 4, PART = 1000000, ROUNDS = 3 };

static void parts(unsigned char *from, unsigned char *to, int partner)
{
    MPI_Request r[2 * PARTS];
    for (int i = 0; i < PARTS; i++) {
        OK(MPI_Irecv(to + i * PART, PART, MPI_BYTE, partner, i, MPI_COMM_WORLD, &r[i]));
        OK(MPI_Isend(from + i * PART, PART, MPI_BYTE, partner, i, MPI_COMM_WORLD, &r[PARTS + i]));
    }
    OK(MPI_Waitall(2 * PARTS, r, MPI_STATUSES_IGNORE));
}

int main(void)
{
    size_t size = ALL;
    mpi_start();
    int partner = (me + npes / 2) % npes; // with two nodes on the other one
    unsigned char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    for (int round = 0; round < ROUNDS; round++) {
        fill(p, ALL / 2, (unsigned)(round + me));
        parts(p, p + ALL / 2, partner);
        fill(p, ALL / 2, (unsigned)(round + partner));
        CHECK_MEM(p + ALL / 2, p, PARTS * PART, "what came");
        void *more = mremap(p, size, 2 * size, MREMAP_MAYMOVE);
        CHECK(more != MAP_FAILED);
        if (more == MAP_FAILED)
            break;
        p = more;
        size *= 2;
        CHECK_MEM(p + ALL / 2, p, PARTS * PART, "what came, elsewhere");
    }
    CHECK_EQ(munmap(p, size), 0);
    return mpi_done();
}
