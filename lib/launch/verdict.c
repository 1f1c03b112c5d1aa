// SPDX-License-Identifier: BSD-3-Clause
// Deaths in words. See verdict.h.
#include "verdict.h"

#include "call.h"
#include "job.h"
#include "launch.h"
#include "libc.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

bool verdict_in_init(const struct death *d)
{
    return d->state == PE_CLAIMED && (uint16_t)d->call == CALL_init;
}

enum verdict verdict_of(const struct death *d)
{
    if (WIFSIGNALED(d->status))
        return VERDICT_FATAL;
    if (d->state == PE_FINALIZED || d->state == PE_LEFT)
        return WEXITSTATUS(d->status) ? VERDICT_LATE : VERDICT_FINE;
    if (WEXITSTATUS(d->status) || d->state == PE_RUNNING || verdict_in_init(d))
        return VERDICT_FATAL;
    return VERDICT_ABSENT;
}

int verdict_status(const struct death *d)
{
    if (WIFSIGNALED(d->status))
        return STATUS_SIGNAL + WTERMSIG(d->status);
    return WEXITSTATUS(d->status) ? WEXITSTATUS(d->status) : STATUS_OWN;
}

// How the words go on after "was killed by ..." or "exited with status 3".
static void describe_place(const struct death *d, char *text, size_t size)
{
    char call[96];
    call_describe(d->call, &d->told, call, sizeof call);
    if (d->state == PE_NONE)
        snprintf(text, size, "%s", "");
    else if (d->state == PE_FINALIZED)
        snprintf(text, size, " after shmem_finalize");
    else if (call[0] && call_blocks(d->call))
        snprintf(text, size, " in %s", call);
    else if (call[0])
        snprintf(text, size, "; last Shoal call: %s", call);
    else if (d->state == PE_CLAIMED)
        snprintf(text, size, " before shmem_init");
    else
        snprintf(text, size, " in no call that waits");
}

void verdict_describe(const struct death *d, char *text, size_t size)
{
    char place[128], how[288];
    describe_place(d, place, sizeof place);
    if (WIFSIGNALED(d->status)) {
        int sig = WTERMSIG(d->status);
        const char *name = libc_signal_name(sig);
        if (name)
            snprintf(how, sizeof how, "was killed by SIG%s (%s)%s", name, strsignal(sig), place);
        else
            snprintf(how, sizeof how, "was killed by signal %d (%s)%s", sig, strsignal(sig), place);
    } else if (WEXITSTATUS(d->status)) {
        snprintf(how, sizeof how, "exited with status %d%s", WEXITSTATUS(d->status), place);
    } else if (d->state == PE_RUNNING) {
        snprintf(how, sizeof how, "exited with status 0 before shmem_finalize%s",
                 place[0] == ';' || call_blocks(d->call) ? place : "");
    } else if (verdict_in_init(d)) {
        snprintf(how, sizeof how, "exited with status 0 in shmem_init");
    } else {
        snprintf(how, sizeof how, "exited with status 0 without shmem_init, which others called");
    }
    snprintf(text, size, "PE %d (pid %d) %s", d->pe, (int)d->pid, how);
}

void verdict_place(const struct death *d, char *text, size_t size)
{
    char call[96];
    call_describe(d->call, &d->told, call, sizeof call);
    if (d->state == PE_NONE || (d->state == PE_CLAIMED && !call[0]))
        snprintf(text, size, "before shmem_init");
    else if (d->state == PE_FINALIZED)
        snprintf(text, size, "after shmem_finalize");
    else if (!call[0])
        snprintf(text, size, "in no call that waits");
    else
        snprintf(text, size, "%s %s", call_blocks(d->call) ? "in" : "past", call);
}
