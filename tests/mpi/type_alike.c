// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// Structs of many irregular parts that were made one by one: whether all are alike, or one differs a little,
// what is packed is what packing each part gives, and unpacking brings it back to the same places.
// PES: 1
#include "mpi_check.h"

enum { PARTS = 20, BLOCKS = 14, INTS = 128, STRIDE = INTS * (int)sizeof(int), ROOM = PARTS * INTS };

enum shape { LENGTHS, PLACES, ROWS, PAIRS, SHAPES };

static int memory[ROOM], back[ROOM];
static unsigned char whole[sizeof memory], single[sizeof memory];

enum difference { NONE, PLACE, LENGTH };

// Of INTS ints. Where it differs its last block is one further on, or blocks are longer.
static MPI_Datatype part(enum shape shape, enum difference differs)
{
    int lengths[BLOCKS], at[BLOCKS];
    MPI_Datatype old = MPI_INT, type;
    for (int i = 0; i < BLOCKS; i++) {
        lengths[i] = 1 + i % 3 + (differs == LENGTH && i == 0);
        at[i] = 4 * i + i * i % 3;
    }
    at[BLOCKS - 1] += differs == PLACE;
    if (shape == PAIRS)
        OK(MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4},
                                  (MPI_Datatype[]){MPI_INT, MPI_FLOAT}, &old));
    if (shape == LENGTHS)
        OK(MPI_Type_indexed(BLOCKS, lengths, at, old, &type));
    else // pairs begin at every second int
        OK(MPI_Type_create_indexed_block(BLOCKS, 1 + (differs == LENGTH && shape == PLACES), at,
                                         old, &type));
    if (shape == PAIRS)
        OK(MPI_Type_free(&old));
    if (shape != ROWS)
        return type;
    OK(MPI_Type_create_hvector(2, 1, 8, type, &old)); // which overlap nowhere: at[] are 4 apart
    OK(MPI_Type_free(&type));
    return old;
}

static int packed(MPI_Datatype type, void *from, unsigned char *to)
{
    int n = 0;
    OK(MPI_Pack(from, 1, type, to, sizeof whole, &n, MPI_COMM_SELF));
    return n;
}

// odd: which one differs, -1: none.
static void many(enum shape shape, int odd, enum difference differs)
{
    MPI_Datatype types[PARTS], all;
    int ones[PARTS], n = 0, from_whole;
    MPI_Aint at[PARTS];
    for (int i = 0; i < PARTS; i++) {
        types[i] = part(shape, i == odd ? differs : NONE);
        ones[i] = 1;
        at[i] = i * STRIDE;
        OK(MPI_Type_commit(&types[i]));
    }
    OK(MPI_Type_create_struct(PARTS, ones, at, types, &all));
    OK(MPI_Type_commit(&all));
    for (int i = 0; i < PARTS; i++)
        n += packed(types[i], memory + i * INTS, single + n);
    from_whole = packed(all, memory, whole);
    CHECK_EQ(from_whole, n);
    CHECK_MEM(whole, single, (size_t)n, "packed");
    memset(back, -1, sizeof back);
    int position = 0;
    OK(MPI_Unpack(whole, n, &position, back, 1, all, MPI_COMM_SELF));
    CHECK_EQ(packed(all, back, single), n);
    CHECK_MEM(single, whole, (size_t)n, "unpacked");
    for (int i = 0, found = 0; i <= ROOM; i++)
        if (i == ROOM)
            CHECK_EQ(found, n / (int)sizeof(int)); // not one more
        else
            found += back[i] == memory[i];
    for (int i = 0; i < PARTS; i++)
        OK(MPI_Type_free(&types[i]));
    OK(MPI_Type_free(&all));
}

int main(void)
{
    mpi_start();
    for (int i = 0; i < ROOM; i++)
        memory[i] = 1000 + i;
    for (enum shape shape = 0; shape < SHAPES; shape++)
        for (int odd = -1; odd < PARTS; odd++)
            for (enum difference differs = PLACE; differs <= LENGTH; differs++)
                many(shape, odd, differs);
    return mpi_done();
}
