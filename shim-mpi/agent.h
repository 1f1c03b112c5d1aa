// SPDX-License-Identifier: BSD-3-Clause
// A thread that makes progress while the program's own threads compute (SHOAL_MPI_ASYNC_PROGRESS): what
// otherwise needs a process in the library, as to match a message with a receive from any source, or
// the next step of a collective that is made of messages, then needs none.
#ifndef SHOAL_MPI_AGENT_H
#define SHOAL_MPI_AGENT_H

// With MPI_THREAD_MULTIPLE, or what the program was given as less works like it (shim_threads).
// 0, or an error number: there is none.
int agent_up(void);
void agent_down(void);

#endif
