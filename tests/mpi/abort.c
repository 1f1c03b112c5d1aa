// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// MPI_Abort with a code, run by abort.sh: abort CODE [before | outside | type] (without MPI_Init; after
// another call without it).
#include "mpi_check.h"

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (argc == 2)
        mpi_start();
    else if (!strcmp(argv[2], "outside"))
        MPI_Comm_rank(MPI_COMM_WORLD, &me);
    else if (!strcmp(argv[2], "type"))
        MPI_Type_contiguous(2, MPI_INT, &(MPI_Datatype){MPI_DATATYPE_NULL});
    MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
    return 3;
}
