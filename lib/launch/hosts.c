// SPDX-License-Identifier: BSD-3-Clause
// Lists of hosts: a:4,b:4, or a file with a host a line. See hosts.h.
#include "hosts.h"

#include "tunables.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct hosts *hosts;
    bool has_counts;
    char *error;
    size_t size;
};

#define WRONG(r, ...) (snprintf((r)->error, (r)->size, __VA_ARGS__), -1)

// A launcher that is given the name must not take it for an option or a list.
static bool name_is_good(const char *name)
{
    return isalnum((unsigned char)name[0]) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") ==
               strlen(name);
}

// The same host once more: as many PEs more, one where there is no count.
static int add_again(struct reader *r, struct host *host, long pes)
{
    long sum = (host->places ? host->places : 1) + (pes ? pes : 1);
    if (sum > LIMIT_PES)
        return WRONG(r, "host %.60s: %ld PEs: there may be %d", host->name, sum, LIMIT_PES);
    host->places = (int)sum;
    r->has_counts = true;
    return 0;
}

// count NULL: not given, which is 0 for now.
static int add(struct reader *r, const char *name, const char *count)
{
    struct hosts *h = r->hosts;
    char *end = NULL;
    long pes = count ? strtol(count, &end, 10) : 0;
    if (!name_is_good(name) || strlen(name) >= HOSTS_NAME)
        return WRONG(r, "\"%.60s\" is no name of a host", name);
    if (count && (!isdigit((unsigned char)count[0]) || *end || pes < 1 || pes > LIMIT_PES))
        return WRONG(r, "host %.60s takes a number of PEs from 1, not \"%.30s\"", name, count);
    for (int i = 0; i < h->n; i++)
        if (strcmp(h->host[i].name, name) == 0)
            return add_again(r, &h->host[i], pes);
    struct host *more = realloc(h->host, ((size_t)h->n + 1) * sizeof *more);
    if (!more)
        return WRONG(r, "no memory for %d hosts", h->n + 1);
    h->host = more;
    h->host[h->n] = (struct host){.places = (int)pes};
    strcpy(h->host[h->n++].name, name);
    r->has_counts |= count != NULL;
    return 0;
}

// NAME or NAME:COUNT
static int add_word(struct reader *r, char *word)
{
    char *colon = strchr(word, ':');
    if (colon)
        *colon = '\0';
    return add(r, word, colon ? colon + 1 : NULL);
}

static int read_list(struct reader *r, const char *list)
{
    char *copy = strdup(list), *rest = copy, *word;
    int status = copy ? 0 : WRONG(r, "no memory");
    while (!status && (word = strsep(&rest, ",")))
        status = add_word(r, word);
    free(copy);
    return status;
}

// What may follow a name: slots=COUNT once, and max_slots=COUNT, which is a limit for others.
static bool take_field(const char *field, const char **count)
{
    bool is_most = strncmp(field, "max_slots=", 10) == 0 || strncmp(field, "max-slots=", 10) == 0;
    if (is_most)
        return field[10] && strspn(field + 10, "0123456789") == strlen(field + 10);
    if (*count || strncmp(field, "slots=", 6) != 0)
        return false;
    *count = field + 6;
    return true;
}

// NAME, NAME:COUNT or NAME slots=COUNT; the rest after # is a comment.
static int read_line(struct reader *r, char *line, const char *file, int number)
{
    static const char blank[] = " \t\r\n";
    const char *count = NULL;
    char *rest, *field;
    line[strcspn(line, "#")] = '\0';
    char *name = strtok_r(line, blank, &rest);
    bool is_good = true;
    if (!name)
        return 0;
    while (is_good && (field = strtok_r(NULL, blank, &rest)))
        is_good = take_field(field, &count);
    if (is_good && !count)
        return add_word(r, name);
    if (is_good && !strchr(name, ':'))
        return add(r, name, count);
    return WRONG(r, "%.100s, line %d: a line is NAME, NAME:COUNT or NAME slots=COUNT", file,
                 number);
}

static int read_file(struct reader *r, const char *file)
{
    FILE *f = fopen(file, "re");
    char *line = NULL;
    size_t room = 0;
    int status = 0;
    if (!f)
        return WRONG(r, "cannot read %.100s: %s", file, strerror(errno));
    for (int number = 1; !status && getline(&line, &room, f) >= 0; number++)
        status = read_line(r, line, file, number);
    free(line);
    fclose(f);
    return status;
}

// How many PEs each host gets of its places: as many as it has, or one more in turn.
static void divide(struct hosts *h, bool by_turns)
{
    int left = h->npes;
    for (int i = 0; !by_turns && i < h->n; i++) {
        h->host[i].pes = h->host[i].places < left ? h->host[i].places : left;
        left -= h->host[i].pes;
    }
    for (int i = 0; left; i = (i + 1) % h->n)
        if (h->host[i].pes < h->host[i].places) {
            h->host[i].pes++;
            left--;
        }
    while (h->n && h->host[h->n - 1].pes == 0)
        h->n--;
}

static int number(struct reader *r)
{
    struct hosts *h = r->hosts;
    int pe = 0;
    h->host_of = malloc((size_t)h->npes * sizeof *h->host_of);
    if (!h->host_of)
        return WRONG(r, "no memory for %d PEs", h->npes);
    for (int i = 0; !h->by_turns && i < h->n; i++)
        for (int n = 0; n < h->host[i].pes; n++)
            h->host_of[pe++] = i;
    for (int round = 0; pe < h->npes; round++)
        for (int i = 0; i < h->n; i++)
            if (h->host[i].pes > round)
                h->host_of[pe++] = i;
    return 0;
}

static int place(struct reader *r, const struct options *opt)
{
    struct hosts *h = r->hosts;
    long sum = 0;
    for (int i = 0; opt->per_host && i < h->n; i++)
        h->host[i].places = opt->per_host;
    r->has_counts |= opt->per_host > 0;
    for (int i = 0; i < h->n; i++)
        sum += r->has_counts && h->host[i].places ? h->host[i].places : 1;
    if (opt->npes_given && r->has_counts && sum < opt->npes)
        return WRONG(r, "-n %d: the hosts have places for %ld PEs", opt->npes, sum);
    if (sum > LIMIT_PES)
        return WRONG(r, "%ld PEs: there may be %d", sum, LIMIT_PES);
    h->npes = opt->npes_given ? opt->npes : (int)sum;
    for (int i = 0; i < h->n; i++) {
        if (!r->has_counts)
            h->host[i].places = h->npes / h->n + (i < h->npes % h->n);
        else if (!h->host[i].places)
            h->host[i].places = 1;
    }
    divide(h, opt->spread);
    h->by_turns = h->n > 1 && (opt->rank_by ? opt->rank_by == RANK_BY_NODE : opt->spread);
    return number(r);
}

int hosts_read(const struct options *opt, struct hosts *hosts, char *error, size_t size)
{
    struct reader r = {.hosts = hosts, .error = error, .size = size};
    *hosts = (struct hosts){0};
    if (opt->hosts ? read_list(&r, opt->hosts) : read_file(&r, opt->hostfile))
        return -1;
    if (hosts->n == 0)
        return WRONG(&r, "%.100s names no host", opt->hosts ? "--hosts" : opt->hostfile);
    return place(&r, opt);
}
