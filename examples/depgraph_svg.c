// SPDX-License-Identifier: BSD-3-Clause
// The picture: the packages of highest rank, one a row, joined on the left by an arc for each
// dependency between them and followed on the right by a bar: how many packages fall with it.
//
//         .--o  libc6            ########################  6699
//        / .-o  zlib1g           #################         4822
//        \ '-o  libstdc++6       ##########                2784

#include "depgraph.h"

#include <math.h>

enum { ROW = 25, TOP = 148, DOTS = 400, RANKS = 70, BARS = 260, MARGIN = 40, COLOURS = 9 };

struct svg {
    FILE *f;
    const struct result *r;
    uint32_t count;
    const char **colour; // of each row: lines to it are drawn in it
    int names;           // pixels that the longest name takes
};

static void svg_text(FILE *f, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '&': fputs("&amp;", f); break;
        case '"': fputs("&quot;", f); break;
        default:
            if ((unsigned char)*text >= 0x20)
                fputc(*text, f);
        }
}

static const char *svg_name(const struct svg *s, uint32_t row)
{
    return s->r->g->name[s->r->order[row]];
}

static int svg_y(uint32_t row)
{
    return TOP + (int)row * ROW;
}

// Whether the package of row a depends on that of row b.
static bool svg_linked(const struct svg *s, uint32_t a, uint32_t b)
{
    const struct csr *c = &s->r->g->needs;
    uint32_t v = s->r->order[a], w = s->r->order[b];
    for (uint32_t e = c->first[v]; e < c->first[v + 1]; e++)
        if (c->to[e] == w)
            return true;
    return false;
}

static uint32_t svg_links_to(const struct svg *s, uint32_t row)
{
    uint32_t links = 0;
    for (uint32_t a = 0; a < s->count; a++)
        links += svg_linked(s, a, row);
    return links;
}

// Colours for the rows that most lines go to, grey for the others.
static void svg_pick_colours(struct svg *s)
{
    static const char *const colour[COLOURS] = {"#c8374a", "#2f6fb5", "#e08a1e",
                                                "#3d9a5f", "#8a54a8", "#1f9aa5",
                                                "#b5651d", "#d4639a", "#6b7f1e"};
    uint32_t *links = example_local(s->count, sizeof *links);
    for (uint32_t row = 0; row < s->count; row++) {
        links[row] = svg_links_to(s, row);
        s->colour[row] = "#a9b0ba";
    }
    for (int i = 0; i < COLOURS; i++) {
        uint32_t most = 0;
        for (uint32_t row = 1; row < s->count; row++)
            most = links[row] > links[most] ? row : most;
        if (links[most] < 2)
            break;
        s->colour[most] = colour[i];
        links[most] = 0;
    }
    free(links);
}

static void svg_head(const struct svg *s, int width, int height)
{
    const struct graph *g = s->r->g;
    fprintf(s->f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"'DejaVu Sans', Verdana, sans-serif\" "
            "font-size=\"13\">\n",
            width, height, width, height);
    fprintf(s->f, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fbfaf7\"/>\n");
    fprintf(s->f,
            "<text x=\"%d\" y=\"48\" font-size=\"24\" font-weight=\"bold\" fill=\"#22262b\">"
            "What everything else stands on</text>\n",
            MARGIN);
    fprintf(s->f,
            "<g fill=\"#5b626b\"><text x=\"%d\" y=\"74\">The %u packages of highest PageRank among "
            "%u with %u dependencies.</text>\n",
            MARGIN, s->count, g->n, g->m);
    fprintf(s->f,
            "<text x=\"%d\" y=\"94\">A line joins a package to one it depends on, in the colour of "
            "that one.</text></g>\n",
            MARGIN);
    int ranks = DOTS + 22 + s->names, y = TOP - 22;
    fprintf(s->f,
            "<g fill=\"#8a919b\" font-size=\"11\"><text x=\"%d\" y=\"%d\">rank</text>"
            "<text x=\"%d\" y=\"%d\">packages that break without it</text></g>\n",
            ranks, y, ranks + RANKS, y);
}

static void svg_arc(const struct svg *s, uint32_t a, uint32_t b)
{
    double rows = fabs((double)a - (double)b), all = s->count > 1 ? s->count - 1 : 1;
    double rx = 14 + fmin(rows * ROW, (DOTS - MARGIN - 30) * pow(rows / all, 0.8));
    if (a < b)
        rx *= 0.9; // so that the lines of two that need each other lie side by side
    int from = svg_y(a < b ? a : b), to = svg_y(a < b ? b : a);
    fprintf(s->f, "<path d=\"M%d %dA%.1f %.1f 0 0 0 %d %d\" stroke=\"%s\"><title>", DOTS, from, rx,
            (to - from) / 2.0, DOTS, to, s->colour[b]);
    svg_text(s->f, svg_name(s, a));
    fprintf(s->f, " needs ");
    svg_text(s->f, svg_name(s, b));
    fprintf(s->f, "</title></path>\n");
}

// Longest lines first, so that short ones lie on top.
static void svg_arcs(const struct svg *s)
{
    fprintf(s->f, "<g fill=\"none\" stroke-width=\"1.5\" stroke-opacity=\"0.62\">\n");
    for (uint32_t apart = s->count; apart-- > 1;)
        for (uint32_t a = 0; a + apart < s->count; a++) {
            if (svg_linked(s, a + apart, a))
                svg_arc(s, a + apart, a);
            if (svg_linked(s, a, a + apart))
                svg_arc(s, a, a + apart);
        }
    fprintf(s->f, "</g>\n");
}

static void svg_row(const struct svg *s, uint32_t row)
{
    const struct result *r = s->r;
    double rank = (double)r->rank[r->order[row]], most = (double)r->rank[r->order[0]];
    double bar = BARS * (double)r->breaks[row] / r->g->n;
    int y = svg_y(row), ranks = DOTS + 22 + s->names, bars = ranks + RANKS;
    fprintf(s->f, "<circle cx=\"%d\" cy=\"%d\" r=\"%.1f\" fill=\"%s\" stroke=\"#fbfaf7\"/>", DOTS,
            y, 3 + 8 * sqrt(rank / most), s->colour[row]);
    fprintf(s->f, "<text x=\"%d\" y=\"%d\" fill=\"#22262b\">", DOTS + 18, y + 5);
    svg_text(s->f, svg_name(s, row));
    fprintf(s->f,
            "</text><g fill=\"#5b626b\" font-size=\"11\"><text x=\"%d\" y=\"%d\">%.2f %%</text>",
            ranks, y + 4, rank / (double)RANK_ONE * 100);
    fprintf(s->f, "<text x=\"%.1f\" y=\"%d\">%llu</text></g>", bars + bar + 8, y + 4,
            (unsigned long long)r->breaks[row]);
    fprintf(s->f,
            "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"12\" rx=\"2\" fill=\"%s\" "
            "fill-opacity=\"0.85\"/>\n",
            bars, y - 6, r->breaks[row] ? fmax(1, bar) : 0.0, s->colour[row]);
}

static void svg_draw(struct svg *s)
{
    for (uint32_t row = 0; row < s->count; row++) {
        int n = (int)strlen(svg_name(s, row)) * 8 + 12;
        s->names = n > s->names ? n : s->names;
    }
    int width = DOTS + 22 + s->names + RANKS + BARS + 50 + MARGIN, low = svg_y(s->count);
    svg_pick_colours(s);
    svg_head(s, width, low + 40);
    svg_arcs(s);
    for (uint32_t row = 0; row < s->count; row++)
        svg_row(s, row);
    fprintf(s->f, "<text x=\"%d\" y=\"%d\" fill=\"#8a919b\" font-size=\"11\">", MARGIN, low + 16);
    svg_text(s->f, s->r->g->from);
    fprintf(s->f, ", computed by depgraph on %d PE%s</text>\n</svg>\n", s->r->npes,
            s->r->npes > 1 ? "s" : "");
}

int svg_write(const struct result *r, const char *path)
{
    struct svg s = {.r = r, .count = r->top < SVG_ROWS ? r->top : SVG_ROWS};
    s.f = fopen(path, "w");
    if (!s.f) {
        perror(path);
        return -1;
    }
    s.colour = example_local(s.count, sizeof *s.colour);
    svg_draw(&s);
    free(s.colour);
    int bad = ferror(s.f);
    if (fclose(s.f) || bad) {
        fprintf(stderr, "%s: not all could be written\n", path);
        return -1;
    }
    return 0;
}
