// SPDX-License-Identifier: BSD-3-Clause
// Tables with bars for a terminal.

#include "depgraph.h"

enum { BAR = 32 };

// Prints a bar of value / most, and blanks up to its full length.
static void print_bar(double value, double most, bool ascii)
{
    static const char *const part[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = most > 0 ? (int)(value / most * BAR * 8 + 0.5) : 0;
    int length = ascii ? (eighths + 4) / 8 : eighths / 8;
    eighths = ascii ? 0 : eighths % 8;
    if (value > 0 && !length && !eighths)
        eighths = 1;
    for (int i = 0; i < length; i++)
        fputs(ascii ? "#" : "█", stdout);
    fputs(ascii ? (eighths ? "." : "") : part[eighths], stdout);
    printf("%*s", BAR - length - (eighths > 0), "");
}

static int print_width(const struct result *r, uint32_t count)
{
    size_t width = 7;
    for (uint32_t i = 0; i < count; i++) {
        size_t n = strlen(r->g->name[r->order[i]]);
        width = n > width ? n : width;
    }
    return width > 32 ? 32 : (int)width;
}

void print_top(const struct result *r, uint32_t count)
{
    int width = print_width(r, count);
    printf("\n    %-*s     rank  needed by  without it, this many break\n", width, "package");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = r->order[i];
        printf("%3u %-*.*s %6.2f %%     %6u  ", i + 1, width, width, r->g->name[v],
               (double)r->rank[v] / (double)RANK_ONE * 100, csr_count(&r->g->needed, v));
        print_bar((double)r->breaks[i], r->g->n, r->ascii);
        printf(" %6llu\n", (unsigned long long)r->breaks[i]);
    }
}

void print_depths(const struct result *r, const struct bfs *b)
{
    uint64_t most = 0;
    for (uint32_t i = 1; i < b->levels; i++)
        most = b->level[i] > most ? b->level[i] : most;
    printf("\nWithout %s, %llu of the other %u packages break:\n", r->g->name[r->root],
           (unsigned long long)(b->reached - 1), r->g->n - 1);
    for (uint32_t i = 1; i < b->levels; i++) {
        printf("  %2u step%s%c ", i, i > 1 ? "s" : " ", i == BFS_LEVELS - 1 ? '+' : ' ');
        print_bar((double)b->level[i], (double)most, r->ascii);
        printf(" %6llu\n", (unsigned long long)b->level[i]);
    }
    printf("\n");
}
