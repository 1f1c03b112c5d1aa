// SPDX-License-Identifier: BSD-3-Clause
// A linked list over the memory of all processes, on a dynamic window: a node is attached where it is
// made, and pushed onto the list by comparing and swapping its head. A link is one word, the owner's
// rank and the node's number there; addresses are looked up in a table that every process has.
//
//     mpiexec -n 4 mpi_list --nodes 1000

#include "example_mpi.h"

enum { NOWHERE = -1 };

static long nodes = 200;
static const struct example_option options[] = {
    {"--nodes", "N", &nodes, 1, NULL, "nodes that each rank pushes"},
    {.name = NULL},
};

static int me, npes;
static MPI_Win win;
static MPI_Aint *address; // of node i of process r: address[r * nodes + i]; the head's comes last

struct node {
    long next; // r * nodes + i, or NOWHERE
    long value;
};

static long read_long(int rank, MPI_Aint at)
{
    long value;
    MPI_Fetch_and_op(NULL, &value, MPI_LONG, rank, at, MPI_NO_OP, win);
    MPI_Win_flush(rank, win);
    return value;
}

static void push(struct node *node, long link, MPI_Aint head)
{
    long was = read_long(0, head);
    do {
        node->next = was;
        MPI_Win_sync(win);
        MPI_Compare_and_swap(&link, &node->next, &was, MPI_LONG, 0, head, win);
        MPI_Win_flush(0, win);
    } while (was != node->next);
}

static long walk(MPI_Aint head, long *sum)
{
    long count = 0;
    *sum = 0;
    for (long link = read_long(0, head); link != NOWHERE; count++) {
        struct node n;
        int rank = (int)(link / nodes);
        MPI_Get(&n, 2, MPI_LONG, rank, address[link], 2, MPI_LONG, win);
        MPI_Win_flush(rank, win);
        *sum += n.value;
        link = n.next;
    }
    return count;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int status = example_options(argc, argv, "a linked list over all ranks", options);
    if (status != EXAMPLE_RUN) {
        MPI_Finalize();
        return status;
    }
    me = example_rank();
    npes = example_size();
    long all = nodes * npes, sum, wrong, faults;
    struct node **mine = example_alloc((size_t)nodes, sizeof *mine);
    long *list;
    MPI_Aint head, *own = example_alloc((size_t)nodes, sizeof *own);
    address = example_alloc((size_t)all, sizeof *address);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Alloc_mem(sizeof *list, MPI_INFO_NULL, &list);
    *list = NOWHERE;
    MPI_Win_attach(win, list, sizeof *list);
    for (int i = 0; i < nodes; i++) {
        MPI_Alloc_mem(sizeof *mine[i], MPI_INFO_NULL, &mine[i]);
        mine[i]->value = me * nodes + i;
        MPI_Win_attach(win, mine[i], sizeof *mine[i]);
        MPI_Get_address(mine[i], &own[i]);
    }
    MPI_Get_address(list, &head);
    MPI_Bcast(&head, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    MPI_Allgather(own, (int)nodes, MPI_AINT, address, (int)nodes, MPI_AINT, MPI_COMM_WORLD);
    double start = MPI_Wtime();
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < nodes; i++)
        push(mine[i], me * nodes + i, head);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    wrong = walk(head, &sum) != all || sum != all * (all - 1) / 2;
    MPI_Win_unlock_all(win);
    MPI_Allreduce(&wrong, &faults, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("mpi_list: %ld nodes pushed by %d processes: %.3f s: %s\n", all, npes, seconds,
               faults ? "WRONG" : "right");
    MPI_Win_free(&win);
    for (int i = 0; i < nodes; i++)
        MPI_Free_mem(mine[i]);
    MPI_Free_mem(list);
    free(mine);
    free(own);
    free(address);
    MPI_Finalize();
    return faults != 0;
}
