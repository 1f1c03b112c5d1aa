// SPDX-License-Identifier: BSD-3-Clause
// See messages.h. Where a library brings a PE's messages in order the numbers cost nothing, and they
// make it true everywhere. A message that comes too early is copied and held, so that the library
// has room for the one that is missing.
#include "messages.h"

#include "compiler.h"
#include "job.h"

#include <stdlib.h>
#include <string.h>

void messages_open(struct messages *m)
{
    m->arrived_end = &m->arrived;
}

void messages_peer_add(struct messages *m, struct messages_peer *peer, int pe)
{
    peer->pe = pe;
    peer->next = m->peers;
    m->peers = peer;
}

void messages_peer_lose(struct messages *m, struct messages_peer *peer, const char *why)
{
    if (peer->lost)
        return;
    peer->lost = m->has_lost = true;
    peer->why = why;
    job_log(m->job, m->name, LOG_DEBUG, "PE %d is lost: %s", peer->pe, why);
    m->abandon(m->ep, peer);
}

// Its bytes are behind it, and so that the payload is aligned for whoever keeps it.
enum {
    ALIGN = _Alignof(max_align_t),
    HEADER = sizeof(struct message_header),
    BYTES_AT = (sizeof(struct message) + HEADER + ALIGN - 1) / ALIGN * ALIGN - HEADER
};

static unsigned char *bytes_of(struct message *copy)
{
    return (unsigned char *)copy + BYTES_AT;
}

static struct message *new_copy(size_t n)
{
    struct message *copy = malloc(BYTES_AT + n);
    if (copy)
        *copy = (struct message){.is_copy = true, .length = n, .bytes = bytes_of(copy)};
    return copy;
}

// ---- Sending
size_t messages_write(struct messages *m, const struct messages_peer *peer, enum message_kind kind,
                      const struct transport_payload *payload, unsigned char *bytes)
{
    size_t n = transport_payload_size(payload);
    struct message_header header = {.secret = m->job->secret,
                                    .from = (uint32_t)m->job->me,
                                    .seq = peer->out,
                                    .taken = peer->taken,
                                    .length = (uint32_t)n & 0xffffff,
                                    .kind = (uint32_t)kind & 0xff};
    memcpy(bytes, &header, sizeof header);
    transport_payload_copy(bytes + sizeof header, payload);
    return sizeof header + n;
}

static void queue(struct messages *m, struct message *message)
{
    message->next = NULL;
    *m->arrived_end = message;
    m->arrived_end = &message->next;
}

static int send_to_self(struct messages *m, struct messages_peer *peer,
                        const struct transport_payload *payload)
{
    struct message *message = new_copy(sizeof(struct message_header) +
                                       transport_payload_size(payload));
    if (!message)
        return TRANSPORT_FAILED;
    messages_write(m, peer, MESSAGE_USER, payload, bytes_of(message));
    queue(m, message);
    return TRANSPORT_DONE;
}

int messages_send(struct messages *m, int pe, const struct transport_payload *payload)
{
    struct messages_peer *peer = m->peer(m->ep, pe);
    if (!peer || unlikely(peer->lost))
        return TRANSPORT_FAILED;
    if (messages_wait_for(peer))
        return TRANSPORT_AGAIN;
    int status = pe == m->job->me ? send_to_self(m, peer, payload)
                                  : m->send(m->ep, peer, MESSAGE_USER, payload);
    if (status != TRANSPORT_DONE)
        return status;
    peer->told_taken = peer->taken;
    peer->out++;
    return TRANSPORT_DONE;
}

int messages_notice(struct messages *m, struct messages_peer *peer)
{
    static const struct transport_payload none;
    if (peer->noticing)
        return TRANSPORT_DONE;
    if (peer->lost)
        return TRANSPORT_FAILED;
    peer->noticing = true;
    int status = m->send(m->ep, peer, MESSAGE_NOTICE, &none);
    if (status == TRANSPORT_DONE)
        peer->told_taken = peer->taken;
    else
        peer->noticing = false;
    return status;
}

// Half a window before the sender has to wait, unless a message of ours tells it anyway.
static bool is_owed(const struct messages *m, const struct messages_peer *peer)
{
    return peer->taken - peer->told_taken >= MESSAGE_WINDOW / 2 && !peer->lost &&
           peer->pe != m->job->me;
}

static void took_one(struct messages *m, struct messages_peer *peer)
{
    peer->taken++;
    if (peer->pe == m->job->me)
        peer->out_taken = peer->taken;
    else if (is_owed(m, peer) && (peer->noticing || messages_notice(m, peer) == TRANSPORT_AGAIN))
        m->owes_notices = true;
}

static void send_notices(struct messages *m)
{
    m->owes_notices = false;
    for (struct messages_peer *peer = m->peers; peer; peer = peer->next)
        if (is_owed(m, peer) && (peer->noticing || messages_notice(m, peer) == TRANSPORT_AGAIN))
            m->owes_notices = true;
}

// ---- What came
static struct message_header header_of(const struct message *message)
{
    struct message_header header;
    memcpy(&header, message->bytes, sizeof header);
    return header;
}

static bool is_ours(const struct messages *m, const struct message *message)
{
    struct message_header header;
    if (message->length < sizeof header || message->length > MESSAGE_BYTES)
        return false;
    header = header_of(message);
    return header.secret == m->job->secret && header.from < (uint32_t)m->job->npes &&
           header.from != (uint32_t)m->job->me && header.kind < MESSAGE_KINDS &&
           header.length == message->length - sizeof header;
}

void messages_forged(struct messages *m, size_t length)
{
    enum log_level level = m->told_forged ? LOG_DEBUG : LOG_WARN;
    m->told_forged = true;
    job_log(m->job, m->name, level, "a message of %zu bytes that is not of this job was dropped%s",
            length, level == LOG_WARN ? " (further ones are told at level debug)" : "");
}

struct message *messages_copy(const void *bytes, size_t n)
{
    struct message *copy = new_copy(n);
    if (copy)
        memcpy(bytes_of(copy), bytes, n);
    return copy;
}

static void dispose(struct messages *m, struct message *message)
{
    if (message->is_copy)
        free(message);
    else
        m->give_back(m->ep, message);
}

// The same message in memory of ours; NULL: no memory, and it is where it was.
static struct message *keep(struct messages *m, struct message *message)
{
    if (message->is_copy)
        return message;
    struct message *copy = messages_copy(message->bytes, message->length);
    if (copy)
        m->give_back(m->ep, message);
    return copy;
}

// Unless it is there already.
static void hold(struct messages *m, struct messages_peer *peer, struct message *message,
                 uint32_t seq)
{
    struct message **at = &peer->held;
    while (*at && (int32_t)(header_of(*at).seq - seq) < 0)
        at = &(*at)->next;
    bool is_there = *at && header_of(*at).seq == seq;
    struct message *kept = is_there ? NULL : keep(m, message);
    if (!kept) {
        dispose(m, message);
        if (!is_there)
            messages_peer_lose(m, peer, "no memory for its messages");
        return;
    }
    kept->next = *at;
    *at = kept;
}

static void accept(struct messages *m, struct message *message)
{
    struct message_header header;
    struct messages_peer *peer = NULL;
    if (is_ours(m, message)) {
        header = header_of(message);
        peer = m->peer(m->ep, (int)header.from);
    } else {
        messages_forged(m, message->length);
    }
    // What it took is between what we knew and what we sent, or it is old news.
    if (peer && header.taken - peer->out_taken <= peer->out - peer->out_taken)
        peer->out_taken = header.taken;
    int32_t early = peer ? (int32_t)(header.seq - peer->in) : -1;
    if (!peer || header.kind == MESSAGE_NOTICE || early < 0) {
        dispose(m, message);
        return;
    }
    if (early > 0) {
        hold(m, peer, message, header.seq);
        return;
    }
    peer->in++;
    queue(m, message);
    while (peer->held && header_of(peer->held).seq == peer->in) {
        struct message *next = peer->held;
        peer->held = next->next;
        peer->in++;
        queue(m, next);
    }
}

// HOSTILE builds swap one in three with the next.
void messages_arrived(struct messages *m, struct message *message)
{
    struct message *late = m->aside;
    m->came++;
    m->aside = NULL;
    if (HOSTILE && !late && m->hostile_calls++ % 3 == 0) {
        m->aside = message;
        return;
    }
    accept(m, message);
    if (late)
        accept(m, late);
}

// ---- Upcalls
// False while another thread is in an upcall: messages of one PE must not overtake each other. The
// caller takes one from depth when it is done.
static bool upcall_begin(struct messages *m)
{
    if (m->depth && !pthread_equal(m->upcaller, pthread_self()))
        return false;
    m->upcaller = pthread_self();
    m->depth++;
    return true;
}

static void deliver_one(struct messages *m)
{
    struct message *message = m->arrived;
    m->arrived = message->next;
    if (!m->arrived)
        m->arrived_end = &m->arrived;
    struct message_header header = header_of(message);
    if (!message->counted)
        took_one(m, m->peer(m->ep, (int)header.from));
    pthread_mutex_unlock(m->lock);
    bool is_kept = m->job->on_am && m->job->on_am(m->job->upcall_arg, (int)header.from,
                                                  message->bytes + sizeof header, header.length,
                                                  message->is_copy ? message : NULL);
    pthread_mutex_lock(m->lock);
    if (!is_kept)
        dispose(m, message);
}

// Upcalls are as deep inside each other as they may be, and the innermost waits, perhaps for us:
// what came is copied and counts as taken, so that the transport has room and senders go on.
static void keep_arrived(struct messages *m)
{
    for (struct message **at = &m->arrived; *at; at = &(*at)->next) {
        struct message *next = (*at)->next, *kept = keep(m, *at);
        if (!kept)
            return;
        *at = kept;
        kept->next = next;
        if (!next)
            m->arrived_end = &kept->next;
        if (!kept->counted) {
            kept->counted = true;
            took_one(m, m->peer(m->ep, (int)header_of(kept).from));
        }
    }
}

// One at a time, so that a progress inside an upcall goes on with the next one. Not without end,
// so that a message to oneself sent from each upcall does not keep the caller for ever.
static int deliver_arrived(struct messages *m)
{
    int n = 0;
    if (!m->arrived || !upcall_begin(m))
        return 0;
    if (m->depth > MESSAGE_DEPTH)
        keep_arrived(m);
    for (; m->arrived && n < MESSAGE_BATCH && m->depth <= MESSAGE_DEPTH; n++)
        deliver_one(m);
    m->depth--;
    return n;
}

static void tell_lost(struct messages *m)
{
    if (likely(!m->has_lost) || !upcall_begin(m))
        return;
    m->has_lost = false;
    for (struct messages_peer *peer = m->peers; peer; peer = peer->next) {
        if (!peer->lost || peer->told)
            continue;
        peer->told = true;
        if (!m->job->on_peer_lost)
            continue;
        pthread_mutex_unlock(m->lock);
        m->job->on_peer_lost(m->job->upcall_arg, peer->pe, peer->why);
        pthread_mutex_lock(m->lock);
    }
    m->depth--;
}

int messages_deliver(struct messages *m)
{
    int n = 0;
    if (HOSTILE && m->aside && m->came == 0) { // nothing came after it
        struct message *late = m->aside;
        m->aside = NULL;
        accept(m, late);
        n++;
    }
    m->came = 0;
    if (unlikely(m->owes_notices))
        send_notices(m);
    n += deliver_arrived(m);
    tell_lost(m);
    return n;
}

bool messages_waiting(const struct messages *m)
{
    return m->arrived || m->aside || m->has_lost;
}

static void free_copies(struct message *message)
{
    for (struct message *next; message; message = next) {
        next = message->next;
        if (message->is_copy)
            free(message);
    }
}

void messages_free(struct messages *m)
{
    free_copies(m->arrived);
    free_copies(m->aside);
    for (struct messages_peer *peer = m->peers; peer; peer = peer->next) {
        free_copies(peer->held);
        peer->held = NULL;
    }
    m->arrived = m->aside = NULL;
    m->peers = NULL;
}
