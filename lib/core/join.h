// SPDX-License-Identifier: BSD-3-Clause
// Joining a job that another launcher than oshrun has started. See join.c.
#ifndef SHOAL_CORE_JOIN_H
#define SHOAL_CORE_JOIN_H

#include "pmi.h"

// To be called before what follows, early: it registers what is done when the process exits, or ends by
// an error. It may be late that this one joins, or never.
void join_prepare(bool is_late);

// Meets the other processes of the job, when pmi_is_there. Returns 1 with the descriptor of the
// job's file and this PE's number; 0 when this process is alone or cannot join, which
// join_refuse_alone tells apart; -1 after one line. It needs no world, and is mostly called before main.
int join_job(int *fd, int *pe);

// Where this PE's control block is mapped, from the claim of its place on.
struct pe_ctl;
void join_place(struct pe_ctl *ctl);

// After one line when a launcher started this process as one of several and it has not joined: -1.
int join_refuse_alone(void);

// For those who wait long: where the launcher does not end a job of which a PE has died, this does.
void join_look(void);

// This process does not become a PE, although its program wants it to: ends the job when it exits.
void join_lose(void);

// The same, now, unless it runs as a PE already.
void join_end_early(void);

// Has the launcher end all PEs, on all hosts: where some of them end, not every launcher does.
void join_abort(void);

// Until when others than the launcher leave it to the launcher to end the job and to say why: `otherwise`, or longer
// where it does so whenever a PE dies, on all hosts. On busy ones it takes its time.
unsigned join_patience_ms(unsigned otherwise);

// The launcher, NULL when it was oshrun or there is none.
struct pmi *join_pmi(void);

#endif
