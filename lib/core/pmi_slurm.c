// SPDX-License-Identifier: BSD-3-Clause
// Which ranks are on which node where Slurm's PMI-2 does not say so: of "arbitrary" places, which is
// how uneven numbers are asked for, its map has a node for every rank. But it tells each process which
// ranks are beside it, and these tell each other.
#include "pmi.h"

#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "shoal-beside-%d" // of each rank: the first rank of its node

// A number at *at, which then is behind the comma after it; -1: there is none.
static int next_number(const char **at)
{
    size_t digits = strspn(*at, "0123456789");
    if (digits < 1 || digits > 7 || ((*at)[digits] && (*at)[digits] != ','))
        return -1;
    int n = atoi(*at);
    *at += digits + ((*at)[digits] == ',');
    return n;
}

// The ranks of this node from SLURM_GTIDS, "0,1,5".
static int find_locals(struct pmi *pmi)
{
    const char *text = getenv("SLURM_GTIDS");
    bool has_own = false;
    int last = -1;
    pmi->locals = 0;
    pmi->local = calloc((size_t)pmi->size, sizeof *pmi->local);
    for (const char *at = text; pmi->local && at && *at;) {
        int rank = next_number(&at);
        if (rank <= last || rank >= pmi->size) {
            has_own = false;
            break;
        }
        has_own |= rank == pmi->rank;
        pmi->local[pmi->locals++] = last = rank;
    }
    if (!has_own)
        log_line(LOG_ERROR, LOG_BOOT, "SLURM_GTIDS=%.80s: rank %d of %d finds no list with itself",
                 text ? text : "", pmi->rank, pmi->size);
    return has_own ? 0 : -1;
}

bool pmi_slurm_is_unsaid(const struct pmi *pmi)
{
    const char *nodes = getenv("SLURM_STEP_NUM_NODES");
    return pmi->map.nodes == pmi->size && nodes && atoi(nodes) >= 1 && atoi(nodes) < pmi->size;
}

int pmi_slurm_find_locals(struct pmi *pmi)
{
    char key[PMI_KEY_MOST + 1], value[16];
    free(pmi->map.blocks);
    pmi->map = (struct node_map){0};
    if (find_locals(pmi))
        return -1;
    snprintf(key, sizeof key, KEY, pmi->rank);
    snprintf(value, sizeof value, "%d", pmi->local[0]);
    return pmi->put(pmi, key, value) || pmi->fence(pmi) ? -1 : 0;
}

// Blocks of one node each; nodes are numbered as their first ranks are.
static int write_map(const struct pmi *pmi, const int *first, char **text)
{
    size_t size;
    int nodes = 0, *number = calloc((size_t)pmi->size, sizeof *number);
    FILE *f = number ? open_memstream(text, &size) : NULL;
    for (int rank = 0, run = 1; f && rank < pmi->size; rank += run, run = 1) {
        if (first[rank] == rank)
            number[rank] = nodes++;
        while (rank + run < pmi->size && first[rank + run] == first[rank])
            run++;
        fprintf(f, "%s,(%d,1,%d)", rank ? "" : "(vector", number[first[rank]], run);
    }
    if (f)
        fputc(')', f);
    free(number);
    return f && fclose(f) == 0 ? 0 : -1;
}

char *pmi_slurm_map(struct pmi *pmi)
{
    char key[PMI_KEY_MOST + 1], value[PMI_VALUE_MOST + 1], *text = NULL;
    int *first = calloc((size_t)pmi->size, sizeof *first);
    int status = first ? 0 : -1;
    for (int rank = 0; !status && rank < pmi->size; rank++) {
        const char *at = value;
        snprintf(key, sizeof key, KEY, rank);
        status = pmi->get(pmi, rank, key, value, sizeof value);
        first[rank] = status ? 0 : next_number(&at);
        // The first rank of a node is its own.
        if (!status && (first[rank] < 0 || first[rank] > rank || first[first[rank]] != first[rank]))
            status = pmi_refuse(pmi, "kvs-get", value);
    }
    if (!status && write_map(pmi, first, &text))
        text = NULL;
    free(first);
    return text;
}
