// SPDX-License-Identifier: BSD-3-Clause
// A message of more bytes than an int counts: few pages, mapped over and over. Expected and not.
// PES: 2
// NODES: 1
#include "pieces.h"

enum { PIECE = 4 << 20, PIECES = 513 };

static void expect_count(const MPI_Status *s, MPI_Count n)
{
    MPI_Count long_count = -1;
    int count = -1;
    OK(MPI_Get_count_c(s, MPI_BYTE, &long_count));
    CHECK_EQ(long_count, n);
    OK(MPI_Get_count(s, MPI_BYTE, &count));
    CHECK_EQ(count, MPI_UNDEFINED);
}

static void receive(char *in, MPI_Count n, bool is_expected)
{
    MPI_Request r;
    MPI_Status s;
    memset(in, 0, PIECE);
    if (is_expected)
        OK(MPI_Irecv_c(in, n, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &r));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (is_expected) {
        OK(MPI_Wait(&r, &s));
    } else {
        OK(MPI_Probe(0, 1, MPI_COMM_WORLD, &s));
        expect_count(&s, n);
        OK(MPI_Recv_c(in, n, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &s));
    }
    expect_count(&s, n);
    CHECK_EACH(i, PIECE, in[i], 5 + is_expected);
}

int main(void)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    check_skip("gigabytes take a sanitizer too long");
#endif
    MPI_Count n = (MPI_Count)PIECE * PIECES;
    mpi_start();
    char *data = map_pieces(PIECE, PIECES);
    for (int is_expected = 0; is_expected < 2; is_expected++) {
        if (me == 1) {
            receive(data, n, is_expected);
            continue;
        }
        memset(data, 5 + is_expected, PIECE);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Send_c(data, n, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
    }
    munmap(data, (size_t)n);
    return mpi_done();
}
