// SPDX-License-Identifier: BSD-3-Clause
// The job's shared memory on one node: a single memfd, made by the launcher (or by a PE that
// starts alone), inherited by every PE and gone with the last of them.
//
//     0                    header_size        + slot * slice_size                  data_offset
//     | struct job | tables | slice of slot 0 | slice of slot 1 | ... | slice n-1 | static data 0 | ...
//                   \ struct slice (slice.h) | symmetric heap | arena /
//
// The slices of this node's PEs are mapped in PE order: what lies at `a` here lies at
// a + (pe - me) * slice_size for that PE; no table, whatever the number of PEs. The mapping is
// placed so that the own heap has the same address on every PE. A job on several nodes has a file
// on each; with SHOAL_VNODES one file serves several nodes that are one machine, and each PE maps
// its node's slices alone. The file is sparse: what nobody
// touched takes no memory. Shared memory holds offsets and numbers, never pointers.
#ifndef SHOAL_CORE_JOB_H
#define SHOAL_CORE_JOB_H

#include "call.h"
#include "compiler.h"
#include "wait.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JOB_MAGIC 0x6c616f6853u // "Shoal"
#define JOB_LAYOUT 14u          // bump when a structure here changes
#define JOB_HOST 64             // bytes of a host's name, with its end

// Environment from the launcher to a PE.
#define JOB_ENV_FD "SHOAL_JOB"
#define JOB_ENV_PE "SHOAL_PE"
#define JOB_ENV_APP "SHOAL_APP" // of several programs: which one, and how many PEs, as "1:4"

// Where a PE is.
struct job_pe {
    int32_t node;
    int32_t slot; // in its node's file
};

struct job {
    uint64_t magic;
    uint32_t layout;
    int32_t npes;
    int32_t cpus;          // cores the launcher could use, before any binding
    int32_t launcher;      // pid, 0 when a PE started alone
    uint64_t header_size;  // file offset of the first slice
    uint64_t slice_size;
    uint64_t heap_offset;  // within a slice
    uint64_t heap_size;
    uint64_t arena_size;   // of memory that a PE allocates for itself, behind its heap
    LINE_ALIGNED uint64_t secret; // known to the job's processes alone
    int32_t nodes;
    int32_t slots;         // PEs in this file
    uint64_t cards;        // file offset of the cards (card.h), 0 on one node
    uint64_t hosts;        // file offset of the nodes' names, JOB_HOST each, 0 on one host
    uint64_t stamp;        // known on this node alone; see region.h
    LINE_ALIGNED _Atomic int32_t ready;  // PEs that have published their layout
    _Atomic int32_t ended;               // JOB_ENDED_*, set once
    _Atomic int32_t ended_status;        // exit status when ended by shmem_global_exit
    _Atomic int32_t ended_by;            // PE
    _Atomic int32_t left;                // PEs in state PE_LEFT, or with a last life
    _Atomic int32_t leaving;             // times a PE finalized or left
    _Atomic int32_t shmem_ended;         // times a PE ended its OpenSHMEM, or left in the midst of it
    _Atomic int32_t quiet;               // and those that send nothing more
    _Atomic int32_t dead;                // PEs in state PE_DEAD
    _Atomic int32_t watchers;            // PEs that want to be told of those
    _Atomic int32_t carded;              // PEs of this file that have filled in their card
    _Atomic int32_t told;                // JOB_TOLD_*: why the job cannot start
    _Atomic int32_t is_held;             // PEs wait in front of main: the launcher has a debugger
    struct bell bell;                    // rung when `ready`, `carded`, `leaving` or `quiet` changes
    LINE_ALIGNED _Atomic uint32_t waited[WAIT_CORES]; // see wait_hooks
    struct job_pe pe[];                  // npes of them
};

// LOST: with another host, as a line has said.
enum { JOB_RUNNING, JOB_ENDED_GLOBAL_EXIT, JOB_ENDED_FATAL, JOB_ENDED_LOST };
enum { JOB_TOLD_NOTHING, JOB_TOLD_SOON, JOB_TOLD };

// What a PE has reached; the launcher reads it when the process is gone.
enum pe_state {
    PE_NONE,      // not yet claimed
    PE_CLAIMED,   // the library is loaded
    PE_RUNNING,   // between shmem_init and shmem_finalize
    PE_FINALIZED, // finalized; may exit as it likes
    PE_LEFT,      // exited with status 0 and without shmem_finalize
    PE_DEAD,      // the launcher found it dead while it was running
};

// What a collective call was given, to be compared between PEs.
struct call_record {
    uint64_t call; // enum call_id
    uint64_t a, b;
};

struct pe_ctl {
    _Atomic int32_t pid;       // whose process loads the library first; see claim (boot.c)
    _Atomic int32_t state;     // enum pe_state
    uint64_t data_size;        // static data: bytes,
    uint64_t data_hash;        // and a hash of the layout, to be equal on all PEs
    uint64_t left_syncs;       // PE_LEFT: barriers over the world it has entered
    _Atomic int32_t last_life; // 0, or it has ended in or after this life of the library: for its node
    _Atomic int32_t joins;     // 1: it has begun to join, and the place is its for good
    uint64_t proof_at, proof;  // an address of its private memory and what is there: is `pid` this PE to others?
    uint64_t pids;             // the namespace of that number, 0: unknown
    LINE_ALIGNED struct bell bell;             // somebody at this PE waits for its memory
    LINE_ALIGNED _Atomic uint64_t call;        // CALL_WORD of the main thread, see call.h
    struct call_told told;                     // what that says, if it is CALL_told
    LINE_ALIGNED struct call_record record[2]; // by parity of the heap operation
};

_Static_assert(offsetof(struct job, waited) == 3 * CACHE_LINE, "job header: three lines");
_Static_assert(sizeof(struct pe_ctl) == 4 * CACHE_LINE, "PE control: four lines");

// Does the job have a file on other hosts too?
static inline bool job_has_hosts(const struct job *job)
{
    return job->slots < job->npes;
}

static inline uint64_t job_slice(const struct job *job, int pe)
{
    return job->header_size + (uint64_t)job->pe[pe].slot * job->slice_size;
}

// What one node's file of a job is made from. pe NULL: all PEs are on this machine, consecutive ones
// on the same of `nodes` nodes.
struct job_plan {
    int npes, nodes, slots;
    size_t heap_size; // 0: choose
    pid_t launcher;   // 0: none of ours
    uint64_t secret;  // 0: choose
    const struct job_pe *pe;
    const char (*host)[JOB_HOST]; // names of the nodes, NULL: one host
};
int job_create_planned(const struct job_plan *plan);
// What valgrind's memcheck is given: it reads all memory there is when a program ends, whether touched or not.
#define JOB_HEAP_CHECKED (64UL << 20)
bool job_is_checked(void); // this process runs in it
size_t job_default_heap(int slots);

// Creates the job's memfd for npes PEs of which all are on this machine, as `nodes` nodes, with heaps
// of heap_size bytes (0: choose). Returns the file descriptor (close-on-exec), or -1 after one line.
int job_create(int npes, int nodes, size_t heap_size, pid_t launcher);

// Bytes of the smallest slice that a job can have.
size_t job_least_slice(void);

// The limit of files' sizes (ulimit -f) counts for the job's file, too, and who goes beyond it gets a
// signal. Raises it as far as it may be, and tells how it was, to be set again. False with EFBIG: there
// may be no file of `size` bytes, and it is as it was.
struct rlimit;
bool job_raise_limit(uint64_t size, struct rlimit *before);

// Maps the header of the job behind fd, with its tables; checks it. NULL when it is no job of ours:
// after one line, or with that line in `why`.
#define JOB_WHY 160
struct job *job_open(int fd);
struct job *job_find(int fd, char why[JOB_WHY]);

// A PE's control block, mapped from the file (used by the launcher, which maps no heaps).
// NULL when the map fails.
struct pe_ctl *job_map_ctl(int fd, const struct job *job, int pe);

#endif
