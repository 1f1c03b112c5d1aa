// SPDX-License-Identifier: BSD-3-Clause
// A hash table spread over all PEs, on active messages (shoal.h). Every PE reads its share of a text
// and sends each word to the PE that owns it; the handler there counts it in its own table, so that
// no lock and no atomic is needed. Words travel in batches that are built in the owner's memory
// (reserve, commit). The result is checked against a count by one PE.
//
//     oshrun -n 4 wordcount --file README.md

#include "example.h"

#include <shoal.h>

enum { WORDS = 1, COUNT_OF = 2, ANSWER = 3, LONGEST = 63 };

static const char *file = NULL;
static long top = 10;
static const struct example_option options[] = {
    {"--file", "NAME", NULL, 0, &file, "text to read (the shipped list of packages)"},
    {"--top", "N", &top, 1, NULL, "most frequent words to show"},
    {.name = NULL},
};

// ---- One PE's table: open addressing, grown by doubling.
struct entry {
    char word[LONGEST + 1]; // "": free
    long count;
};
struct table {
    struct entry *entry;
    size_t room, used;
};

static uint64_t hash_of(const char *word)
{
    uint64_t h = 1469598103934665603u;
    for (; *word; word++)
        h = (h ^ (unsigned char)*word) * 1099511628211u;
    return h ^ h >> 29;
}

static struct entry *find(struct table *t, const char *word)
{
    size_t i = hash_of(word) & (t->room - 1);
    while (t->entry[i].word[0] && strcmp(t->entry[i].word, word))
        i = (i + 1) & (t->room - 1);
    return &t->entry[i];
}

static void grow(struct table *t)
{
    struct table bigger = {calloc(t->room * 2, sizeof *t->entry), t->room * 2, t->used};
    for (size_t i = 0; i < t->room; i++)
        if (t->entry[i].word[0])
            *find(&bigger, t->entry[i].word) = t->entry[i];
    free(t->entry);
    *t = bigger;
}

static void count(struct table *t, const char *word, long n)
{
    if (2 * t->used >= t->room)
        grow(t);
    struct entry *e = find(t, word);
    if (!e->word[0]) {
        strcpy(e->word, word);
        t->used++;
    }
    e->count += n;
}

static struct table table_new(void)
{
    return (struct table){calloc(1024, sizeof(struct entry)), 1024, 0};
}

// ---- Messages
static struct table mine;
static long received, answer = -1; // words

static void on_words(const shoal_am_t *am)
{
    const char *at = am->payload, *end = at + am->n;
    for (; at < end; at += strlen(at) + 1, received++)
        count(&mine, at, 1);
}

static void on_question(const shoal_am_t *am)
{
    shoal_am_reply(am, ANSWER, (uint64_t)find(&mine, am->payload)->count, NULL, 0);
}

static void on_answer(const shoal_am_t *am)
{
    answer = (long)am->arg;
}

// ---- Sending: a batch of words for each owner.
struct batch {
    char *words;
    size_t n;
};

static void flush(struct batch *batches, int owner)
{
    struct batch *b = &batches[owner];
    if (b->n)
        shoal_am_request(owner, WORDS, 0, b->words, b->n);
    b->n = 0;
}

static int owner_of(const char *word)
{
    return (int)((hash_of(word) >> 32) % (uint64_t)shmem_n_pes());
}

static void send_word(struct batch *batches, const char *word, size_t most)
{
    int owner = owner_of(word);
    size_t n = strlen(word) + 1;
    if (batches[owner].n + n > most)
        flush(batches, owner);
    memcpy(batches[owner].words + batches[owner].n, word, n);
    batches[owner].n += n;
}

// ---- The text. Calls fn for every word that starts in [from, to).
typedef void word_fn(const char *word, void *arg);

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c & 0x80);
}

static long for_words(const char *text, size_t size, size_t from, size_t to, word_fn *fn, void *arg)
{
    long words = 0;
    for (size_t i = from; i < to; i++) {
        char word[LONGEST + 1];
        size_t n = 0;
        if (!in_word(text[i]) || (i > 0 && in_word(text[i - 1])))
            continue;
        for (size_t at = i; at < size && in_word(text[at]); at++)
            if (n < LONGEST)
                word[n++] = text[at];
        word[n] = 0;
        fn(word, arg);
        words++;
    }
    return words;
}

struct sender {
    struct batch *batches;
    size_t most;
};

static void send_one(const char *word, void *arg)
{
    struct sender *s = arg;
    send_word(s->batches, word, s->most);
}

static void count_one(const char *word, void *arg)
{
    count(arg, word, 1);
}

static char *read_text(size_t *size)
{
    char shipped[4096] = "";
    if (!file)
        example_data(shipped, sizeof shipped);
    FILE *f = fopen(file ? file : shipped, "rb");
    char *text = NULL;
    if (f && fseek(f, 0, SEEK_END) == 0) {
        *size = (size_t)ftell(f);
        rewind(f);
        text = malloc(*size + 1);
        if (text && fread(text, 1, *size, f) != *size)
            text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

// ---- All PEs count together. Returns how many words there are in all.
static uint64_t count_together(const char *text, size_t size)
{
    size_t npes = (size_t)shmem_n_pes(), me = (size_t)shmem_my_pe();
    struct sender s = {example_local(npes, sizeof *s.batches), 0};
    uint64_t most;
    shoal_query(SHOAL_Q_AM_MAX, 0, &most);
    s.most = (size_t)most;
    for (size_t i = 0; i < npes; i++)
        s.batches[i].words = example_local(s.most, 1);
    uint64_t total = example_sum(
        (uint64_t)for_words(text, size, size * me / npes, size * (me + 1) / npes, send_one, &s));
    for (size_t i = 0; i < npes; i++) {
        flush(s.batches, (int)i);
        free(s.batches[i].words);
    }
    free(s.batches);
    // Everything sent has been counted when the counts add up: messages are not lost.
    while (example_sum((uint64_t)received) < total)
        shoal_progress();
    return total;
}

static int by_count(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->word, y->word);
}

static long ask(const char *word)
{
    answer = -1;
    shoal_am_request(owner_of(word), COUNT_OF, 0, word, strlen(word) + 1);
    while (answer < 0)
        shoal_progress();
    return answer;
}

// PE 0 alone: counts everything itself, and compares every word with what its owner says.
static const char *check(const char *text, size_t size)
{
    struct table all = table_new();
    const char *fault = NULL;
    for_words(text, size, 0, size, count_one, &all);
    for (size_t i = 0; i < all.room && !fault; i++)
        if (all.entry[i].word[0] && ask(all.entry[i].word) != all.entry[i].count)
            fault = "found a word whose owner counted otherwise";
    qsort(all.entry, all.room, sizeof *all.entry, by_count);
    for (long i = 0; i < top && (size_t)i < all.used; i++)
        printf("%8ld  %s\n", all.entry[i].count, all.entry[i].word);
    free(all.entry);
    return fault;
}

int main(int argc, char **argv)
{
    shmem_init();
    int status = example_options(argc, argv, "counts the words of a text in a distributed hash table",
                                 options);
    size_t size = 0;
    char *text = status == EXAMPLE_RUN ? read_text(&size) : NULL;
    if (status == EXAMPLE_RUN && example_fault("wordcount", text ? NULL : "cannot read the text"))
        status = 1;
    if (status == EXAMPLE_RUN) {
        mine = table_new();
        shoal_am_register(WORDS, on_words, NULL);
        shoal_am_register(COUNT_OF, on_question, NULL);
        shoal_am_register(ANSWER, on_answer, NULL);
        shmem_barrier_all();
        double start = example_now();
        uint64_t total = count_together(text, size);
        double took = example_now() - start;
        const char *fault = shmem_my_pe() == 0 ? check(text, size) : NULL;
        uint64_t different = example_sum(mine.used);
        status = example_fault("wordcount", fault);
        if (shmem_my_pe() == 0 && !status)
            printf("wordcount: %llu words, %llu different, on %d PEs: %.1f million words/s\n",
                   (unsigned long long)total, (unsigned long long)different, shmem_n_pes(),
                   (double)total / took / 1e6);
        free(mine.entry);
    }
    free(text);
    shmem_finalize();
    return status;
}
