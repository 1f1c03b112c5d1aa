// SPDX-License-Identifier: BSD-3-Clause
// Messages to oneself, by every protocol, with receives posted before and after: they come in their order
// and whole.
#ifndef TESTS_MPI_SELF_H
#define TESTS_MPI_SELF_H

#include "mpi_check.h"

enum { ROUNDS = 25, BURST = 100, LARGEST = 150000, TAG = 7 };

struct message {
    MPI_Request request;
    unsigned char *data;
    int n;
};

static inline int some_length(uint64_t *state)
{
    int most = rnd_below(state, 10) == 0 ? LARGEST : rnd_below(state, 3) == 0 ? 5000 : 100;
    return (int)rnd_below(state, (uint64_t)most) + 4;
}

static inline void send_one(struct message *m, int number, uint64_t *state, MPI_Comm c)
{
    m->n = some_length(state);
    m->data = must_alloc((size_t)m->n);
    fill(m->data, (size_t)m->n, (unsigned)number);
    memcpy(m->data, &number, sizeof number);
    bool is_sync = rnd_below(state, 4) == 0;
    OK((is_sync ? MPI_Issend : MPI_Isend)(m->data, m->n, MPI_BYTE, me, TAG, c, &m->request));
}

static inline void post(struct message *m, uint64_t *state, MPI_Comm c)
{
    m->n = LARGEST + 4;
    m->data = must_alloc((size_t)m->n);
    OK(MPI_Irecv(m->data, m->n, MPI_BYTE, rnd_below(state, 2) ? me : MPI_ANY_SOURCE,
                 rnd_below(state, 2) ? TAG : MPI_ANY_TAG, c, &m->request));
}

static inline void expect(struct message *m, int number, const struct message *sent)
{
    MPI_Status s;
    int n = -1, got = -1;
    OK(MPI_Wait(&m->request, &s));
    OK(MPI_Get_count(&s, MPI_BYTE, &n));
    CHECK_EQ(s.MPI_SOURCE, me);
    CHECK_EQ(n, sent->n);
    memcpy(&got, m->data, sizeof got);
    CHECK_EQ(got, number);
    CHECK_MEM(m->data, sent->data, (size_t)sent->n, "a message to oneself");
}

// Some receives come before the messages, some between, some after: held back are those beyond what a
// process keeps unreceived.
static inline void burst(MPI_Comm c, uint64_t *state)
{
    static const int posted_first[] = {0, 10, BURST};
    struct message out[BURST], in[BURST];
    int before = posted_first[rnd_below(state, 3)], posted = 0;
    for (; posted < before; posted++)
        post(&in[posted], state, c);
    for (int i = 0; i < BURST; i++) {
        send_one(&out[i], i, state, c);
        for (; posted < BURST && rnd_below(state, 3) == 0; posted++)
            post(&in[posted], state, c);
    }
    for (; posted < BURST; posted++)
        post(&in[posted], state, c);
    for (int i = 0; i < BURST; i++) {
        expect(&in[i], i, &out[i]);
        OK(MPI_Wait(&out[i].request, MPI_STATUS_IGNORE));
        free(in[i].data);
        free(out[i].data);
    }
}

#endif
