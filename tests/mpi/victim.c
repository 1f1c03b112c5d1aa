// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 is killed while messages go to it or from it (victim.h). Where a step is at a place of its own, it
// kills itself there, and `told`, a store that takes no part in any protocol, keeps the others until it has
// come there. Where data is on its way, rank 2 watches it come, and kills.
// PES: none
#include "victim.h"

enum { WATCHER = 2, LONG = 16 << 20, HALF = LONG / 2, PARTS = 4, MANY = 700 };

static int told, pid, zero, one = 1;
static char *in, *out; // room for LONG: symmetric, private
static MPI_Comm world = MPI_COMM_WORLD;
static MPI_Request r = MPI_REQUEST_NULL, many[MANY];

static void tell(int pe)
{
    shmem_int_atomic_set(&told, 1, pe);
}

// Without the library's help: nothing goes on here meanwhile.
static void await_told(void)
{
    while (!shmem_int_atomic_fetch(&told, me))
        sched_yield();
}

// The other one goes on when this one is dying, or dead.
static void tell_and_die(int pe)
{
    tell(pe);
    raise(SIGKILL);
}

// ---- Channels
static void send_short(int n, int to)
{
    for (int i = 0; i < n; i++)
        MPI_Isend(&one, 1, MPI_INT, to, 0, world, &many[i]);
}

// All that was sent comes, and then one more does not. Where the victim has a ring of its own into the
// inbox of rank 0 by then, it is read after its sender's death.
// Of n messages so many are received.
static void sent(int n, int received)
{
    if (me == VICTIM) {
        send_short(n, 0);
        must_be(counter_read(&counter) > 0);
        tell_and_die(0);
    }
    if (me == 0)
        await_told();
    for (int i = 0; i < received && me == 0; i++)
        MPI_Recv(&zero, 1, MPI_INT, VICTIM, 0, world, MPI_STATUS_IGNORE);
}

static void sent_some(int n)
{
    sent(n, n + 1);
}

static void in_ring(int n)
{
    for (int i = 0; i < 300; i++) {
        if (me == VICTIM)
            MPI_Ssend(&one, 1, MPI_INT, 0, 1, world);
        if (me == 0)
            MPI_Recv(&zero, 1, MPI_INT, VICTIM, 1, world, MPI_STATUS_IGNORE);
    }
    sent_some(n);
}

// The victim's inbox has no room: what comes later waits at its sender, which then waits in a call.
static void full_inbox(int waits)
{
    if (me == 0) {
        send_short(MANY, VICTIM);
        must_be(counter_read(&counter) > 0);
        tell(VICTIM);
        if (waits)
            MPI_Ssend(&one, 1, MPI_INT, VICTIM, 0, world);
        MPI_Waitall(MANY, many, MPI_STATUSES_IGNORE);
    } else if (me == VICTIM) {
        await_told();
        raise(SIGKILL);
    }
}

// And what the victim had no room for never goes.
static void full_outbox(int n)
{
    sent(n, n);
}

// ---- Envelopes
enum { FROM, TO };

static void envelope_from(int bytes)
{
    if (me == VICTIM) {
        MPI_Isend(out, bytes, MPI_BYTE, 0, 0, world, &r);
        must_be(counter_read(&counter) > 0);
        tell_and_die(0);
    }
    if (me == 0) {
        await_told();
        MPI_Recv(in, bytes, MPI_BYTE, VICTIM, 0, world, MPI_STATUS_IGNORE);
    }
}

static void envelope_to(int bytes)
{
    if (me == 0) {
        MPI_Isend(out, bytes, MPI_BYTE, VICTIM, 0, world, &r);
        must_be(counter_read(&counter) > 0);
        tell(VICTIM);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else if (me == VICTIM) {
        await_told();
        raise(SIGKILL);
    }
}

// Synchronous ones are answered by whoever matches them.
static void synchronous(int way)
{
    if (me == (way == FROM ? VICTIM : 0)) {
        MPI_Issend(&one, 1, MPI_INT, way == FROM ? 0 : VICTIM, 0, world, &r);
        must_be(counter_read(&counter) > 0);
        if (way == FROM)
            tell_and_die(0);
        tell(VICTIM);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else if (me < 2) {
        await_told();
        if (way == TO)
            raise(SIGKILL);
        MPI_Recv(&zero, 1, MPI_INT, VICTIM, 0, world, MPI_STATUS_IGNORE);
    }
}

static void probing(int source)
{
    if (me == VICTIM)
        raise(SIGKILL);
    if (me == 0)
        MPI_Probe(source, 0, world, MPI_STATUS_IGNORE);
}

static void receiving(int source)
{
    if (me == VICTIM)
        raise(SIGKILL);
    if (me == 0)
        MPI_Recv(&zero, 1, MPI_INT, source, 0, world, MPI_STATUS_IGNORE);
}

// It has taken the message out of the queues, or only seen it.
static void probed(int is_taken)
{
    MPI_Message m;
    if (me == 0)
        MPI_Ssend(out, LONG, MPI_BYTE, VICTIM, 0, world);
    if (me == VICTIM && is_taken)
        MPI_Mprobe(0, 0, world, &m, MPI_STATUS_IGNORE);
    if (me == VICTIM && !is_taken)
        MPI_Probe(0, 0, world, MPI_STATUS_IGNORE);
    if (me == VICTIM)
        raise(SIGKILL);
}

// The victim does not say whether it had matched it.
static void cancelled(int n)
{
    if (me == VICTIM) {
        await_told();
        raise(SIGKILL);
    }
    if (me == 0) {
        MPI_Issend(out, n, MPI_BYTE, VICTIM, 0, world, &r);
        MPI_Cancel(&r);
        tell(VICTIM);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void buffered(int n)
{
    void *buffer = malloc((size_t)n + MPI_BSEND_OVERHEAD);
    if (me == 0) {
        MPI_Buffer_attach(buffer, n + MPI_BSEND_OVERHEAD);
        MPI_Bsend(out, n, MPI_BYTE, VICTIM, 0, world);
        tell(VICTIM);
        MPI_Buffer_detach(&buffer, &n);
    } else if (me == VICTIM) {
        await_told();
        raise(SIGKILL);
    }
}

// Half of its partitions are ready.
static void partitioned(int way)
{
    bool sends = me == (way == FROM ? VICTIM : 0);
    if (me == WATCHER)
        return;
    if (sends)
        MPI_Psend_init(out, PARTS, HALF / PARTS, MPI_BYTE, 1 - me, 0, world, MPI_INFO_NULL, &r);
    else
        MPI_Precv_init(in, PARTS, HALF / PARTS, MPI_BYTE, 1 - me, 0, world, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    for (int i = 0; sends && i < PARTS / 2; i++)
        MPI_Pready(i, r);
    if (me == VICTIM)
        raise(SIGKILL);
    for (int i = PARTS / 2; sends && i < PARTS; i++)
        MPI_Pready(i, r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

// ---- Data on its way, from or to the victim: HALF bytes in the way that the settings make it go
static void kill_when_it_comes(int receiver)
{
    const volatile char *byte = shmem_ptr(in, receiver);
    while (!(byte ? *byte : shmem_char_g(in, receiver)))
        sched_yield();
    kill(shmem_int_atomic_fetch(&pid, VICTIM), SIGKILL);
    pause();
}

static void move(int receiver, bool is_posted)
{
    if (me == receiver && is_posted) { // and the sender does it
        MPI_Irecv(in, HALF, MPI_BYTE, 1 - me, 0, world, &r);
        tell(1 - me);
        pause();
    } else if (me == receiver) {
        MPI_Recv(in, HALF, MPI_BYTE, 1 - me, 0, world, MPI_STATUS_IGNORE);
    } else {
        if (is_posted)
            await_told();
        MPI_Send(out, HALF, MPI_BYTE, 1 - me, 0, world);
    }
}

// Once to see that it goes that way, and then until the watcher kills.
static void move_until(int way, bool is_posted)
{
    int receiver = way == FROM ? 0 : VICTIM;
    unsigned long long mine, sum;
    memset(out, 0, HALF);
    if (me != WATCHER && !is_posted)
        move(receiver, false);
    mine = is_posted || counter_read(&counter) > 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, world);
    must_be(sum > 0);
    memset(out, 1, HALF);
    MPI_Barrier(world);
    if (me == WATCHER)
        kill_when_it_comes(receiver);
    for (;;)
        move(receiver, is_posted);
}

static void moving(int way)
{
    move_until(way, false);
}

static void following(int way)
{
    move_until(way, true);
}

// ---- Any place in many of them
static void exchanging(int bytes)
{
    if (me == VICTIM)
        die_soon();
    while (me < 2)
        MPI_Sendrecv(out, bytes, MPI_BYTE, 1 - me, 0, in, bytes, MPI_BYTE, 1 - me, 0, world,
                     MPI_STATUS_IGNORE);
}

#define GET "SHOAL_MPI_STAGE=0 SHOAL_MPI_SPLIT=0 SHOAL_MPI_HINT=0"
static const struct step steps[] = {
    {"eager", "", sent_some, 3, "eager"},
    {"eager-in-ring", "", in_ring, 3, "eager"},
    {"full-inbox", "", full_inbox, false, "kept"},
    {"full-inbox-waits", "", full_inbox, true, "kept"},
    {"full-outbox", "", full_outbox, MANY, "kept"},
    {"held-back", "SHOAL_MPI_WINDOW=1k SHOAL_MPI_STAGE=0", sent_some, MANY, "held_back"},
    {"envelope-from", GET, envelope_from, LONG, "rendezvous"},
    {"envelope-to", GET, envelope_to, LONG, "rendezvous"},
    {"stage-from", "", envelope_from, 100000, "staged"},
    {"stage-to", "", envelope_to, 100000, "staged"},
    {"synchronous-from", "", synchronous, FROM, "synchronous"},
    {"synchronous-to", "", synchronous, TO, "synchronous"},
    {"probing", "", probing, VICTIM, NULL},
    {"probing-any", "", probing, MPI_ANY_SOURCE, NULL},
    {"receiving", "", receiving, VICTIM, NULL},
    {"receiving-any", "", receiving, MPI_ANY_SOURCE, NULL},
    {"probed", "", probed, false, NULL},
    {"taken", "", probed, true, NULL},
    {"cancel", "", cancelled, 4, NULL},
    {"cancel-envelope", "", cancelled, LONG, NULL},
    {"buffered", GET, buffered, HALF, NULL},
    {"partitions-from", "", partitioned, FROM, NULL},
    {"partitions-to", "", partitioned, TO, NULL},
    {"get-from", GET, moving, FROM, "pull"},
    {"get-to", GET, moving, TO, "pull"},
    {"helped-from", GET " SHOAL_CROSS_MEMORY=0", moving, FROM, "pull"},
    {"helped-to", GET " SHOAL_CROSS_MEMORY=0", moving, TO, "pull"},
    {"staged-from", "SHOAL_MPI_STAGE=32m SHOAL_MPI_HINT=0", moving, FROM, "staged"},
    {"staged-to", "SHOAL_MPI_STAGE=32m SHOAL_MPI_HINT=0", moving, TO, "staged"},
    {"split-from", "SHOAL_MPI_STAGE=0 SHOAL_MPI_HINT=0", moving, FROM, "split"},
    {"split-to", "SHOAL_MPI_STAGE=0 SHOAL_MPI_HINT=0", moving, TO, "split"},
    {"hint-from", "SHOAL_MPI_STAGE=0", following, FROM, "hint"},
    {"hint-to", "SHOAL_MPI_STAGE=0", following, TO, "hint"},
    {"pieces-from", "SHOAL_MPI_STREAM=1", moving, FROM, "stream"},
    {"pieces-to", "SHOAL_MPI_STREAM=1", moving, TO, "stream"},
    {"pair", "", exchanging, 8, NULL},
    {"pair-long", "", exchanging, 40000, NULL},
    {"pair-pieces", "SHOAL_MPI_STREAM=1", exchanging, 100000, NULL},
};

int main(int argc, char **argv)
{
    const struct step *step = find_step(steps, sizeof steps / sizeof steps[0], argc, argv);
    shmem_init();
    in = shmem_calloc(LONG, 1);
    out = must_alloc(LONG);
    for (int pe = 0; pe < npes && me == VICTIM; pe++)
        shmem_int_atomic_set(&pid, (int)getpid(), pe);
    shmem_barrier_all();
    step->run(step->how);
    for (;;) // nothing more comes
        MPI_Barrier(world);
}
