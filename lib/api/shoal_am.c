// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: "Active messages".
#include "shoal_check.h"

#include "handlers.h"
#include "inbox.h"
#include "region.h"
#include "remote.h"
#include "slice.h"

static inline bool id_ok(int id)
{
    return id >= 1 && id <= 255;
}

PUBLIC int shoal_am_register(int id, shoal_am_fn *fn, void *user)
{
    int status = id_ok(id) ? handlers_register(id, fn, user) : SHOAL_EINVAL;
    if (status == SHOAL_OK && shoal_is_up()) { // who sleeps may have messages that waited for it
        atomic_signal_fence(memory_order_seq_cst);
        bell_check(&slice_of(world.me)->inbox.bell);
    }
    return status;
}

static inline int check(int pe, int id, const void *payload, size_t n)
{
    if (unlikely(!shoal_is_up()))
        return SHOAL_EINIT;
    if (unlikely(!shoal_is_pe(pe) || !id_ok(id) || (n && !payload) ||
                 (n > LIMIT_AM_PAYLOAD && (n > LIMIT_AM_FAR || world_is_here(pe)))))
        return SHOAL_EINVAL;
    return SHOAL_OK;
}

static NOINLINE int send_checked(int pe, int id, uint64_t arg, const void *payload, size_t n,
                                 int flags)
{
    int status = check(pe, id, payload, n);
    return status ? status : inbox_am(pe, id, arg, payload, n, flags);
}

// A direct PE is one while the library is up, and not to a child of a PE.
static inline int send(int pe, int id, uint64_t arg, const void *payload, size_t n, int flags)
{
    if (likely(world_is_direct_to(pe)) && likely(n <= INLINE_BYTES) && likely(id_ok(id)) &&
        likely(payload || n == 0))
        return inbox_line(pe, id, arg, payload, n, flags);
    return send_checked(pe, id, arg, payload, n, flags);
}

static int send_long(int id, uint64_t arg, const void *payload, size_t n, shoal_rptr_t to,
                     int flags)
{
    struct place at;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!id_ok(id))
        return SHOAL_EINVAL;
    int status = region_resolve(&to, n, &at);
    if (!status)
        status = shoal_put(to, payload, n, NULL, NULL);
    if (!status)
        inbox_send(to.pe, &(struct inbox_message){.arg = arg,
                                                  .n = n,
                                                  .at = at,
                                                  .to = &to,
                                                  .id = (uint8_t)id,
                                                  .flags = (uint8_t)(flags | ENVELOPE_LONG)});
    return status;
}

PUBLIC int shoal_am_request(int pe, int id, uint64_t arg, const void *payload, size_t n)
{
    return send(pe, id, arg, payload, n, 0);
}

PUBLIC int shoal_am_try(int pe, int id, uint64_t arg, const void *payload, size_t n)
{
    return send(pe, id, arg, payload, n, INBOX_TRY);
}

PUBLIC int shoal_am_gather(int pe, int id, uint64_t arg, const void *payload, size_t n)
{
    return send(pe, id, arg, payload, n, INBOX_TRY | INBOX_GATHER);
}

PUBLIC int shoal_am_push(void)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    remote_push();
    return SHOAL_OK;
}

PUBLIC int shoal_am_request_long(int id, uint64_t arg, const void *payload, size_t n,
                                 shoal_rptr_t to)
{
    if (shoal_is_up())
        inbox_look_sometimes();
    return send_long(id, arg, payload, n, to, 0);
}

PUBLIC int shoal_am_reply(const shoal_am_t *am, int id, uint64_t arg, const void *payload, size_t n)
{
    return am ? send(am->from, id, arg, payload, n, ENVELOPE_REPLY) : SHOAL_EINVAL;
}

PUBLIC int shoal_am_reply_long(const shoal_am_t *am, int id, uint64_t arg, const void *payload,
                               size_t n, shoal_rptr_t to)
{
    if (!am || to.pe != am->from)
        return SHOAL_EINVAL;
    return send_long(id, arg, payload, n, to, ENVELOPE_REPLY);
}

PUBLIC int shoal_am_reserve(int pe, size_t n, shoal_am_room_t *room)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!shoal_is_pe(pe) || !room || n > LIMIT_AM_PAYLOAD)
        return SHOAL_EINVAL;
    struct inbox_room r = inbox_reserve(pe, n);
    _Static_assert(sizeof r <= sizeof room->inner, "fits");
    room->payload = n <= INLINE_BYTES ? r.envelope->bytes : r.payload;
    room->n = n;
    *(struct inbox_room *)(void *)room->inner = r;
    return SHOAL_OK;
}

PUBLIC int shoal_am_commit(shoal_am_room_t *room, int id, uint64_t arg, size_t n)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!room || !room->payload || !id_ok(id) || n > room->n)
        return SHOAL_EINVAL;
    const struct inbox_room *r = (struct inbox_room *)(void *)room->inner;
    if (n < room->n && room->n > INLINE_BYTES)
        inbox_shorten(r, n);
    inbox_fill(r, &(struct inbox_message){.arg = arg, .n = n, .id = (uint8_t)id});
    inbox_commit(r);
    room->payload = NULL;
    return SHOAL_OK;
}

PUBLIC void shoal_am_enough(void)
{
    handlers_enough = true;
}

PUBLIC int shoal_am_take(shoal_am_wanted_t *wanted, unsigned more)
{
    if (unlikely(!shoal_is_up()))
        return SHOAL_EINIT;
    if (unlikely(!wanted || wanted->from >= world.npes || !id_ok(wanted->id) ||
                 (wanted->room && !wanted->buf)))
        return SHOAL_EINVAL;
    return inbox_take(wanted, more);
}
