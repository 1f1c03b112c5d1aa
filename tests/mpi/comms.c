// SPDX-License-Identifier: BSD-3-Clause
// Random trees of communicators against lists of ranks of the world: every process makes the same
// choices, so that all know who is in which. Each new one is asked who is in it, and used.
// ALSO: 16
#include "mpi_check.h"

enum { MOST = 16, KEPT = 6, ROUNDS = 60 };

struct known {
    MPI_Comm comm; // MPI_COMM_NULL where this process is not in it
    int n, at[MOST];
};

static int find(const struct known *k, int rank)
{
    for (int i = 0; i < k->n; i++)
        if (k->at[i] == rank)
            return i;
    return -1;
}

static void check_known(const struct known *k)
{
    int size, rank, ranks[MOST], mine = 1 << me, all = 0, expect = 0, got = -1;
    CHECK_EQ(k->comm != MPI_COMM_NULL, find(k, me) >= 0);
    if (k->comm == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_size(k->comm, &size));
    OK(MPI_Comm_rank(k->comm, &rank));
    CHECK_EQ(size, k->n);
    CHECK_EQ(rank, find(k, me));
    OK(MPI_Allgather(&me, 1, MPI_INT, ranks, 1, MPI_INT, k->comm));
    CHECK_EACH(i, k->n, ranks[i], k->at[i]);
    for (int i = 0; i < k->n; i++)
        expect |= 1 << k->at[i];
    OK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_BOR, k->comm));
    CHECK_EQ(all, expect);
    OK(MPI_Sendrecv(&me, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT,
                    (rank + size - 1) % size, 3, k->comm, MPI_STATUS_IGNORE));
    CHECK_EQ(got, k->at[(rank + size - 1) % size]);
}

// A group of some of k's processes in some order.
static MPI_Group choose(uint64_t *seed, const struct known *k, struct known *chosen)
{
    MPI_Group world, g;
    int n = 1 + (int)rnd_below(seed, (size_t)k->n);
    chosen->n = 0;
    while (chosen->n < n) {
        int rank = k->at[rnd_below(seed, (size_t)k->n)];
        if (find(chosen, rank) < 0)
            chosen->at[chosen->n++] = rank;
    }
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, n, chosen->at, &g));
    OK(MPI_Group_free(&world));
    return g;
}

// Colors and keys are drawn for all, in the order of the world's ranks.
static void split(uint64_t *seed, const struct known *k, struct known *out)
{
    int colors[MOST], keys[MOST];
    for (int i = 0; i < npes; i++) {
        colors[i] = (int)rnd_below(seed, 3) - 1;
        keys[i] = (int)rnd_below(seed, 4) * 1000003 - 2000000;
    }
    out->n = 0;
    out->comm = MPI_COMM_NULL;
    if (k->comm != MPI_COMM_NULL)
        OK(MPI_Comm_split(k->comm, colors[me] < 0 ? MPI_UNDEFINED : colors[me], keys[me],
                          &out->comm));
    // The model: the part of this process; for the others the part of color 0.
    int color = find(k, me) >= 0 && colors[me] >= 0 ? colors[me] : 0;
    for (int i = 0; i < k->n; i++)
        if (colors[k->at[i]] == color) {
            int j = out->n++;
            for (; j > 0 && keys[out->at[j - 1]] > keys[k->at[i]]; j--)
                out->at[j] = out->at[j - 1];
            out->at[j] = k->at[i];
        }
}

static void dup(uint64_t *seed, const struct known *k, struct known *out)
{
    MPI_Request r;
    int how = (int)rnd_below(seed, 3), result;
    *out = *k;
    if (k->comm == MPI_COMM_NULL)
        return;
    if (how == 0)
        OK(MPI_Comm_dup(k->comm, &out->comm));
    else if (how == 1)
        OK(MPI_Comm_dup_with_info(k->comm, MPI_INFO_NULL, &out->comm));
    else {
        OK(MPI_Comm_idup(k->comm, &out->comm, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
    OK(MPI_Comm_compare(k->comm, out->comm, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
}

static void grow(uint64_t *seed, const struct known *k, struct known *out)
{
    MPI_Group g;
    int tag = (int)rnd_below(seed, 100);
    switch (rnd_below(seed, 4)) {
    case 0: dup(seed, k, out); return;
    case 1: split(seed, k, out); return;
    case 2:
        g = choose(seed, k, out);
        out->comm = MPI_COMM_NULL;
        if (k->comm != MPI_COMM_NULL)
            OK(MPI_Comm_create(k->comm, g, &out->comm));
        break;
    default: // by its members alone
        g = choose(seed, k, out);
        out->comm = MPI_COMM_NULL;
        if (find(out, me) >= 0)
            OK(MPI_Comm_create_group(k->comm, g, tag, &out->comm));
    }
    OK(MPI_Group_free(&g));
}

int main(void)
{
    struct known kept[KEPT] = {{.comm = MPI_COMM_WORLD}};
    uint64_t seed = 11;
    mpi_start();
    if (npes > MOST)
        check_skip("for 16 processes at most");
    for (int k = 0; k < KEPT; k++) {
        kept[k].comm = k == 0 ? MPI_COMM_WORLD : MPI_COMM_NULL;
        kept[k].n = k == 0 ? npes : 0;
        for (int i = 0; i < kept[k].n; i++)
            kept[k].at[i] = i;
    }
    for (int round = 0; round < ROUNDS; round++) {
        int to = 1 + (int)rnd_below(&seed, KEPT - 1);
        uint64_t own = rnd(&seed);
        struct known new;
        grow(&own, &kept[0], &new);
        check_known(&new);
        struct known deeper = {.comm = MPI_COMM_NULL};
        if (new.comm != MPI_COMM_NULL) {
            uint64_t below = own + (uint64_t) new.at[0]; // one for each part
            grow(&below, &new, &deeper);
            check_known(&deeper);
        }
        if (deeper.comm != MPI_COMM_NULL)
            OK(MPI_Comm_free(&deeper.comm));
        if (kept[to].comm != MPI_COMM_NULL)
            OK(MPI_Comm_free(&kept[to].comm));
        kept[to] = new;
    }
    for (int k = 1; k < KEPT; k++)
        if (kept[k].comm != MPI_COMM_NULL) {
            check_known(&kept[k]); // those that are left work still
            OK(k % 2 ? MPI_Comm_free(&kept[k].comm) : MPI_Comm_disconnect(&kept[k].comm));
        }
    return mpi_done();
}
