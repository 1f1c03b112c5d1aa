// SPDX-License-Identifier: BSD-3-Clause
// PMIx, by its library. This file is a module of its own, libshoal-pmix.so, loaded only when a PMIx
// launcher (Open MPI's mpirun, PRRTE, srun --mpi=pmix) started the process, so that libshoal needs
// nothing but libc. It uses nothing of libshoal; it gets what it needs to say a line. See pmi.h.
//
// PMIx_Init starts a thread, and PEs move their static data (data.c) after it, because the file it
// moves to comes through PMIx. That is sound all the same: the thread runs libpmix, libevent and
// libc, none of whose variables are the main program's, and when the calls here have returned it
// sleeps until the launcher has something to say. data.c is told how many such threads there are.
// (An allocator that is linked into the program is the one thing both could touch: for the
// millisecond of the move, and only while the launcher reports that the job has failed.)
#include "pmi.h"

#include <pmix.h>

#include <errno.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SIZE_MOST (1 << 20) // ranks
#define REPLY_S 60
#define LAST_FENCE_S 1 // for others to come to it, before the job is ended

static struct {
    struct pmi pmi;
    pmix_proc_t self, all; // all: the job as a whole
    pmi_say_fn *say;
} client;

static int __attribute__((format(printf, 1, 2))) refuse(const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    client.say(text);
    return -1;
}

static int check(pmix_status_t status, const char *what)
{
    return status == PMIX_SUCCESS ? 0 : refuse("%s: %s", what, PMIx_Error_string(status));
}

// A string that the launcher or a process has published, to be freed; NULL after one line.
static char *get_string(const pmix_proc_t *whose, const char *key)
{
    pmix_value_t *value = NULL;
    pmix_info_t limit;
    int seconds = REPLY_S;
    char *text = NULL;
    PMIX_INFO_LOAD(&limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
    pmix_status_t status = PMIx_Get(whose, key, &limit, 1, &value);
    PMIX_INFO_DESTRUCT(&limit);
    if (check(status, key))
        return NULL;
    if (value->type == PMIX_STRING && value->data.string)
        text = strdup(value->data.string);
    else
        refuse("%s is not a text", key);
    PMIX_VALUE_RELEASE(value);
    return text;
}

static int get_size(void)
{
    pmix_value_t *value = NULL;
    uint32_t size = 0;
    if (check(PMIx_Get(&client.all, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_JOB_SIZE))
        return -1;
    if (value->type == PMIX_UINT32)
        size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    if (size < 1 || size > SIZE_MOST || client.self.rank >= size)
        return refuse("the launcher says rank %u of %u processes", client.self.rank, size);
    client.pmi.rank = (int)client.self.rank;
    client.pmi.size = (int)size;
    return 0;
}

static int compare_ints(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

// "0,1,5": distinct ranks, this one among them.
static int read_locals(char *text)
{
    struct pmi *pmi = &client.pmi;
    int most = 1, has_self = 0;
    for (const char *c = text; *c; c++)
        most += *c == ',';
    pmi->local = calloc((size_t)most, sizeof *pmi->local);
    if (!pmi->local)
        return -1;
    char *rest;
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *end;
        long rank = strtol(word, &end, 10);
        if (end == word || *end || rank < 0 || rank >= pmi->size)
            return -1;
        has_self |= rank == pmi->rank;
        pmi->local[pmi->locals++] = (int)rank;
    }
    qsort(pmi->local, (size_t)pmi->locals, sizeof *pmi->local, compare_ints);
    for (int i = 1; i < pmi->locals; i++)
        if (pmi->local[i] == pmi->local[i - 1])
            return -1;
    return has_self ? 0 : -1;
}

static int find_locals(void)
{
    char *text = get_string(&client.all, PMIX_LOCAL_PEERS);
    if (!text)
        return -1;
    char shown[81];
    snprintf(shown, sizeof shown, "%s", text);
    int failed = read_locals(text);
    free(text);
    return failed ? refuse("the ranks on this node make no sense: \"%s\"", shown) : 0;
}

// ---- the node map, built from each rank's host name, which is known here without asking anybody.
// (PMIx_Resolve_peers of another node waits for what nobody has sent yet.)

struct hosts {
    char **name;
    int n;
};

// The number of a host, a new one when it is the first time; -1: no memory.
static int number_of(struct hosts *h, char *name)
{
    for (int i = h->n - 1; i >= 0; i--) // most often the last one
        if (strcmp(h->name[i], name) == 0) {
            free(name);
            return i;
        }
    char **more = realloc(h->name, ((size_t)h->n + 1) * sizeof *more);
    if (!more) {
        free(name);
        return -1;
    }
    h->name = more;
    h->name[h->n] = name;
    return h->n++;
}

// Fills node[rank]. Returns 0, or -1 after one line.
static int place_ranks(int *node)
{
    struct hosts hosts = {0};
    int rank = 0;
    for (; rank < client.pmi.size; rank++) {
        pmix_proc_t proc;
        PMIX_LOAD_PROCID(&proc, client.self.nspace, (pmix_rank_t)rank);
        char *name = get_string(&proc, PMIX_HOSTNAME);
        if (!name || (node[rank] = number_of(&hosts, name)) < 0)
            break;
    }
    for (int i = 0; i < hosts.n; i++)
        free(hosts.name[i]);
    free(hosts.name);
    return rank == client.pmi.size ? 0 : -1;
}

// Runs of ranks on one node; runs of equal length on consecutive nodes become one block.
static char *write_map(const int *node)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    fputs("(vector", out);
    int first = 0, nodes = 0, each = 0;
    for (int at = 0, run; at < client.pmi.size; at += run) {
        for (run = 1; at + run < client.pmi.size && node[at + run] == node[at]; run++)
            ;
        if (nodes && run == each && node[at] == first + nodes) {
            nodes++;
            continue;
        }
        if (nodes)
            fprintf(out, ",(%d,%d,%d)", first, nodes, each);
        first = node[at];
        nodes = 1;
        each = run;
    }
    fprintf(out, ",(%d,%d,%d))", first, nodes, each);
    fclose(out);
    return text;
}

static char *mapping(struct pmi *pmi)
{
    char *text = NULL;
    int *node = malloc((size_t)pmi->size * sizeof *node);
    if (!node) {
        refuse("no memory for a map of %d ranks", pmi->size);
        return NULL;
    }
    memset(node, -1, (size_t)pmi->size * sizeof *node);
    if (place_ranks(node) == 0 && !(text = write_map(node)))
        refuse("no memory for a map of %d ranks", pmi->size);
    free(node);
    return text;
}

// ---- the table

static int put(struct pmi *pmi, const char *key, const char *value)
{
    (void)pmi;
    pmix_value_t v;
    PMIX_VALUE_LOAD(&v, value, PMIX_STRING);
    int failed = check(PMIx_Put(PMIX_GLOBAL, key, &v), "PMIx_Put");
    PMIX_VALUE_DESTRUCT(&v);
    return failed;
}

static int fence(struct pmi *pmi)
{
    (void)pmi;
    pmix_info_t collect;
    bool yes = true;
    if (check(PMIx_Commit(), "PMIx_Commit"))
        return -1;
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    pmix_status_t status = PMIx_Fence(&client.all, 1, &collect, 1);
    PMIX_INFO_DESTRUCT(&collect);
    // A limit is somebody's who ends the job (below), and has said why.
    return status == PMIX_ERR_TIMEOUT ? -1 : check(status, "PMIx_Fence");
}

static int get(struct pmi *pmi, int rank, const char *key, char *value, size_t size)
{
    (void)pmi;
    pmix_proc_t whose = client.self;
    whose.rank = (pmix_rank_t)rank;
    char *text = get_string(&whose, key);
    if (!text)
        return -1;
    size_t length = strlen(text);
    if (length < size)
        memcpy(value, text, length + 1);
    free(text);
    return length < size ? 0
                         : refuse("%s has %zu characters, %zu are the most", key, length, size - 1);
}

static sem_t has_fenced;

static void on_last_fence(pmix_status_t status, void *unused)
{
    (void)status, (void)unused;
    sem_post(&has_fenced);
}

// Open MPI's mpirun (4.1) can crash or hang where it ends a job whose processes wait in a fence. So this
// one takes part in what the others may wait in. With a limit, which ends the fence for all.
static void fence_once_more(void)
{
    pmix_info_t info[2];
    bool yes = true;
    int seconds = LAST_FENCE_S;
    struct timespec until;
    PMIX_INFO_LOAD(&info[0], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    sem_init(&has_fenced, 0, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LAST_FENCE_S + 1; // where the launcher does not know the limit
    if (PMIx_Commit() == PMIX_SUCCESS &&
        PMIx_Fence_nb(&client.all, 1, info, 2, on_last_fence, NULL) == PMIX_SUCCESS)
        while (sem_timedwait(&has_fenced, &until) && errno == EINTR)
            ;
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
}

static void end_job(struct pmi *pmi, int status, const char *text)
{
    if (!pmi->has_met)
        fence_once_more();
    pmi->has_met = true;
    PMIx_Abort(status, text, NULL, 0);
}

static void finalize(struct pmi *pmi)
{
    (void)pmi;
    PMIx_Finalize(NULL, 0);
}

// ---- start

// The launcher has died, and nobody else would end this process. (In libpmix's thread.)
static void on_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t *results, size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *done_arg)
{
    (void)id, (void)status, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    (void)done, (void)done_arg;
    client.say("the launcher is gone, and this process with it");
    _exit(EXIT_FAILURE);
}

static int threads(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) ? 0 : (int)st.st_nlink - 2;
}

extern struct pmi *shoal_pmix_open(pmi_say_fn *say);

__attribute__((visibility("default"))) struct pmi *shoal_pmix_open(pmi_say_fn *say)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
    int before = threads();
    client.say = say;
    client.pmi = (struct pmi){.name = "PMIx",
                              .value_most = PMI_VALUE_MOST,
                              .put = put,
                              .fence = fence,
                              .get = get,
                              .mapping = mapping,
                              .abort = end_job,
                              .finalize = finalize};
    pmix_status_t status = PMIx_Init(&client.self, NULL, 0);
    if (status != PMIX_SUCCESS) {
        refuse("the launcher that PMIX_NAMESPACE=%s names cannot be reached: %s",
               getenv("PMIX_NAMESPACE"), PMIx_Error_string(status));
        return NULL;
    }
    PMIX_LOAD_PROCID(&client.all, client.self.nspace, PMIX_RANK_WILDCARD);
    if (get_size() || find_locals()) {
        PMIx_Finalize(NULL, 0);
        return NULL;
    }
    PMIx_Register_event_handler(&lost, 1, NULL, 0, on_lost, NULL, NULL);
    client.pmi.threads = threads() - before;
    return &client.pmi;
}
