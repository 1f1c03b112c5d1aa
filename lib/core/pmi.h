// SPDX-License-Identifier: BSD-3-Clause
// What a launcher of somebody else's offers a process it started: who it is, a key-value space that
// all processes of the job share, a meeting of all of them, and two ways to end. One table, filled
// by whoever speaks the launcher's language:
//
//     pmi1.c   PMI-1: hydra (mpiexec), lines of text on a descriptor
//     pmi2.c   PMI-2: srun --mpi=pmi2, counted messages on a descriptor
//     pmix.c   PMIx: mpirun, prterun, srun --mpi=pmix; its library, behind a module of ours
//     pmi_slurm.c  where Slurm's PMI-2 does not tell who is on which node
//     pmi.c    which of them it is; the node map; blobs between nodes
//
// What a launcher sends is checked before it is used: it is another program, of another version.
#ifndef SHOAL_CORE_PMI_H
#define SHOAL_CORE_PMI_H

#include "node_map.h"

#include <stdbool.h>
#include <stddef.h>

#define PMI_KEY_MOST 63    // characters of a key; letters, digits, '-', '_' and '.'
#define PMI_VALUE_MOST 512 // characters of a value; the same, and no longer than value_most

struct pmi {
    const char *name; // of the protocol, for messages
    int rank, size;
    int *local, locals;  // the ranks on this node, ascending; the first one leads
    size_t value_most;   // characters of a value, at most PMI_VALUE_MOST
    struct node_map map; // of all nodes; blocks is NULL before pmi_map
    int exchanges;       // so far
    int threads;         // that the launcher's library has started
    bool has_met;        // the job's fences are over: nobody waits in one any more

    // All return 0, or -1 after one line. What was put before a fence can be read after it, by
    // everybody; all ranks fence.
    int (*put)(struct pmi *pmi, const char *key, const char *value);
    int (*fence)(struct pmi *pmi);
    int (*get)(struct pmi *pmi, int rank, const char *key, char *value, size_t size); // rank put it
    // The node map as text, to be freed, or NULL after one line. Only asked where there are several
    // nodes.
    char *(*mapping)(struct pmi *pmi);
    // Ends all processes. The status, 0 to 255, is the job's where the launcher can do that.
    void (*abort)(struct pmi *pmi, int status, const char *text);
    // To be told before a process ends, or its end counts as a failure.
    void (*finalize)(struct pmi *pmi);
    bool ends_with_parent; // the launcher's part here is this process's parent
    bool ends_own_host;    // who exits with a status ends those of its host alone (hydra)
    bool is_careless;      // abort has no status, and the death of a process ends nothing (srun)
};

// The launcher that started this process: 1. 0: there is nothing here to talk to it with, as
// pmi_refuse_alone will say; -1 after one line: its words make no sense.
int pmi_open(struct pmi **pmi);

// Is there a launcher that pmi_open knows, with more than one process (or an unknown number)?
bool pmi_is_there(void);

// Is there another process between the launcher and this one, such as a shell, which may start one more
// after it? A launcher takes a rank's word for it once: the first that joins is the last.
bool pmi_is_handed_down(void);

// After one line that says which option or package is missing when a launcher started this process
// as one of several and pmi_open could not be used: -1. Else 0.
int pmi_refuse_alone(void);

// Fills pmi->map. Returns 0, or -1 after one line.
int pmi_map(struct pmi *pmi);

// One blob of n bytes from each node to all nodes, in `all`, n bytes a node. Every rank calls it,
// with the same n; `mine` of the nodes' leaders counts, and they get the result: the others may
// pass NULL for both. Returns 0, or -1 after one line.
int pmi_exchange(struct pmi *pmi, const void *mine, size_t n, void *all);

// ---- between the parts

// The wire protocols over a socket; they own it from then on, also when they fail.
struct pmi *pmi1_open(int fd, int rank, int size);
struct pmi *pmi2_open(int fd, int rank, int size, const char *job); // job: PMI_JOBID

// The module's only symbol, a pmix_open_fn. It needs nothing of libshoal, so that it loads
// into a program that was linked with libshoal.a; it gets what it uses.
#define PMIX_OPEN "shoal_pmix_open"
typedef void pmi_say_fn(const char *text);
typedef struct pmi *pmix_open_fn(pmi_say_fn *say);

// "a=1 b=2" as PMI-1 writes it, "a=1;b=2;" as PMI-2 does.
#define PMI_WORDS 16
struct pmi_reply {
    int n;
    struct {
        const char *key, *value;
    } word[PMI_WORDS];
};

// Take a message of n bytes, without what ends it, apart in place; text[n] must be writable. Return
// 0, or -1 when it is not well formed.
int pmi1_parse(char *text, size_t n, struct pmi_reply *reply);
int pmi2_parse(char *text, size_t n, struct pmi_reply *reply);
int pmi2_length(const char digits[6]); // of the message that follows, -1: no number
const char *pmi_reply_text(const struct pmi_reply *reply, const char *key); // NULL: not there
// A whole number within [least, most], which is all that is written there. Returns 0 or -1.
int pmi_reply_number(const struct pmi_reply *reply, const char *key, long least, long most,
                     int *value);

// Letters, digits, '-', '_', four characters for three bytes. Decoding returns 0, or -1 when the
// text is not the encoding of n bytes.
#define PMI_ENCODED(n) (((n)*8 + 5) / 6)
void pmi_encode(const void *bytes, size_t n, char *text); // with a '\0'
int pmi_decode(const char *text, void *bytes, size_t n);

unsigned long pmi_socket(int fd); // tells it from all others; 0: there is none

// Sends all; receives up to n bytes, waiting up to limit_ms (-1: for ever). Return 0 or a count, or
// -1 with errno (0: the other side is gone).
int pmi_send(int fd, const void *bytes, size_t n);
long pmi_receive(int fd, void *bytes, size_t n, int limit_ms);

// One line about an answer that makes no sense, or did not come (errno, 0: the other side is gone).
// They return -1.
int pmi_refuse(const struct pmi *pmi, const char *what, const char *got);
int pmi_lost(const struct pmi *pmi, const char *what);

// Fills local and locals from the map. 0, or -1 after one line.
int pmi_find_locals(struct pmi *pmi);

// pmi_slurm.c, after pmi_map. Has the launcher given every rank a node of its own although Slurm says
// that there are fewer nodes? Then the locals come from Slurm, all ranks meet once, and the map, as
// text, from what they said.
bool pmi_slurm_is_unsaid(const struct pmi *pmi);
int pmi_slurm_find_locals(struct pmi *pmi);
char *pmi_slurm_map(struct pmi *pmi);

#define PMI_REPLY_MS 60000 // for an answer that needs nobody else

#endif
