// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 is killed in some phase of the use of a window (rma_kill.sh), while the others use it, or
// wait for what rank 1 has or owes.
// PES: none
#include "victim.h"

enum { ROOM = 4096, N = ROOM / (int)sizeof(long), REGIONS = 100 };
static long *p, one = 1, old;
static MPI_Aint base; // of the victim's memory in the window
static long double wide = 1;
static MPI_Win win;
static MPI_Group all;

static void sleep_to_death(void)
{
    die_soon();
    for (;;)
        pause();
}

static void make_private(void)
{
    MPI_Win_free(&win);
    MPI_Win_create(must_alloc(ROOM), ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}

static void make_dynamic(void)
{
    void *memory = must_alloc(ROOM);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, ROOM);
    MPI_Get_address(memory, &base);
    MPI_Bcast(&base, 1, MPI_AINT, VICTIM, MPI_COMM_WORLD);
}

static void use_forever(void)
{
    for (;;) {
        MPI_Put(&one, 1, MPI_LONG, VICTIM, base, 1, MPI_LONG, win);
        MPI_Fetch_and_op(&one, &old, MPI_LONG, VICTIM, base, MPI_SUM, win);
        MPI_Accumulate(&wide, 1, MPI_LONG_DOUBLE, VICTIM, base, 1, MPI_LONG_DOUBLE, MPI_SUM, win);
        MPI_Win_flush(VICTIM, win);
    }
}

static void request_forever(void)
{
    static long in[2][N], out[N];
    MPI_Request r[4];
    for (;;) {
        MPI_Rput(out, N, MPI_LONG, VICTIM, base, N, MPI_LONG, win, &r[0]);
        MPI_Rget(in[0], N, MPI_LONG, VICTIM, base, N, MPI_LONG, win, &r[1]);
        MPI_Raccumulate(out, N, MPI_LONG, VICTIM, base, N, MPI_LONG, MPI_SUM, win, &r[2]);
        MPI_Rget_accumulate(out, N, MPI_LONG, in[1], N, MPI_LONG, VICTIM, base, N, MPI_LONG,
                            MPI_SUM, win, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
}

// The victim is the target, or (is_user) an origin like the others, perhaps within an accumulate.
static void die_used(int is_user, void (*use)(void))
{
    MPI_Win_lock_all(0, win);
    if (me == VICTIM && !is_user)
        sleep_to_death();
    if (me == VICTIM)
        die_soon();
    use();
}

static void used(int is_user)
{
    die_used(is_user, use_forever);
}

static void requested(int is_user)
{
    die_used(is_user, request_forever);
}

// The others look at the victim's table of what is attached while it changes.
static void attaching(int size)
{
    static char memory[REGIONS][64];
    MPI_Win_lock_all(0, win);
    if (me != VICTIM)
        use_forever();
    die_soon();
    for (;;) {
        for (int i = 0; i < REGIONS; i++)
            MPI_Win_attach(win, memory[i], size);
        for (int i = 0; i < REGIONS; i++)
            MPI_Win_detach(win, memory[i]);
    }
}

// By MPI_Win_lock_all (type 0) a target is locked at its first use.
static void locked(int type)
{
    if (me == VICTIM && type)
        MPI_Win_lock(type, 0, 0, win);
    else if (me == VICTIM) {
        MPI_Win_lock_all(0, win);
        MPI_Get(&old, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == VICTIM)
        sleep_to_death();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Win_unlock(0, win);
}

static void contended(int type)
{
    if (me == VICTIM)
        die_soon();
    for (;;) {
        MPI_Win_lock(type, 0, 0, win);
        MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
}

// It does not come to a fence, or (is_running) dies somewhere while epochs come and go.
static void fenced(int is_running)
{
    MPI_Win_fence(0, win);
    if (me == VICTIM && !is_running)
        sleep_to_death();
    if (me == VICTIM)
        die_soon();
    do {
        MPI_Put(&one, 1, MPI_LONG, VICTIM, 0, 1, MPI_LONG, win);
        MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
    } while (is_running);
}

static void epoch(void)
{
    MPI_Win_start(all, 0, win);
    MPI_Put(&one, 1, MPI_LONG, VICTIM, 0, 1, MPI_LONG, win);
    MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
}

// It has posted, or not, and does not complete.
static void exposed(int has_posted)
{
    if (me != VICTIM || has_posted)
        MPI_Win_post(all, 0, win);
    if (me == VICTIM)
        sleep_to_death();
    epoch();
}

static void exposing(int assertion)
{
    if (me == VICTIM)
        die_soon();
    for (;;) {
        MPI_Win_post(all, assertion, win);
        epoch();
    }
}

static void absent(int what)
{
    MPI_Win other;
    if (me == VICTIM)
        sleep_to_death();
    if (what == MPI_WIN_FLAVOR_ALLOCATE)
        MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &other);
    else if (what == MPI_WIN_FLAVOR_SHARED)
        MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &other);
    else if (what == MPI_WIN_FLAVOR_DYNAMIC)
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &other);
    else
        MPI_Win_free(&win);
}

static const struct {
    const char *name;
    void (*run)(int how);
    int how;
} phases[] = {
    {"target", used, false},
    {"origin", used, true},
    {"requested", requested, false},
    {"requesting", requested, true},
    {"attach", attaching, 64},
    {"lock", locked, MPI_LOCK_EXCLUSIVE},
    {"shared-lock", locked, MPI_LOCK_SHARED},
    {"lock-all", locked, 0},
    {"contention", contended, MPI_LOCK_EXCLUSIVE},
    {"fence", fenced, false},
    {"fences", fenced, true},
    {"post", exposed, false},
    {"complete", exposed, true},
    {"epochs", exposing, 0},
    {"create", absent, MPI_WIN_FLAVOR_ALLOCATE},
    {"create-shared", absent, MPI_WIN_FLAVOR_SHARED},
    {"create-dynamic", absent, MPI_WIN_FLAVOR_DYNAMIC},
    {"free", absent, 0},
};

// "private-" and "dynamic-" say which window it is, if not one of MPI_Win_allocate.
static const char *make_window(const char *phase)
{
    OK(MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    if (!strncmp(phase, "private-", 8))
        make_private();
    else if (!strncmp(phase, "dynamic-", 8))
        make_dynamic();
    else
        return phase;
    return phase + 8;
}

int main(int argc, char **argv)
{
    size_t i = 0, n = sizeof phases / sizeof phases[0];
    mpi_start();
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    const char *phase = make_window(argc > 1 ? argv[1] : "");
    printf("%d\n", (int)getpid()); // which nobody may see any more when the job has ended
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    while (i < n && strcmp(phase, phases[i].name))
        i++;
    if (i == n)
        MPI_Abort(MPI_COMM_WORLD, 2);
    phases[i].run(phases[i].how);
    for (;;) // nothing more comes
        MPI_Barrier(MPI_COMM_WORLD);
}
