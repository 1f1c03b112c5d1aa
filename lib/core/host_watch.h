// SPDX-License-Identifier: BSD-3-Clause
// Hosts watch each other, so that a job ends when one of them is cut off. See host_watch.c.
#ifndef SHOAL_CORE_HOST_WATCH_H
#define SHOAL_CORE_HOST_WATCH_H

// Gathers the cards (card.h) of all PEs, and with them where each host listens; starts watching. 0,
// or -1 after one line. down is called when all PEs have come to the end.
int host_watch_up(void);
void host_watch_down(void);

// The heartbeat and whoever waits call this all the time; it looks now and then, and ends the
// process when the job has ended with another host.
void host_watch_beat(void);

// This process ends: whatever the reason, it is no loss of a host.
void host_watch_leave(void);

#endif
