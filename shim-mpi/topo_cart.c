// SPDX-License-Identifier: BSD-3-Clause
// Cartesian topologies: grids, the last dimension varying fastest with the rank.
#include "check.h"
#include "topo.h"
#include "topo_map.h"

#include <stdlib.h>
#include <string.h>

static int size_of(const struct topology *t)
{
    int size = 1;
    for (int d = 0; d < t->cart.n; d++)
        size *= t->cart.dims[d];
    return size;
}

// The rank at coordinates that are within the dimensions.
static int rank_of(const struct topology *t, const int coords[])
{
    int rank = 0;
    for (int d = 0; d < t->cart.n; d++)
        rank = rank * t->cart.dims[d] + coords[d];
    return rank;
}

static void coords_of(const struct topology *t, int rank, int coords[])
{
    for (int d = t->cart.n - 1; d >= 0; d--) {
        coords[d] = rank % t->cart.dims[d];
        rank /= t->cart.dims[d];
    }
}

static int wrap(int64_t at, int n)
{
    return (int)((at % n + n) % n);
}

// The rank `disp` further along a dimension.
static int at_distance(const struct topology *t, int direction, int64_t disp)
{
    int below = 1, n = t->cart.dims[direction]; // below: ranks of a step
    for (int d = direction + 1; d < t->cart.n; d++)
        below *= t->cart.dims[d];
    int64_t at = t->cart.coords[direction] + disp;
    if (!t->cart.periods[direction] && (at < 0 || at >= n))
        return MPI_PROC_NULL;
    int here = rank_of(t, t->cart.coords);
    return here + (wrap(at, n) - t->cart.coords[direction]) * below;
}

void topology_shift(const struct topology *t, int direction, int disp, int *source,
                    int *destination)
{
    *source = at_distance(t, direction, -(int64_t)disp);
    *destination = at_distance(t, direction, disp);
}

static struct topology *cart_new(int n, const int dims[], const int periods[], int rank)
{
    struct topology *t = topology_new(MPI_CART, 3 * (size_t)n);
    if (!t)
        return NULL;
    t->cart.n = n;
    t->cart.dims = t->space;
    t->cart.periods = t->space + n;
    t->cart.coords = t->space + 2 * n;
    for (int d = 0; d < n; d++) {
        t->cart.dims[d] = dims[d];
        t->cart.periods[d] = periods[d] != 0;
    }
    if (rank != MPI_UNDEFINED)
        coords_of(t, rank, t->cart.coords);
    return t;
}

// ---- Making one
// Each of `least` at least.
static int check_dims(const char *call, struct comm *c, int ndims, const int dims[],
                      const int periods[], int least, int *size)
{
    int64_t all = 1;
    if (ndims < 0)
        return raise_on(c, MPI_ERR_DIMS, call, "ndims is %d", ndims);
    if (ndims > 0 && (!dims || !periods))
        return raise_on(c, MPI_ERR_ARG, call, "argument %s is NULL", dims ? "periods" : "dims");
    for (int d = 0; d < ndims; d++) {
        if (dims[d] < least)
            return raise_on(c, MPI_ERR_DIMS, call, "dims[%d] is %d", d, dims[d]);
        all *= dims[d];
        if (all > c->group->size)
            return raise_on(c, MPI_ERR_DIMS, call,
                            "the grid is larger than comm, which has %d "
                            "processes",
                            c->group->size);
    }
    *size = (int)all;
    return MPI_SUCCESS;
}

static int check_cart(const char *call, MPI_Comm handle, struct comm **c, const struct topology **t)
{
    return topology_check(call, handle, MPI_CART, c, t);
}

// The members in the order of their ranks to be. NULL: no memory, or *error.
static struct group *members_of(struct comm *c, int n, const int dims[], const int periods[],
                                int size, bool reorder, int *error)
{
    int *order = map_new_order(size);
    *error = order ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (order && reorder)
        *error = topology_place(c, n, dims, periods, size, order);
    if (*error) {
        free(order);
        return NULL;
    }
    return map_group(c, order, size);
}

MPI_DEFINE(int, Cart_create, MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
           int reorder, MPI_Comm *comm_cart)
{
    static const char call[] = "MPI_Cart_create";
    struct comm *c;
    int size;
    int error = check_intra(call, comm_old, &c);
    if (!error)
        error = check_dims(call, c, ndims, dims, periods, 1, &size);
    if (!error)
        error = check_pointer(call, c, "comm_cart", comm_cart);
    if (error)
        return error;
    struct group *g = members_of(c, ndims, dims, periods, size, reorder != 0, &error);
    if (error)
        return raise_on(c, error, call, "the processes could not be ordered");
    struct topology *t = g ? cart_new(ndims, dims, periods, g->rank) : NULL;
    error = topology_give(c, g, t, NULL, comm_cart, call);
    group_free(g);
    return error;
}

// Which processes have this one's coordinates in the dimensions that go.
static struct group *slice(const struct comm *c, const struct topology *t, const int remain[])
{
    int size = 1, *first = malloc(((size_t)t->cart.n + 1) * sizeof *first);
    for (int d = 0; first && d < t->cart.n; d++) {
        first[d] = remain[d] ? 0 : t->cart.coords[d];
        size *= remain[d] ? t->cart.dims[d] : 1;
    }
    int *pes = first ? malloc((size_t)size * sizeof *pes) : NULL;
    for (int i = 0; pes && i < size; i++) {
        pes[i] = group_pe(c->group, rank_of(t, first));
        for (int d = t->cart.n - 1; d >= 0; d--) { // count on, the last dimension first
            if (!remain[d])
                continue;
            if (++first[d] < t->cart.dims[d])
                break;
            first[d] = 0;
        }
    }
    free(first);
    return pes ? group_new(pes, size) : NULL;
}

// The grid of the dimensions that stay. NULL: no memory.
static struct topology *part_of(const struct topology *t, const int remain[], int rank)
{
    int n = 0, *dims = malloc((2 * (size_t)t->cart.n + 1) * sizeof *dims);
    if (!dims)
        return NULL;
    int *periods = dims + t->cart.n;
    for (int d = 0; d < t->cart.n; d++)
        if (remain[d]) {
            dims[n] = t->cart.dims[d];
            periods[n++] = t->cart.periods[d];
        }
    struct topology *part = cart_new(n, dims, periods, rank);
    free(dims);
    return part;
}

MPI_DEFINE(int, Cart_sub, MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    static const char call[] = "MPI_Cart_sub";
    struct comm *c;
    const struct topology *t;
    int error = check_cart(call, comm, &c, &t);
    if (!error && t->cart.n > 0)
        error = check_pointer(call, c, "remain_dims", remain_dims);
    if (!error)
        error = check_pointer(call, c, "newcomm", newcomm);
    if (error)
        return error;
    struct group *g = slice(c, t, remain_dims);
    struct topology *part = g ? part_of(t, remain_dims, g->rank) : NULL;
    error = topology_give(c, g, part, NULL, newcomm, call);
    group_free(g);
    return error;
}

// ---- Looking at one
MPI_DEFINE(int, Cartdim_get, MPI_Comm comm, int *ndims)
{
    static const char call[] = "MPI_Cartdim_get";
    struct comm *c;
    const struct topology *t;
    int error = check_cart(call, comm, &c, &t);
    if (!error)
        error = check_pointer(call, c, "ndims", ndims);
    if (!error)
        *ndims = t->cart.n;
    return error;
}

static int check_maxdims(const char *call, struct comm *c, const struct topology *t, int maxdims)
{
    if (maxdims >= t->cart.n)
        return MPI_SUCCESS;
    return raise_on(c, MPI_ERR_ARG, call, "maxdims is %d, the grid has %d dimensions", maxdims,
                    t->cart.n);
}

MPI_DEFINE(int, Cart_get, MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    static const char call[] = "MPI_Cart_get";
    struct comm *c;
    const struct topology *t;
    int error = check_cart(call, comm, &c, &t);
    if (!error)
        error = check_maxdims(call, c, t, maxdims);
    if (!error && t->cart.n > 0)
        error = check_pointer(call, c, "dims, periods or coords", dims && periods ? coords : NULL);
    if (error)
        return error;
    size_t n = (size_t)t->cart.n * sizeof(int);
    if (n) {
        memcpy(dims, t->cart.dims, n);
        memcpy(periods, t->cart.periods, n);
        memcpy(coords, t->cart.coords, n);
    }
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Cart_rank, MPI_Comm comm, const int coords[], int *rank)
{
    static const char call[] = "MPI_Cart_rank";
    struct comm *c;
    const struct topology *t;
    int error = check_cart(call, comm, &c, &t);
    if (!error && t->cart.n > 0)
        error = check_pointer(call, c, "coords", coords);
    if (!error)
        error = check_pointer(call, c, "rank", rank);
    if (error)
        return error;
    int found = 0;
    for (int d = 0; d < t->cart.n; d++) {
        int n = t->cart.dims[d];
        if (!t->cart.periods[d] && (coords[d] < 0 || coords[d] >= n))
            return raise_on(c, MPI_ERR_ARG, call,
                            "coords[%d] is %d, of a dimension of %d that is "
                            "not periodic",
                            d, coords[d], n);
        found = found * n + wrap(coords[d], n);
    }
    *rank = found;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Cart_coords, MPI_Comm comm, int rank, int maxdims, int coords[])
{
    static const char call[] = "MPI_Cart_coords";
    struct comm *c;
    const struct topology *t;
    int error = check_cart(call, comm, &c, &t);
    if (!error)
        error = check_maxdims(call, c, t, maxdims);
    if (!error && t->cart.n > 0)
        error = check_pointer(call, c, "coords", coords);
    if (error)
        return error;
    if (rank < 0 || rank >= size_of(t))
        return raise_on(c, MPI_ERR_RANK, call, "rank %d: there are ranks 0 to %d", rank,
                        size_of(t) - 1);
    coords_of(t, rank, coords);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Cart_shift, MPI_Comm comm, int direction, int disp, int *rank_source,
           int *rank_dest)
{
    static const char call[] = "MPI_Cart_shift";
    struct comm *c;
    const struct topology *t;
    int error = check_cart(call, comm, &c, &t);
    if (!error)
        error = check_pointer(call, c, "rank_source", rank_source);
    if (!error)
        error = check_pointer(call, c, "rank_dest", rank_dest);
    if (error)
        return error;
    if (direction < 0 || direction >= t->cart.n)
        return raise_on(c, MPI_ERR_ARG, call, "direction is %d, the grid has %d dimensions",
                        direction, t->cart.n);
    topology_shift(t, direction, disp, rank_source, rank_dest);
    return MPI_SUCCESS;
}

// A grid of nobody, which the standard does not call an error, has no place for anybody.
MPI_DEFINE(int, Cart_map, MPI_Comm comm, int ndims, const int dims[], const int periods[],
           int *newrank)
{
    static const char call[] = "MPI_Cart_map";
    struct comm *c;
    int size;
    int error = check_intra(call, comm, &c);
    if (!error)
        error = check_dims(call, c, ndims, dims, periods, 0, &size);
    if (!error)
        error = check_pointer(call, c, "newrank", newrank);
    if (!error)
        *newrank = c->rank < size ? c->rank : MPI_UNDEFINED;
    return error;
}
