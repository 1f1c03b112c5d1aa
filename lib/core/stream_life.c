// SPDX-License-Identifier: BSD-3-Clause
// The life of streams. See stream.h.
#include "net.h"
#include "shmem.h"
#include "stream_batch.h"
#include "thread.h"
#include "world.h"

#include <signal.h>
#include <stdlib.h>

struct stream stream_default;
struct stream *_Atomic stream_table[STREAMS] = {&stream_default};
pthread_mutex_t stream_table_lock = PTHREAD_MUTEX_INITIALIZER;

static void drop(struct stream *s)
{
    for (int i = 0; i < STREAM_BATCHES; i++) {
        struct batch *b = batch_at(s, i);
        s->batch[i] = NULL;
        if (b)
            pthread_mutex_destroy(&b->lock);
        free(b);
    }
}

void stream_for_all(void (*fn)(struct stream *s))
{
    for (int i = 1; i < STREAMS; i++) {
        struct stream *s = atomic_load_explicit(&stream_table[i], memory_order_acquire);
        if (s)
            fn(s);
    }
}

static void release(struct stream *s)
{
    atomic_store_explicit(&stream_table[s->index], NULL, memory_order_relaxed);
    net.transport->ctx_destroy(net.ep, s->ctx);
    drop(s);
    free(s);
}

void stream_down(void)
{
    stream_for_all(release);
    drop(&stream_default);
    stream_default = (struct stream){0};
    stream_open = 0;
}

// Threads use a context of this kind beside others, each its own.
static bool is_of_thread(long options)
{
    return world.thread_level == SHMEM_THREAD_MULTIPLE &&
           options & (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE);
}

// Signals are the program's: they must not go to a thread that a network library starts for it.
static int open_ctx(long options, void **ctx)
{
    sigset_t mask;
    thread_block_signals(&mask);
    int status = net.transport->ctx_create(net.ep, is_of_thread(options), ctx);
    thread_restore_signals(&mask);
    return status;
}

struct stream *stream_new(long options)
{
    struct stream *s = net.transport ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    pthread_mutex_lock(&stream_table_lock);
    while (s->index < STREAMS && stream_table[s->index])
        s->index++;
    if (s->index == STREAMS || open_ctx(options, &s->ctx)) {
        free(s);
        s = NULL;
    } else {
        // Pairs with the acquire loads of those who look through them.
        atomic_store_explicit(&stream_table[s->index], s, memory_order_release);
    }
    pthread_mutex_unlock(&stream_table_lock);
    return s;
}

void stream_free(struct stream *s)
{
    if (!net.transport) // stream_down has
        return;
    pthread_mutex_lock(&stream_table_lock);
    release(s);
    pthread_mutex_unlock(&stream_table_lock);
}
