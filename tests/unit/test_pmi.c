// SPDX-License-Identifier: BSD-3-Clause
// The launchers' languages against good and malformed answers, node maps, and blobs between nodes.
// A thread plays the launcher.
#include "unit.h"

#include "compiler.h"
#include "pmi.h"

#include <ctype.h>
#include <pthread.h>

static struct capture seen;

// ---- parsers
static const char *parsed(int (*parser)(char *, size_t, struct pmi_reply *), const char *message,
                          const char *key)
{
    static char text[512];
    struct pmi_reply reply;
    strcpy(text, message);
    return parser(text, strlen(text), &reply) ? "refused" : pmi_reply_text(&reply, key);
}

static void test_parse_lines(void **state)
{
    (void)state;
    assert_string_equal(parsed(pmi1_parse, "cmd=x", "cmd"), "x");
    assert_string_equal(parsed(pmi1_parse, "  cmd=x  a=b=c rc=0 ", "a"), "b=c");
    assert_string_equal(parsed(pmi1_parse, "cmd=x value=", "value"), "");
    assert_string_equal(parsed(pmi1_parse, "a=1 a=2", "a"), "1");
    assert_null(parsed(pmi1_parse, "cmd=x", "c"));
    static const char *const bad[] = {"", " ", "cmd", "=x", "cmd=x rc", "cmd=x =0",
                                      ("a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1 k=1 l=1 m=1 "
                                       "n=1 o=1 p=1 q=1")};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_string_equal(parsed(pmi1_parse, bad[i], "cmd"), "refused");
    char zero[] = "cmd=x\0a=b";
    struct pmi_reply reply;
    assert_int_equal(pmi1_parse(zero, sizeof zero - 1, &reply), -1);
}

static void test_parse_messages(void **state)
{
    (void)state;
    assert_string_equal(parsed(pmi2_parse, "cmd=x;", "cmd"), "x");
    assert_string_equal(parsed(pmi2_parse, "cmd=x;value=a;;b=c;;;rc=0;", "value"), "a;b=c;");
    assert_string_equal(parsed(pmi2_parse, "cmd=x;value=a;;b=c;;;rc=0;", "rc"), "0");
    assert_string_equal(parsed(pmi2_parse, "cmd=x;v=;", "v"), "");
    static const char *const bad[] = {"", ";", "cmd", "cmd=x", "=x;", "cmd=x;rc", "cmd=x;rc=0",
                                      "cmd=x;;", "rc;a=b;"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_string_equal(parsed(pmi2_parse, bad[i], "cmd"), "refused");
    assert_int_equal(pmi2_length("    42"), 42);
    assert_int_equal(pmi2_length("42    "), 42);
    static const char *const wrong[] = {"      ", "  4 2 ", "    -1", "   0x1", "abcdef"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(pmi2_length(wrong[i]), -1);
}

static void test_numbers(void **state)
{
    (void)state;
    struct pmi_reply reply = {.n = 5, .word = {{"a", "12"}, {"b", "12x"}, {"c", ""}, {"d", "-3"},
                                               {"e", "99999999999999999999"}}};
    int n = 77;
    assert_int_equal(pmi_reply_number(&reply, "a", 0, 12, &n), 0);
    assert_int_equal(n, 12);
    assert_int_equal(pmi_reply_number(&reply, "d", -3, 12, &n), 0);
    assert_int_equal(n, -3);
    assert_int_equal(pmi_reply_number(&reply, "a", 0, 11, &n), -1);
    assert_int_equal(pmi_reply_number(&reply, "a", 13, 20, &n), -1);
    for (const char *key = "bcez"; *key; key++)
        assert_int_equal(pmi_reply_number(&reply, (char[]){*key, '\0'}, -100, 1L << 40, &n), -1);
    assert_int_equal(n, -3);
}

// ---- node maps
static void check_map(const char *text, const char *nodes) // one digit a rank
{
    struct node_map map;
    int size = (int)strlen(nodes), most = 0;
    assert_int_equal(node_map_parse(&map, text, size), 0);
    for (int r = 0; r < size; r++) {
        assert_int_equal(node_of(&map, r), nodes[r] - '0');
        most = nodes[r] - '0' > most ? nodes[r] - '0' : most;
    }
    assert_int_equal(map.nodes, most + 1);
    for (int node = 0; node <= most; node++)
        for (int from = 0; from < size; from++) {
            const char *next = strchr(nodes + from, '0' + node);
            assert_int_equal(node_rank(&map, node, from), next ? (int)(next - nodes) : -1);
        }
    free(map.blocks);
}

static void test_maps(void **state)
{
    (void)state;
    check_map("(vector,(0,1,4))", "0000");
    check_map("(vector,(0,1,1))", "0000000"); // repeated
    check_map("(vector,(0,3,2))", "001122001");
    check_map("(vector,(0,3,2))", "001"); // more nodes than the ranks reach
    check_map("(vector,(0,2,1),(2,1,3),(0,1,2))", "01222000122200");
    check_map("(vector,(1,1,2),(0,1,1))", "1101");
    static const char *const bad[] = {
        "", "(vector)", "(vector,)", "(vector,(0,1))", "(vector,(0,1,4)", "(vector,(0,1,4)) ",
        "(vector,(0,0,4))", "(vector,(0,1,0))", "(vector,(0,1,0),(0,1,4))",
        "(vector,(-1,1,4))", "(vector,(0,1,4),)",
        "(vector (0,1,4))", "vector,(0,1,4)", "(vector,(0,1,99999999))", "(vector,(9999999,1,1))",
        "(vector,(1,1,4))",           // no node 0
        "(vector,(0,1,1),(2,1,1))",   // no node 1
        "(vector,(0,1000000,9999999))"};
    struct node_map map;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(node_map_parse(&map, bad[i], 4), -1);
    assert_int_equal(node_map_parse(&map, "(vector,(0,1,4))", 0), -1);
}

// ---- bytes as text
static void test_encoding(void **state)
{
    (void)state;
    unsigned char bytes[40], back[40];
    char text[PMI_ENCODED(sizeof bytes) + 1];
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)next_random(&random);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        pmi_encode(bytes, n, text);
        assert_int_equal(strlen(text), PMI_ENCODED(n));
        for (const char *c = text; *c; c++)
            assert_true(isalnum((unsigned char)*c) || *c == '-' || *c == '_');
        memset(back, 0x55, sizeof back);
        assert_int_equal(pmi_decode(text, back, n), 0);
        assert_memory_equal(back, bytes, n);
    }
    assert_int_equal(pmi_decode("AAAA", back, 2), -1);
    assert_int_equal(pmi_decode("AAA", back, 3), -1);
    assert_int_equal(pmi_decode("AA+A", back, 3), -1);
    assert_int_equal(pmi_decode("AAB", back, 2), -1); // bits that are no byte
}

// ---- a launcher in a thread: it expects a question, gives an answer
struct turn {
    const char *question, *answer; // NULL: closes
};

struct server {
    int fd, version;
    const struct turn *turn;
    const char *unexpected;
};

static size_t read_question(int fd, int version, char *text, size_t size)
{
    size_t n = 0;
    if (version == 2) {
        if (recv(fd, text, 6, MSG_WAITALL) != 6)
            return 0;
        text[6] = '\0';
        n = (size_t)atoi(text);
        return n < size && recv(fd, text, n, MSG_WAITALL) == (ssize_t)n ? n : 0;
    }
    while (n < size - 1 && recv(fd, text + n, 1, 0) == 1)
        if (text[n++] == '\n')
            break;
    return n;
}

static void *serve(void *argument)
{
    struct server *s = argument;
    bool greeted = false;
    for (; s->turn->question; s->turn++) {
        char text[2048] = "", head[7] = "";
        int version = greeted ? s->version : 1;
        size_t n = read_question(s->fd, version, text, sizeof text - 1);
        text[n] = '\0';
        if (n == 0) // it has gone
            break;
        if (!strstr(text, s->turn->question)) {
            s->unexpected = s->turn->question;
            break;
        }
        if (!s->turn->answer)
            break;
        snprintf(head, sizeof head, "%6d", (int)strlen(s->turn->answer));
        if (version == 2)
            send(s->fd, head, 6, MSG_NOSIGNAL | MSG_MORE);
        send(s->fd, s->turn->answer, strlen(s->turn->answer), MSG_NOSIGNAL);
        greeted = true;
    }
    close(s->fd);
    return NULL;
}

// Opens a client of rank 1 of 4, and talks if that succeeds. What it says goes to `seen`.
static int talk(int version, const struct turn *turns, char *value, size_t size)
{
    int pair[2], result = -2;
    pthread_t thread;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    struct server s = {.fd = pair[1], .version = version, .turn = turns};
    pthread_create(&thread, NULL, serve, &s);
    capture_start(&seen);
    struct pmi *pmi = version == 1 ? pmi1_open(pair[0], 1, 4) : pmi2_open(pair[0], 1, 4, "7.0");
    if (pmi) {
        assert_int_equal(pmi->locals, 2);
        assert_int_equal(pmi->local[0] * 10 + pmi->local[1], 1);
        result = pmi->put(pmi, "key", "value") || pmi->fence(pmi) ||
                 pmi->get(pmi, 0, "name", value, size);
        if (!result)
            pmi->finalize(pmi);
        close(pair[0]);
        free(pmi->local);
        free(pmi->map.blocks);
        free(pmi);
    }
    capture_end(&seen);
    pthread_join(thread, NULL);
    assert_null(s.unexpected);
    return result;
}

static const struct turn good1[] = {
    {"cmd=init pmi_version=1 pmi_subversion=1\n",
     "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"},
    {"cmd=get_maxes\n", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"},
    {"cmd=get_my_kvsname\n", "cmd=my_kvsname kvsname=kvs_1\n"},
    {"cmd=get kvsname=kvs_1 key=PMI_process_mapping\n",
     "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n"},
    {"cmd=put kvsname=kvs_1 key=key value=value\n", "cmd=put_result rc=0 msg=success\n"},
    {"cmd=barrier_in\n", "cmd=barrier_out\n"},
    {"cmd=get kvsname=kvs_1 key=name\n", "cmd=get_result rc=0 msg=success value=some\n"},
    {"cmd=finalize\n", "cmd=finalize_ack\n"},
    {NULL, NULL}};

static const struct turn good2[] = {
    {"cmd=init pmi_version=2 pmi_subversion=0\n",
     "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"},
    {"cmd=fullinit;pmijobid=7.0;pmirank=1;", "cmd=fullinit-response;rc=0;rank=1;size=4;appnum=0;"},
    {"cmd=info-getjobattr;key=PMI_process_mapping;",
     "cmd=info-getjobattr-response;found=TRUE;value=(vector,(0,2,2));rc=0;"},
    {"cmd=kvs-put;key=key;value=value;", "cmd=kvs-put-response;rc=0;"},
    {"cmd=kvs-fence;", "cmd=kvs-fence-response;rc=0;"},
    {"cmd=kvs-get;jobid=7.0;srcid=0;key=name;", "cmd=kvs-get-response;found=TRUE;value=some;rc=0;"},
    {"cmd=finalize;", "cmd=finalize-response;rc=0;"},
    {NULL, NULL}};

static void test_conversations(void **state)
{
    char value[8] = "";
    (void)state;
    assert_int_equal(talk(1, good1, value, sizeof value), 0);
    assert_string_equal(value, "some");
    assert_string_equal(seen.text, "");
    assert_int_equal(talk(2, good2, value, sizeof value), 0);
    assert_string_equal(value, "some");
    assert_string_equal(seen.text, "");
    // It does not fit: one line, no byte of it.
    char small[4] = "abc";
    assert_int_equal(talk(1, (const struct turn[]){good1[0], good1[1], good1[2], good1[3], good1[4],
                                                   good1[5], good1[6], {NULL, NULL}}, small, 4), 1);
    assert_int_equal(seen.writes, 1);
    assert_string_equal(small, "abc");
}

// The good conversation up to `at`, where the answer is another: one line, and no success.
static void check_spoilt(int version, const struct turn *good, int at, const char *answer)
{
    struct turn turns[ARRAY_LEN(good1)];
    char value[8];
    for (int i = 0; i <= at; i++)
        turns[i] = good[i];
    turns[at].answer = answer;
    turns[at + 1] = (struct turn){NULL, NULL};
    assert_int_not_equal(talk(version, turns, value, sizeof value), 0);
    assert_int_equal(seen.writes, 1);
    assert_non_null(strstr(seen.text, version == 1 ? "PMI-1: " : "PMI-2: "));
    for (const char *c = seen.text; *c; c++)
        assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
}

static void test_malformed(void **state)
{
    static const char *const nonsense[] = {NULL, "\n", "cmd=\n", "x\n", "cmd=what rc=0\n",
                                           "\033[2Jcmd=y\n"};
    (void)state;
    for (int at = 0; at <= 6; at++)
        for (size_t i = 0; i < ARRAY_LEN(nonsense); i++)
            check_spoilt(1, good1, at, nonsense[i]);
    check_spoilt(1, good1, 0, "cmd=response_to_init rc=-1\n");
    check_spoilt(1, good1, 1, "cmd=maxes keylen_max=64 vallen_max=4\n");
    check_spoilt(1, good1, 1, "cmd=maxes keylen_max=8 vallen_max=1024\n");
    check_spoilt(1, good1, 2, "cmd=my_kvsname kvsname=\n");
    check_spoilt(1, good1, 3, "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
    check_spoilt(1, good1, 3, "cmd=get_result rc=0 value=(vector,(0,1,0))\n");
    check_spoilt(1, good1, 5, "cmd=barrier_out\ncmd=barrier_out\n");
    check_spoilt(1, good1, 6, "cmd=get_result rc=0\n");
    check_spoilt(1, good1, 6, "cmd=get_result rc=0 value=far-too-long\n");
    static const char *const garbage[] = {NULL, "cmd=;", "x", "cmd=what;rc=0;", "cmd", "\033[2J;"};
    for (int at = 1; at <= 5; at++)
        for (size_t i = 0; i < ARRAY_LEN(garbage); i++)
            check_spoilt(2, good2, at, garbage[i]);
    check_spoilt(2, good2, 0, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n");
    check_spoilt(2, good2, 0, NULL);
    check_spoilt(2, good2, 1, "cmd=fullinit-response;rc=0;rank=2;size=4;");
    check_spoilt(2, good2, 1, "cmd=fullinit-response;rc=0;rank=1;size=5;");
    check_spoilt(2, good2, 1, "cmd=fullinit-response;rc=3;rank=1;size=4;");
    check_spoilt(2, good2, 2, "cmd=info-getjobattr-response;found=FALSE;rc=0;");
    check_spoilt(2, good2, 5, "cmd=kvs-get-response;found=TRUE;value=far-too-long;rc=0;");
    check_spoilt(2, good2, 5, "cmd=kvs-get-response;found=TRUE;value=a;");
}

// An answer to another question, and then all goes on well; a line that does not end.
static void test_mistaken(void **state)
{
    static char line[20000];
    struct turn turns[ARRAY_LEN(good1)];
    char value[8];
    (void)state;
    for (int at = 4; at <= 5; at++) {
        memcpy(turns, good1, sizeof turns);
        turns[at].answer = "cmd=get_result rc=0\n";
        assert_int_not_equal(talk(1, turns, value, sizeof value), 0);
        memcpy(turns, good2, sizeof good2);
        turns[at - 1].answer = "cmd=kvs-get-response;rc=0;";
        assert_int_not_equal(talk(2, turns, value, sizeof value), 0);
    }
    memset(line, 'a', sizeof line - 1);
    check_spoilt(1, good1, 6, line);
}

// ---- blobs between nodes: six ranks on three nodes, each a thread
enum { RANKS = 6, NODES = 3, BLOB = 1000, KEYS = 256 };

static struct {
    pthread_mutex_t lock;
    pthread_barrier_t meeting;
    int used, longest;
    char key[KEYS][PMI_KEY_MOST + 1], value[KEYS][PMI_VALUE_MOST + 1];
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int store_put(struct pmi *pmi, const char *key, const char *value)
{
    (void)pmi;
    pthread_mutex_lock(&store.lock);
    strcpy(store.key[store.used], key);
    strcpy(store.value[store.used++], value);
    if ((int)strlen(value) > store.longest)
        store.longest = (int)strlen(value);
    pthread_mutex_unlock(&store.lock);
    return 0;
}

static int store_fence(struct pmi *pmi)
{
    (void)pmi;
    pthread_barrier_wait(&store.meeting);
    return 0;
}

static int store_get(struct pmi *pmi, int rank, const char *key, char *value, size_t size)
{
    (void)rank;
    (void)pmi;
    int found = -1;
    pthread_mutex_lock(&store.lock); // another rank may be at the next exchange
    for (int i = 0; i < store.used && found; i++)
        if (strcmp(store.key[i], key) == 0 && strlen(store.value[i]) < size) {
            strcpy(value, store.value[i]);
            found = 0;
        }
    pthread_mutex_unlock(&store.lock);
    return found;
}

static char *store_mapping(struct pmi *pmi)
{
    (void)pmi;
    return strdup("(vector,(0,3,1))");
}

// The launcher's list of local ranks and its map have to be of one mind.
static void test_locals(void **state)
{
    static const struct {
        int local[3], locals, result;
    } lists[] = {
        {{1, 4}, 2, 0}, {{0, 1}, 2, -1}, {{1}, 1, -1}, {{1, 4, 5}, 3, -1}, {{1, 2, 4}, 3, -1}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct pmi pmi = {.name = "test", .rank = 1, .size = RANKS, .mapping = store_mapping};
        pmi.local = (int *)lists[i].local;
        pmi.locals = lists[i].locals;
        capture_start(&seen);
        assert_int_equal(pmi_map(&pmi), lists[i].result);
        const char *text = capture_end(&seen);
        assert_int_equal(strstr(text, "a name of its own") != NULL, lists[i].result != 0);
        free(pmi.map.blocks);
    }
}

static void *exchange(void *argument)
{
    int rank = (int)(intptr_t)argument, local[2] = {rank % NODES, rank % NODES + NODES};
    struct pmi pmi = {.name = "test", .rank = rank, .size = RANKS, .local = local, .locals = 2,
                      .value_most = 100, .put = store_put, .fence = store_fence, .get = store_get,
                      .mapping = store_mapping};
    static const size_t sizes[] = {BLOB, 1, 75, 76, 0};
    char mine[BLOB], all[NODES * BLOB];
    intptr_t wrong = 0;
    bool leads = rank < NODES;
    for (size_t round = 0; round < ARRAY_LEN(sizes); round++) {
        size_t n = sizes[round];
        memset(mine, 'a' + rank + (int)round, sizeof mine);
        wrong += pmi_exchange(&pmi, leads ? mine : NULL, n, leads ? all : NULL) != 0;
        for (int node = 0; leads && node < NODES; node++)
            for (size_t i = 0; i < n; i++)
                wrong += all[(size_t)node * n + i] != 'a' + node + (int)round;
    }
    free(pmi.map.blocks);
    return (void *)wrong;
}

static void test_exchange(void **state)
{
    pthread_t thread[RANKS];
    void *wrong;
    (void)state;
    pthread_barrier_init(&store.meeting, NULL, RANKS);
    for (int r = 0; r < RANKS; r++)
        pthread_create(&thread[r], NULL, exchange, (void *)(intptr_t)r);
    for (int r = 0; r < RANKS; r++) {
        pthread_join(thread[r], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(store.longest, 100);
    assert_int_equal(store.used, NODES * (14 + 1 + 1 + 2));
    pthread_barrier_destroy(&store.meeting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_lines), cmocka_unit_test(test_parse_messages),
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_maps),
        cmocka_unit_test(test_encoding),    cmocka_unit_test(test_conversations),
        cmocka_unit_test(test_malformed),   cmocka_unit_test(test_mistaken),
        cmocka_unit_test(test_locals),      cmocka_unit_test(test_exchange),
    };
    return cmocka_run_group_tests(tests, clear_settings, NULL);
}
