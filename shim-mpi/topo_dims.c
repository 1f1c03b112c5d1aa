// SPDX-License-Identifier: BSD-3-Clause
// MPI_Dims_create: factors as close to each other as there are: with the least difference between
// the largest and the smallest; of those, with the largest smallest one, the largest second smallest,
// and so on. All divisors are tried, the largest factor first and each no larger than the one before
// it; what cannot be as good as the best so far is not looked into.
#include "check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct search {
    int n, divisors;
    int *divisor;    // of the whole, rising
    int *now, *best; // n factors each, falling
    int spread;      // of best: its largest factor minus its smallest
};

static void take(struct search *s)
{
    int spread = s->now[0] - s->now[s->n - 1];
    int i = s->n - 1;
    while (i > 0 && s->now[i] == s->best[i])
        i--;
    if (spread > s->spread || (spread == s->spread && s->now[i] <= s->best[i]))
        return;
    s->spread = spread;
    memcpy(s->best, s->now, (size_t)s->n * sizeof *s->best);
}

// Could n factors of at least `least` each make no more than `left`?
static bool fits(int least, int n, int left)
{
    int64_t product = 1;
    for (int i = 0; i < n && product <= left; i++)
        product *= least;
    return product <= left;
}

// Could n factors of at most `most` each make `left`?
static bool reaches(int most, int n, int left)
{
    int64_t product = 1;
    for (int i = 0; i < n && product < left; i++)
        product *= most;
    return product >= left;
}

static void place(struct search *s, int i, int left)
{
    int most = i > 0 ? s->now[i - 1] : left, rest = s->n - i;
    if (rest == 1) {
        s->now[i] = left;
        if (left <= most)
            take(s);
        return;
    }
    for (int k = 0; k < s->divisors && s->divisor[k] <= most; k++) {
        int d = s->divisor[k];
        if (left % d || !reaches(d, rest, left))
            continue;
        // No factor may be smaller in a better result.
        int least = (i > 0 ? s->now[0] : d) - s->spread;
        if (s->spread < INT_MAX && least > 1 && !fits(least, rest, left))
            return;
        s->now[i] = d;
        place(s, i + 1, left / d);
    }
}

static int list_divisors(int n, int *out) // room for as many as 2 sqrt(n)
{
    int count = 0, upper = 0;
    for (int d = 1; (int64_t)d * d <= n; d++)
        if (n % d == 0)
            out[count++] = d;
    upper = count;
    for (int i = upper - 1; i >= 0; i--)
        if (n / out[i] != out[i])
            out[count++] = n / out[i];
    return count;
}

enum { MOST_DIVISORS = 1600 }; // of any int

// n factors of `whole`; false: no memory.
static bool balance(int whole, int n, int *factors)
{
    int *space = malloc((MOST_DIVISORS + (size_t)n) * sizeof *space);
    if (!space)
        return false;
    struct search s = {n,      list_divisors(whole, space), space, space + MOST_DIVISORS, factors,
                       INT_MAX};
    place(&s, 0, whole);
    free(space);
    return true;
}

MPI_DEFINE(int, Dims_create, int nnodes, int ndims, int dims[])
{
    static const char call[] = "MPI_Dims_create";
    if (nnodes <= 0 || ndims < 0)
        return raise_on(NULL, nnodes <= 0 ? MPI_ERR_ARG : MPI_ERR_DIMS, call,
                        "nnodes is %d, ndims %d", nnodes, ndims);
    if (ndims > 0 && !dims)
        return raise_null(call, "dims");
    int free_dims = 0, left = nnodes;
    for (int d = 0; d < ndims; d++) {
        if (dims[d] < 0 || (dims[d] > 0 && left % dims[d]))
            return raise_on(NULL, MPI_ERR_DIMS, call, "dims[%d] is %d, which does not divide %d", d,
                            dims[d], left);
        left /= dims[d] ? dims[d] : 1;
        free_dims += dims[d] == 0;
    }
    if (free_dims == 0)
        return left == 1
                   ? MPI_SUCCESS
                   : raise_on(NULL, MPI_ERR_DIMS, call, "the product of dims is not %d", nnodes);
    int *factors = calloc((size_t)free_dims, sizeof *factors);
    if (!factors || !balance(left, free_dims, factors)) {
        free(factors);
        return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory");
    }
    for (int d = 0, k = 0; d < ndims; d++)
        if (dims[d] == 0)
            dims[d] = factors[k++];
    free(factors);
    return MPI_SUCCESS;
}
