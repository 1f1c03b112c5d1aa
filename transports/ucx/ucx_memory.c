// SPDX-License-Identifier: BSD-3-Clause
// Registered memory: the two fixed regions, regions of users, and their keys.
#include "ucx.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_MAGIC = 0x6b756853 };

int ucx_map(struct ucx_ep *ep, void *base, size_t size, ucp_mem_h *memory)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                 UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = base,
                                   .length = size};
    ucs_status_t status = ucp_mem_map(ep->context, &params, memory);
    if (status == UCS_OK)
        return 0;
    *memory = NULL;
    ucx_log(ep, LOG_ERROR, "registering %zu bytes at %p: %s", size, base,
            ucs_status_string(status));
    return TRANSPORT_FAILED;
}

size_t ucx_pack(struct ucx_ep *ep, ucp_mem_h memory, void *bytes, size_t room)
{
    void *packed;
    size_t n;
    ucs_status_t status = ucp_rkey_pack(ep->context, memory, &packed, &n);
    if (status != UCS_OK) {
        ucx_log(ep, LOG_ERROR, "the key of a region: %s", ucs_status_string(status));
        return 0;
    }
    if (n <= room)
        memcpy(bytes, packed, n);
    else
        ucx_log(ep, LOG_DEBUG, "the key of a region has %zu bytes, there is room for %zu", n, room);
    ucp_rkey_buffer_release(packed);
    return n <= room ? n : 0;
}

// The key is unpacked when it is first used, because that takes an endpoint.
static bool unpack(struct ucx_ep *ep, struct ucx_peer *peer, struct ucx_import *import)
{
    if (import->rkey)
        return true;
    ucs_status_t status = ucp_ep_rkey_unpack(peer->ep, import->key.bytes, &import->rkey);
    if (status != UCS_OK) {
        import->rkey = NULL;
        ucx_log(ep, LOG_ERROR, "the key of a region of PE %d: %s", peer->m.pe,
                ucs_status_string(status));
    }
    return status == UCS_OK;
}

bool ucx_locate(struct ucx_ep *ep, struct ucx_peer *peer, struct transport_remote at,
                struct ucx_remote *remote)
{
    if (at.region >= 0 && at.region < TRANSPORT_REGIONS_FIXED) {
        *remote = peer->region[at.region];
    } else {
        struct ucx_import *import = job_import_find(&ep->imports, at);
        if (!import || !unpack(ep, peer, import))
            return false;
        *remote = (struct ucx_remote){import->key.start, import->rkey};
    }
    remote->start += at.offset;
    return remote->key;
}

void *ucx_own(struct ucx_ep *ep, struct transport_remote at)
{
    if (at.region >= 0 && at.region < TRANSPORT_REGIONS_FIXED)
        return (char *)ep->job.region[at.region].base + at.offset;
    struct ucx_import *import = job_import_find(&ep->imports, at);
    return import ? (char *)(uintptr_t)import->key.start + at.offset : NULL;
}

int ucx_region_register(void *ep_, void *base, size_t size, void *key, void **handle)
{
    struct ucx_ep *ep = ep_;
    struct ucx_key made = {
        .magic = KEY_MAGIC, .pe = ep->job.me, .start = (uintptr_t)base, .size = size};
    ucp_mem_h memory;
    pthread_mutex_lock(&ep->lock);
    int status = ucx_map(ep, base, size, &memory);
    if (status == 0) {
        made.length = (uint32_t)ucx_pack(ep, memory, made.bytes, sizeof made.bytes);
        if (made.length == 0) {
            ucp_mem_unmap(ep->context, memory);
            status = TRANSPORT_FAILED;
        }
    }
    pthread_mutex_unlock(&ep->lock);
    if (status)
        return status;
    made.seal = job_seal(&made, sizeof made);
    memcpy(key, &made, sizeof made);
    *handle = memory;
    return 0;
}

int ucx_region_deregister(void *ep_, void *handle)
{
    struct ucx_ep *ep = ep_;
    pthread_mutex_lock(&ep->lock);
    ucs_status_t status = ucp_mem_unmap(ep->context, handle);
    if (status != UCS_OK)
        ucx_log(ep, LOG_ERROR, "deregistering memory: %s", ucs_status_string(status));
    pthread_mutex_unlock(&ep->lock);
    return status == UCS_OK ? 0 : TRANSPORT_FAILED;
}

int ucx_region_import(void *ep_, int pe, const void *bytes, int *region)
{
    struct ucx_ep *ep = ep_;
    struct ucx_import *import = calloc(1, sizeof *import);
    if (!import)
        return TRANSPORT_FAILED;
    struct ucx_key *key = &import->key;
    memcpy(key, bytes, sizeof *key);
    if (pe < 0 || pe >= ep->job.npes || key->magic != KEY_MAGIC || key->pe != pe ||
        key->length == 0 || key->length > sizeof key->bytes ||
        key->seal != job_seal(key, sizeof *key)) {
        ucx_log(ep, LOG_ERROR, "the key of a region of PE %d is damaged or of another PE", pe);
        free(import);
        return TRANSPORT_FAILED;
    }
    pthread_mutex_lock(&ep->lock);
    int index = job_import_add(&ep->imports, pe, import);
    pthread_mutex_unlock(&ep->lock);
    if (index < 0) {
        free(import);
        return TRANSPORT_FAILED;
    }
    *region = index;
    return 0;
}

static void forget(struct ucx_import *import)
{
    if (import && import->rkey)
        ucp_rkey_destroy(import->rkey);
    if (import)
        import->rkey = NULL;
}

void ucx_region_release(void *ep_, int region)
{
    struct ucx_ep *ep = ep_;
    pthread_mutex_lock(&ep->lock);
    struct ucx_import *import = job_import_remove(&ep->imports, region);
    forget(import);
    free(import);
    pthread_mutex_unlock(&ep->lock);
}

// Keys belong to an endpoint: they go before it does.
void ucx_imports_forget(struct ucx_ep *ep, int pe)
{
    for (int i = 0; i < ep->imports.count; i++)
        if (ep->imports.entry[i].pe == pe)
            forget(ep->imports.entry[i].what);
}

void ucx_imports_free(struct ucx_ep *ep)
{
    for (int i = 0; i < ep->imports.count; i++)
        free(ep->imports.entry[i].what);
    free(ep->imports.entry);
}
