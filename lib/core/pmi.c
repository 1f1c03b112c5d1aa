// SPDX-License-Identifier: BSD-3-Clause
// The launcher's language, the node map, blobs between nodes. See pmi.h.
#include "pmi.h"

#include "compiler.h"
#include "log.h"
#include "module.h"
#include "tunables.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- node map

// Are the ranks that the launcher names as local those of the own node? (PMIx tells the two apart: the
// map is made of host names, which several hosts may share.)
static bool is_local_as_mapped(const struct pmi *pmi)
{
    int node = node_of(&pmi->map, pmi->rank), n = 0;
    for (int r = -1; (r = node_rank(&pmi->map, node, r + 1)) >= 0; n++)
        if (n >= pmi->locals || pmi->local[n] != r)
            return false;
    return n == pmi->locals;
}

int pmi_map(struct pmi *pmi)
{
    if (pmi->map.blocks)
        return 0;
    char *text = pmi->mapping(pmi);
    if (!text)
        return -1;
    int failed = node_map_parse(&pmi->map, text, pmi->size);
    if (failed)
        log_line(LOG_ERROR, LOG_BOOT,
                 "%s: the launcher's map of nodes is not one of %d processes: "
                 "\"%.80s\"",
                 pmi->name, pmi->size, text);
    free(text);
    if (failed || !pmi->local || is_local_as_mapped(pmi))
        return failed;
    log_line(LOG_ERROR, LOG_BOOT,
             "%s: the launcher has %d processes on this node, and other ones by the names of the "
             "hosts: each host needs a name of its own",
             pmi->name, pmi->locals);
    return -1;
}

int pmi_find_locals(struct pmi *pmi)
{
    int node, n = 0;
    if (pmi_map(pmi))
        return -1;
    node = node_of(&pmi->map, pmi->rank);
    for (int r = -1; (r = node_rank(&pmi->map, node, r + 1)) >= 0;)
        n++;
    pmi->local = calloc((size_t)n, sizeof *pmi->local);
    if (!pmi->local) {
        log_line(LOG_ERROR, LOG_BOOT, "no memory for a list of %d processes", n);
        return -1;
    }
    for (int r = -1; pmi->locals < n && (r = node_rank(&pmi->map, node, r + 1)) >= 0;)
        pmi->local[pmi->locals++] = r;
    return 0;
}

// ---- bytes as text

static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void pmi_encode(const void *bytes, size_t n, char *text)
{
    const unsigned char *b = bytes;
    unsigned bits = 0, have = 0;
    for (size_t i = 0; i < n; i++) {
        bits = (bits << 8 | b[i]) & 0xffff;
        for (have += 8; have >= 6; have -= 6)
            *text++ = digit[bits >> (have - 6) & 63];
    }
    if (have)
        *text++ = digit[bits << (6 - have) & 63];
    *text = '\0';
}

int pmi_decode(const char *text, void *bytes, size_t n)
{
    unsigned char *b = bytes;
    unsigned bits = 0, have = 0;
    size_t len = PMI_ENCODED(n);
    if (strlen(text) != len)
        return -1;
    for (size_t i = 0; i < len; i++) {
        const char *d = strchr(digit, text[i]);
        if (!d)
            return -1;
        bits = (bits << 6 | (unsigned)(d - digit)) & 0xffff;
        have += 6;
        if (have >= 8) {
            have -= 8;
            *b++ = (unsigned char)(bits >> have);
        }
    }
    return bits & ((1u << have) - 1) ? -1 : 0;
}

// ---- blobs between nodes

// Values are cut where three bytes are four characters.
static size_t part_size(const struct pmi *pmi)
{
    return pmi->value_most / 4 * 3;
}

static void part_key(char key[PMI_KEY_MOST + 1], const struct pmi *pmi, int node, size_t part)
{
    snprintf(key, PMI_KEY_MOST + 1, "shoal-%d-node-%d-%zu", pmi->exchanges, node, part);
}

static int put_blob(struct pmi *pmi, int node, const char *mine, size_t n)
{
    char key[PMI_KEY_MOST + 1], value[PMI_VALUE_MOST + 1];
    size_t most = part_size(pmi);
    for (size_t at = 0, part = 0; at < n; at += most, part++) {
        part_key(key, pmi, node, part);
        pmi_encode(mine + at, n - at < most ? n - at : most, value);
        if (pmi->put(pmi, key, value))
            return -1;
    }
    return 0;
}

static int get_blob(struct pmi *pmi, int node, char *to, size_t n)
{
    char key[PMI_KEY_MOST + 1], value[PMI_VALUE_MOST + 1];
    size_t most = part_size(pmi);
    int leader = node_rank(&pmi->map, node, 0);
    for (size_t at = 0, part = 0; at < n; at += most, part++) {
        part_key(key, pmi, node, part);
        if (pmi->get(pmi, leader, key, value, sizeof value))
            return -1;
        if (pmi_decode(value, to + at, n - at < most ? n - at : most)) {
            log_line(LOG_ERROR, LOG_BOOT, "%s: what PE %d published as %s is not %zu bytes",
                     pmi->name, leader, key, n - at < most ? n - at : most);
            return -1;
        }
    }
    return 0;
}

int pmi_exchange(struct pmi *pmi, const void *mine, size_t n, void *all)
{
    bool leads = pmi->rank == pmi->local[0];
    if (leads && pmi_map(pmi))
        return -1;
    int own = leads ? node_of(&pmi->map, pmi->rank) : 0;
    if (leads && put_blob(pmi, own, mine, n))
        return -1;
    if (pmi->fence(pmi))
        return -1;
    for (int node = 0; leads && node < pmi->map.nodes; node++) {
        char *to = (char *)all + (size_t)node * n;
        if (node == own)
            memcpy(to, mine, n);
        else if (get_blob(pmi, node, to, n))
            return -1;
    }
    pmi->exchanges++;
    return 0;
}

// ---- replies

const char *pmi_reply_text(const struct pmi_reply *reply, const char *key)
{
    for (int i = 0; i < reply->n; i++)
        if (strcmp(reply->word[i].key, key) == 0)
            return reply->word[i].value;
    return NULL;
}

static int parse_number(const char *text, long least, long most, int *value)
{
    char *end;
    if (!text || !text[0] || strspn(text, "-0123456789") != strlen(text))
        return -1;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (*end || errno || n < least || n > most)
        return -1;
    *value = (int)n;
    return 0;
}

int pmi_reply_number(const struct pmi_reply *reply, const char *key, long least, long most,
                     int *value)
{
    return parse_number(pmi_reply_text(reply, key), least, most, value);
}

// Nothing is passed on that a terminal would obey.
int pmi_refuse(const struct pmi *pmi, const char *what, const char *got)
{
    char shown[81];
    size_t n = 0;
    for (; got[n] && n < sizeof shown - 1; n++)
        shown[n] = got[n] >= ' ' && got[n] <= '~' ? got[n] : '?';
    shown[n] = '\0';
    log_line(LOG_ERROR, LOG_BOOT, "%s: the launcher's answer to %s makes no sense: \"%s\"",
             pmi->name, what, shown);
    return -1;
}

int pmi_lost(const struct pmi *pmi, const char *what)
{
    log_line(LOG_ERROR, LOG_BOOT, "%s: %s: %s", pmi->name, what,
             errno ? strerror(errno) : "the launcher has closed the connection");
    return -1;
}

unsigned long pmi_socket(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) ? st.st_ino : 0;
}

int pmi_send(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n) {
        ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) { // somebody made it so
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            poll(&p, 1, -1);
        } else if (sent < 0 && errno != EINTR) {
            return -1;
        } else if (sent > 0) {
            at += sent;
            n -= (size_t)sent;
        }
    }
    return 0;
}

long pmi_receive(int fd, void *bytes, size_t n, int limit_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (;;) {
        int ready = poll(&p, 1, limit_ms);
        if (ready == 0)
            errno = ETIMEDOUT;
        if (ready == 0 || (ready < 0 && errno != EINTR))
            return -1;
        ssize_t got = ready > 0 ? recv(fd, bytes, n, MSG_DONTWAIT) : -1;
        if (got > 0)
            return got;
        if (got == 0)
            errno = 0;
        if (got == 0 || (errno != EINTR && errno != EAGAIN))
            return -1;
    }
}

// ---- which launcher

#define MODULE "libshoal-pmix.so"

static const char *no_module; // why there is none

static void say(const char *text)
{
    log_line(LOG_ERROR, LOG_BOOT, "PMIx: %s", text);
}

// What a PE starts inherits all of PMIx's environment, and could join as the PE once more, which hangs.
// So who joins leaves a mark: the process, and as which rank of which job, because what is started may
// be a launcher.
#define MARK "SHOAL_JOINED"
#define MARK_SIZE 512

static void make_mark(char mark[MARK_SIZE], long pid)
{
    snprintf(mark, MARK_SIZE, "%ld:%s.%s", pid, getenv("PMIX_NAMESPACE"), getenv("PMIX_RANK"));
}

static bool has_pmix(void)
{
    return getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK");
}

// Is this rank's place that of a process that has started this one?
static bool is_child_of_rank(void)
{
    char mark[MARK_SIZE];
    const char *found = getenv(MARK);
    if (!found || !has_pmix() || atol(found) == getpid())
        return false;
    make_mark(mark, atol(found));
    return strcmp(mark, found) == 0;
}

static int open_pmix(struct pmi **pmi)
{
    void *module = module_open("pmix", &no_module);
    pmix_open_fn *open_fn = NULL;
    if (!module)
        return 0;
    *(void **)&open_fn = dlsym(module, PMIX_OPEN);
    if (!open_fn)
        say(MODULE " is not Shoal's");
    *pmi = open_fn ? open_fn(say) : NULL;
    if (!*pmi)
        return -1;
    char mark[MARK_SIZE];
    make_mark(mark, getpid());
    setenv(MARK, mark, true);
    return 1;
}

// The number in an environment variable, -1: there is none.
static int env_number(const char *name, long most)
{
    int n;
    return parse_number(getenv(name), 0, most, &n) ? -1 : n;
}

// The descriptor in PMI_FD, or -1. A program that a PE starts finds the variable too, but not the
// socket, which is closed on exec.
static int wire_fd(void)
{
    int fd = env_number("PMI_FD", 1 << 20), domain;
    socklen_t size = sizeof domain;
    bool is_ours = fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
                   domain == AF_UNIX;
    return is_ours ? fd : -1;
}

// How many processes the launcher says there are, in which variable; -1: it does not say. Inside an allocation of
// Slurm's alone SLURM_NTASKS is there and SLURM_STEP_NUM_TASKS is not.
static int env_count(const char **name)
{
    static const char *const names[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS",
                                        "PMIX_SIZE"};
    *name = NULL;
    for (size_t i = 0; i < ARRAY_LEN(names) && !*name; i++)
        if (env_number(names[i], LIMIT_PES) >= 0)
            *name = names[i];
    return *name ? env_number(*name, LIMIT_PES) : -1;
}

bool pmi_is_there(void)
{
    const char *name;
    return env_count(&name) != 1 && (wire_fd() >= 0 || (has_pmix() && !is_child_of_rank()));
}

// The process that made the connection.
static pid_t launcher_of(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) ? -1 : peer.pid;
}

static bool is_own(const char *entry, const char *name)
{
    size_t n = strlen(name);
    return strncmp(entry, name, n) == 0 && entry[n] == '=' &&
           strcmp(entry + n + 1, getenv(name)) == 0;
}

// Was the parent, when it began, this rank? A launcher is not, or may not be looked into.
static bool parent_is_rank(void)
{
    char path[64], *entry = NULL;
    size_t room = 0;
    int same = 0;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)getppid());
    FILE *f = has_pmix() ? fopen(path, "re") : NULL;
    while (f && getdelim(&entry, &room, '\0', f) >= 0)
        same += is_own(entry, "PMIX_NAMESPACE") || is_own(entry, "PMIX_RANK");
    free(entry);
    if (f)
        fclose(f);
    return same == 2;
}

bool pmi_is_handed_down(void)
{
    int fd = wire_fd();
    return fd >= 0 ? launcher_of(fd) != getppid() : parent_is_rank();
}

int pmi_open(struct pmi **pmi)
{
    int fd = wire_fd();
    if (fd < 0)
        return open_pmix(pmi);
    int rank = env_number("PMI_RANK", LIMIT_PES - 1), size = env_number("PMI_SIZE", LIMIT_PES);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (rank < 0 || size < 1 || rank >= size) {
        log_line(LOG_ERROR, LOG_BOOT,
                 "the launcher's PMI_RANK=%s and PMI_SIZE=%s are not a "
                 "process of so many",
                 getenv("PMI_RANK"), getenv("PMI_SIZE"));
        return -1;
    }
    // Slurm sets PMI_JOBID, and hydra may run inside Slurm. Hydra understands both, but not the end
    // of a job by PMI-2.
    const char *job = getenv("HYDI_CONTROL_FD") ? NULL : getenv("PMI_JOBID");
    *pmi = job ? pmi2_open(fd, rank, size, job) : pmi1_open(fd, rank, size);
    if (!*pmi)
        return -1;
    (*pmi)->ends_own_host = !job;
    (*pmi)->ends_with_parent = launcher_of(fd) == getppid();
    return 1;
}

int pmi_refuse_alone(void)
{
    const char *name;
    int count = env_count(&name);
    if (count <= 1 && !(count < 0 && has_pmix() && no_module))
        return 0;
    char many[32] = "several";
    if (count > 1)
        snprintf(many, sizeof many, "%d", count);
    if (is_child_of_rank() && name)
        log_line(
            LOG_ERROR, LOG_BOOT,
            "this is no PE, but was started by process %ld, which is: a program that a PE starts "
            "needs PMIX_NAMESPACE and %s unset",
            atol(getenv(MARK)), name);
    else if (has_pmix() && no_module)
        log_line(LOG_ERROR, LOG_BOOT,
                 "a PMIx launcher started this as one of %s processes, and "
                 "Shoal's part for it cannot be loaded (%s): install libpmix (libpmix-dev to "
                 "build " MODULE "), or use `oshrun -n %s PROGRAM`",
                 many, no_module, many);
    else if (getenv("PMI_FD"))
        log_line(LOG_ERROR, LOG_BOOT,
                 "PMI_FD=%s is no connection to a launcher here: a program "
                 "that one of %s processes starts needs PMI_FD and PMI_SIZE unset",
                 getenv("PMI_FD"), many);
    else if (getenv("SLURM_STEP_NUM_TASKS"))
        log_line(LOG_ERROR, LOG_BOOT,
                 "srun started this as one of %s processes without a way to "
                 "join them: use `srun --mpi=pmi2` or `srun --mpi=pmix`",
                 many);
    else
        log_line(LOG_ERROR, LOG_BOOT,
                 "a launcher started this as one of %s processes, and offers "
                 "neither PMI_FD nor PMIx to join them: use mpiexec of hydra, mpirun of Open MPI 4 "
                 "or later, or `oshrun -n %s PROGRAM`",
                 many, many);
    return -1;
}
