// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alloc_mem at addresses that the symmetric heap does not give: private memory, freed in any order, each
// block once.
#include "mpi_check.h"

enum { BLOCKS = 20, BYTES = 100000, SEEN = 4096 };

static bool is_whole(const unsigned char *block, int number)
{
    for (int i = 0; i < SEEN; i++)
        if (block[i] != fill_byte((unsigned)number, (size_t)i) || block[BYTES - 1 - i] != block[i])
            return false;
    return true;
}

int main(void)
{
    int order[BLOCKS];
    unsigned char *block[BLOCKS];
    MPI_Info info;
    mpi_start();
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < BLOCKS; i++) {
        order[i] = (7 * i + 3) % BLOCKS;
        OK(MPI_Alloc_mem(BYTES, info, &block[i]));
        CHECK_EQ((uintptr_t)block[i] % 4096, 0);
        for (int k = 0; k < SEEN; k++)
            block[i][k] = block[i][BYTES - 1 - k] = fill_byte((unsigned)i, (size_t)k);
    }
    for (int i = 0; i < BLOCKS; i++) {
        for (int k = i; k < BLOCKS; k++)
            CHECK(is_whole(block[order[k]], order[k]));
        CHECK_EQ(class_of(MPI_Free_mem(block[order[i]] + 64)),
                 MPI_ERR_BASE); // no block begins there
        OK(MPI_Free_mem(block[order[i]]));
        for (int k = 0; k <= i; k++)
            CHECK_EQ(class_of(MPI_Free_mem(block[order[k]])), MPI_ERR_BASE); // not twice
    }
    OK(MPI_Info_free(&info));
    return mpi_done();
}
