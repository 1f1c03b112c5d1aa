// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer: whatever a launcher may answer. The first byte of the input chooses what it is fed to;
// tests/fuzz/pmi holds inputs to begin with. `make fuzz` builds and runs it.
#include "pmi.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

// What comes out of a parser lies within the text it was given.
static void parse(int (*parser)(char *, size_t, struct pmi_reply *), const uint8_t *data, size_t n)
{
    struct pmi_reply reply;
    char *text = malloc(n + 1);
    int number;
    memcpy(text, data, n);
    if (parser(text, n, &reply) == 0) {
        require(reply.n > 0 && reply.n <= PMI_WORDS);
        for (int i = 0; i < reply.n; i++) {
            const char *key = reply.word[i].key, *value = reply.word[i].value;
            require(key >= text && key[0] && value > key && value + strlen(value) <= text + n);
            if (pmi_reply_number(&reply, key, -5, 5, &number) == 0)
                require(number >= -5 && number <= 5);
        }
    }
    free(text);
}

static void map(const uint8_t *data, size_t n)
{
    struct node_map m;
    int size = n ? 1 + data[0] : 1;
    char *text = calloc(n + 1, 1);
    if (n)
        memcpy(text, data + 1, n - 1);
    if (node_map_parse(&m, text, size) == 0) {
        require(m.nodes >= 1 && m.nodes <= size);
        int found = 0;
        for (int node = 0; node < m.nodes; node++)
            for (int r = -1; (r = node_rank(&m, node, r + 1)) >= 0; found++)
                require(r < size && node_of(&m, r) == node);
        require(found == size);
        free(m.blocks);
    }
    free(text);
}

static void decode(const uint8_t *data, size_t n)
{
    unsigned char bytes[64];
    char *text = calloc(n + 1, 1), again[PMI_ENCODED(sizeof bytes) + 1];
    memcpy(text, data, n);
    for (size_t most = 0; most <= sizeof bytes; most++)
        if (pmi_decode(text, bytes, most) == 0) {
            pmi_encode(bytes, most, again);
            require(strcmp(again, text) == 0);
        }
    free(text);
}

static void release(struct pmi *pmi)
{
    if (!pmi)
        return;
    require(pmi->locals > 0 && pmi->locals <= pmi->size);
    char value[32];
    pmi->fence(pmi);
    pmi->get(pmi, 0, "key", value, sizeof value);
    pmi->put(pmi, "key", "value");
    pmi->finalize(pmi);
    free(pmi->local);
    free(pmi->map.blocks);
    free(pmi);
}

// A whole conversation: the launcher's side says it all at once. PMI-1 gets a line at a time.
static void talk(int version, const uint8_t *data, size_t n)
{
    int pair[2], most = 1 << 20;
    if (socketpair(AF_UNIX, version == 1 ? SOCK_SEQPACKET : SOCK_STREAM, 0, pair))
        return;
    setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
    while (n) {
        const uint8_t *end = version == 1 ? memchr(data, '\n', n) : NULL;
        size_t part = end ? (size_t)(end - data) + 1 : n;
        if (send(pair[1], data, part, MSG_DONTWAIT) < 0)
            break;
        data += part;
        n -= part;
    }
    shutdown(pair[1], SHUT_WR);
    struct pmi *pmi = version == 1 ? pmi1_open(pair[0], 1, 4) : pmi2_open(pair[0], 1, 4, "1.0");
    close(pair[1]);
    release(pmi);
    if (pmi)
        close(pair[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    switch (data[0]) {
    case '1': parse(pmi1_parse, data + 1, size - 1); break;
    case '2': parse(pmi2_parse, data + 1, size - 1); break;
    case 'l':
        if (size > 6)
            require(pmi2_length((const char *)data + 1) <= 999999);
        break;
    case 'm': map(data + 1, size - 1); break;
    case 'd': decode(data + 1, size - 1); break;
    case 'a': talk(1, data + 1, size - 1); break;
    case 'b': talk(2, data + 1, size - 1); break;
    }
    return 0;
}
