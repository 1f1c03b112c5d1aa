// SPDX-License-Identifier: BSD-3-Clause
// Messages sent in pieces, as the sender makes progress. See transfer.h.
#include "partner.h"
#include "stats.h"
#include "transfer.h"

// ---- The receiver
struct stream_request {
    uint64_t sender, receiver;
    int64_t bytes;
};
struct piece {
    uint64_t receiver;
    int64_t from;
};

void stream_accept(struct transfer *t, const struct rts *rts)
{
    t->other = rts->sender;
    t->moved = 0;
    bool is_all = t->request.bytes == 0; // else another thread may end it once it is told
    struct stream_request ask = {t->other, transfer_out(t), t->request.bytes};
    transfer_tell(t->pe, AM_STREAM, 0, &ask, sizeof ask);
    if (is_all)
        request_complete(&t->request);
}

static void on_data(const shoal_am_t *am)
{
    struct piece piece;
    memcpy(&piece, am->payload, sizeof piece);
    struct transfer *t = transfer_back(piece.receiver);
    size_t n = am->n - sizeof piece;
    transfer_place(t, piece.from, (const char *)am->payload + sizeof piece, n);
    t->moved += (MPI_Count)n;
    if (t->moved == t->request.bytes)
        request_complete(&t->request);
}

// ---- The sender
enum { MOST_PIECE = 8192 }; // they are built on the stack of whatever thread waits

// False: there is no room now.
static bool send_piece(struct transfer *t)
{
    struct piece piece = {t->other, t->moved};
    size_t n = partner_of(t->pe)->am_max - sizeof piece;
    n = n < MOST_PIECE ? n : MOST_PIECE;
    n = (MPI_Count)n < t->bytes - t->moved ? n : (size_t)(t->bytes - t->moved);
    unsigned char payload[n + sizeof piece];
    memcpy(payload, &piece, sizeof piece);
    if (t->copy)
        memcpy(payload + sizeof piece, (char *)t->copy + t->moved, n);
    else
        type_pack(t->type, t->buf, t->count, t->moved, payload + sizeof piece, n);
    if (!transfer_try(t->pe, AM_DATA, 0, payload, sizeof piece + n))
        return false;
    t->moved += (MPI_Count)n;
    return true;
}

static bool send_pieces(struct progress_hook *hook)
{
    struct transfer *t = TRANSFER(hook, hook);
    int sent = 0;
    while (sent < 8 && t->moved < t->bytes && send_piece(t))
        sent++;
    if (t->moved == t->bytes) {
        progress_remove(hook);
        transfer_end_send(t);
    }
    return sent;
}

static void on_stream(const shoal_am_t *am)
{
    struct stream_request ask;
    memcpy(&ask, am->payload, sizeof ask);
    struct transfer *t = transfer_back(ask.sender);
    stats_count(STREAM);
    t->other = ask.receiver;
    t->bytes = ask.bytes; // all that there is room for
    t->moved = 0;
    t->hook = (struct progress_hook){.fn = send_pieces, .is_brief = true};
    progress_add(&t->hook);
    request_count_activity();
}

int stream_up(void)
{
    int status = shoal_am_register(AM_STREAM, on_stream, NULL);
    return status ? status : shoal_am_register(AM_DATA, on_data, NULL);
}
