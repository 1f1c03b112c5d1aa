// SPDX-License-Identifier: BSD-3-Clause
// tables [MODULE]: what a job of up to 1048576 PEs keeps about its PEs, and what its start sends, from
// the runtime's own code run by one process: a node's leader, with a launcher that only counts, and no
// other PE. The other nodes' words are its own. MODULE: a network's, opened for so many PEs as well.
// Fails when anything grows faster than docs/scale.md says.
#include "../heap.h"
#include "card.h"
#include "coll_nodes.h"
#include "join.h"
#include "net.h"
#include "peers.h"
#include "slice.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PER_NODE = 64, MOST = 1 << 20, ADDRESS = 136, LISTENS = 28 }; // bytes of ofi's address
static int nodes;

// ---- The launcher: whoever asks for another node's word gets our own.
enum { PARTS = 256 };
static char part[PARTS][PMI_VALUE_MOST + 1];
static long put_count, get_count, fences;

static int part_of(const char *key)
{
    return atoi(strrchr(key, '-') + 1);
}

static int count_put(struct pmi *pmi, const char *key, const char *value)
{
    (void)pmi;
    put_count++;
    snprintf(part[part_of(key)], sizeof part[0], "%s", value);
    return part_of(key) < PARTS ? 0 : -1;
}

static int count_get(struct pmi *pmi, int rank, const char *key, char *value, size_t size)
{
    (void)pmi, (void)rank;
    get_count++;
    snprintf(value, size, "%s", part[part_of(key)]);
    return 0;
}

static int count_fence(struct pmi *pmi)
{
    (void)pmi;
    fences++;
    return 0;
}

static char *mapping(struct pmi *pmi)
{
    char *text = malloc(80);
    (void)pmi;
    snprintf(text, 80, "(vector,(0,%d,%d))", nodes, PER_NODE);
    return text;
}

static int local[PER_NODE];
static struct pmi launcher = {.name = "a launcher that counts",
                              .local = local,
                              .locals = PER_NODE,
                              .value_most = PMI_VALUE_MOST,
                              .put = count_put,
                              .get = count_get,
                              .fence = count_fence,
                              .mapping = mapping};

struct pmi *join_pmi(void)
{
    return &launcher;
}

int join_job(int *fd, int *pe)
{
    (void)fd, (void)pe;
    return 0;
}

void join_place(struct pe_ctl *ctl)
{
    (void)ctl;
}

int join_refuse_alone(void)
{
    return 0;
}

void join_look(void)
{
}

void join_abort(void)
{
}

unsigned join_patience_ms(unsigned otherwise)
{
    return otherwise;
}

void join_prepare(bool is_late)
{
    (void)is_late;
}

void join_lose(void)
{
}

void join_end_early(void)
{
}

// ---- The network, of which only the address is asked for
static int write_address(void *ep, void *bytes)
{
    (void)ep;
    memset(bytes, 7, ADDRESS);
    return 0;
}
static const struct transport fake = {.address = write_address};

// ---- One job
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static int make_job(int npes)
{
    struct job_pe *pe = calloc((size_t)npes, sizeof *pe);
    char(*host)[JOB_HOST] = calloc((size_t)nodes, JOB_HOST);
    require(pe && host, "memory");
    for (int i = 0; i < npes; i++)
        pe[i] = (struct job_pe){i / PER_NODE, i % PER_NODE};
    int fd = job_create_planned(&(struct job_plan){.npes = npes,
                                                   .nodes = nodes,
                                                   .slots = PER_NODE,
                                                   .heap_size = 1 << 20,
                                                   .pe = pe,
                                                   .host = (const char(*)[JOB_HOST])host});
    free(pe);
    free(host);
    require(fd >= 0, "the job's file");
    return fd;
}

// The leader's part; the PEs of its node have written their cards, and those of others come.
static void exchange(void)
{
    static char own[LISTENS];
    static int before;
    char *all = calloc((size_t)nodes, LISTENS);
    require(card_write() == 0, "a card");
    atomic_store(&world.job->carded, before + PER_NODE); // card_gather counts from time to time
    before += PER_NODE + 2;
    for (int pe = 1; pe < PER_NODE; pe++) {
        *card_of(world.job, pe) = *card_of(world.job, 0);
        memcpy(card_address(world.job, pe), card_address(world.job, 0), ADDRESS);
    }
    put_count = get_count = fences = 0;
    require(all && card_gather(own, sizeof own, all) == 0, "the exchange of cards");
    int last = world.npes - 1;
    require(memcmp(card_of(world.job, last), card_of(world.job, 0), sizeof(struct card)) == 0 &&
                memcmp(card_address(world.job, last), card_address(world.job, 0), ADDRESS) == 0,
            "the last PE's card and address");
    free(all);
}

static size_t module_memory(const struct transport *t, int npes)
{
    struct transport_job job = {.npes = npes, .interface = "127.0.0.0/8"};
    struct transport_facts facts;
    void *ep;
    size_t before = heap_bytes();
    require(t->open(&job, &facts, &ep) == 0, "opening the module's transport");
    require(facts.address_size <= ADDRESS, "an address longer than this program takes it to be");
    size_t took = heap_bytes() - before;
    t->close(ep);
    return took;
}

static void one_job(int npes, const struct transport *module)
{
    nodes = npes / PER_NODE;
    int fd = make_job(npes);
    struct stat at;
    struct pe_set all = {0, 1, npes};
    world.job = job_open(fd);
    require(world.job != NULL, "mapping the job's file");
    world.npes = npes;
    world.nodes = nodes;
    world.end = PER_NODE;
    launcher.size = npes;
    launcher.map = (struct node_map){0};
    world.job->carded = 0;
    double start = now();
    exchange();
    double took = now() - start;
    require(fstat(fd, &at) == 0, "the file's size");
    size_t file = (size_t)at.st_blocks * 512, before = heap_bytes();
    struct coll_nodes *team = coll_nodes_new(&all);
    size_t team_bytes = heap_bytes() - before;
    before = heap_bytes();
    peer_of(npes - 1);
    size_t peers = heap_bytes() - before,
           network = module ? module_memory(module, npes) - module_memory(module, 1) : 0;
    printf("%8d %7d %8.1f %8.1f %9.1f %9.1f %10.1f %6ld %9ld %8.0f\n", npes, nodes, file / 1024.0,
           (double)file / npes, team_bytes / 1024.0, peers / 1024.0, network / 1024.0, put_count,
           get_count, took * 1e3);
    require(file <= 400UL * (size_t)npes + (1UL << 20), "the node's file grows too fast");
    require(team_bytes <= 12UL * (size_t)nodes + 4096, "a team grows too fast");
    require(peers <= (size_t)npes / 8 + 12288, "the records of partners grow too fast");
    require(put_count <= 40 && get_count <= 40L * (nodes - 1) && fences == 2, "too many messages");
    peers_forget();
    free(team);
    free(launcher.map.blocks);
    munmap(world.job, world.job->header_size);
    close(fd);
}

int main(int argc, char **argv)
{
#if defined(__SANITIZE_THREAD__)
    puts("skipped: one thread, which a sanitizer of threads slows down tenfold");
    return 77;
#endif
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct transport *t = module ? dlsym(module, "shoal_transport_ofi") : NULL;
    static struct pe_ctl ctl;
    for (int i = 0; i < PER_NODE; i++)
        local[i] = i;
    mallopt(M_MMAP_THRESHOLD, 1 << 16);
    world.slices = (char *)&ctl;
    net = (struct port){.transport = &fake, .facts = {.name = "fake", .address_size = ADDRESS}};
    printf("%d PEs a node\n%8s %7s %8s %8s %9s %9s %10s %6s %9s %8s\n", PER_NODE, "PEs", "nodes",
           "file kB", "B a PE", "team kB", "peers kB", "network kB", "puts", "gets", "ms");
    for (int npes = 2 * PER_NODE; npes <= MOST; npes *= npes < 4096 ? 2 : 4)
        one_job(npes, t);
    net = (struct port){0};
    return 0;
}
