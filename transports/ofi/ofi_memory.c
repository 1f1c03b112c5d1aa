// SPDX-License-Identifier: BSD-3-Clause
// Registered memory: the two fixed regions, regions of users, their keys, and where an offset in
// one of them is for the provider (which may want an address or an offset, see ofi_blob).
#include "ofi.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { KEY_MAGIC = 0x6b6f6853 };

// Finds damage and things that are no blob or key at all; it does not prove who wrote them.
uint64_t ofi_seal(const void *bytes, size_t n)
{
    uint64_t h = n, word;
    for (size_t i = 0; i + 8 < n; i += 8) {
        memcpy(&word, (const char *)bytes + i, 8);
        h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return h;
}
_Static_assert(sizeof(struct ofi_blob) % 8 == 0 && sizeof(struct ofi_key) % 8 == 0, "whole words");

// Keys that peers name are drawn, not counted: with a provider that lets anybody connect, the key
// is what keeps strangers out of this memory.
static uint64_t draw_key(struct ofi_ep *ep)
{
    uint64_t key = 0;
    size_t size = ep->info->domain_attr->mr_key_size;
    if (getrandom(&key, sizeof key, 0) != sizeof key)
        key = (uint64_t)(uintptr_t)&key ^ ep->job.secret;
    return size < 8 ? key & ((UINT64_C(1) << size * 8) - 1) : key;
}

int ofi_mr_open(struct ofi_ep *ep, void *base, size_t size, uint64_t access, struct fid_mr **mr)
{
    int mode = ep->info->domain_attr->mr_mode;
    int r = -FI_ENOKEY;
    for (int tries = 0; tries < 8 && r == -FI_ENOKEY; tries++)
        r = fi_mr_reg(ep->domain, base, size, access, 0, mode & FI_MR_PROV_KEY ? 0 : draw_key(ep),
                      0, mr, NULL);
    if (r == 0 && mode & FI_MR_ENDPOINT) {
        r = fi_mr_bind(*mr, &ep->ep->fid, 0);
        if (r == 0)
            r = fi_mr_enable(*mr);
        if (r)
            fi_close(&(*mr)->fid);
    }
    if (r) {
        *mr = NULL;
        ofi_log(ep, LOG_ERROR, "registering %zu bytes at %p: %s", size, base, fi_strerror(-r));
        return TRANSPORT_FAILED;
    }
    return 0;
}

uint64_t ofi_start(struct ofi_ep *ep, void *base)
{
    return ep->address_is_virtual ? (uintptr_t)base : 0;
}

// The descriptor of memory that is registered anyway, NULL when it is not.
void *ofi_desc(struct ofi_ep *ep, const void *local, size_t n)
{
    for (int i = 0; i < TRANSPORT_REGIONS_FIXED; i++) {
        uintptr_t base = (uintptr_t)ep->job.region[i].base, p = (uintptr_t)local;
        if (ep->region_mr[i] && p >= base && p - base <= ep->job.region[i].size &&
            n <= ep->job.region[i].size - (p - base))
            return fi_mr_desc(ep->region_mr[i]);
    }
    return NULL;
}

static struct ofi_region *imported(struct ofi_ep *ep, struct transport_remote at)
{
    int i = at.region - TRANSPORT_REGIONS_FIXED;
    return i >= 0 && i < ep->region_count && ep->region[i].pe == at.pe ? &ep->region[i] : NULL;
}

bool ofi_locate(struct ofi_ep *ep, struct ofi_peer *peer, struct transport_remote at,
                uint64_t *address, uint64_t *key)
{
    if (at.region >= 0 && at.region < TRANSPORT_REGIONS_FIXED) {
        *address = peer->blob.region[at.region].start + at.offset;
        *key = peer->blob.region[at.region].key;
        return true;
    }
    struct ofi_region *region = imported(ep, at);
    if (!region)
        return false;
    *address = region->key.start + at.offset;
    *key = region->key.key;
    return true;
}

void *ofi_own(struct ofi_ep *ep, struct transport_remote at)
{
    if (at.region >= 0 && at.region < TRANSPORT_REGIONS_FIXED)
        return (char *)ep->job.region[at.region].base + at.offset;
    struct ofi_region *region = imported(ep, at);
    return region ? (char *)(uintptr_t)region->key.address + at.offset : NULL;
}

int ofi_region_register(void *ep_, void *base, size_t size, void *key, void **handle)
{
    struct ofi_ep *ep = ep_;
    struct fid_mr *mr;
    pthread_mutex_lock(&ep->lock);
    int status = ofi_mr_open(ep, base, size, FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
                             &mr);
    if (status == 0) {
        struct ofi_key bytes = {.magic = KEY_MAGIC,
                                .pe = ep->job.me,
                                .address = (uintptr_t)base,
                                .start = ofi_start(ep, base),
                                .size = size,
                                .key = fi_mr_key(mr)};
        bytes.seal = ofi_seal(&bytes, sizeof bytes);
        memcpy(key, &bytes, sizeof bytes);
        *handle = mr;
    }
    pthread_mutex_unlock(&ep->lock);
    return status;
}

int ofi_region_deregister(void *ep_, void *handle)
{
    struct ofi_ep *ep = ep_;
    struct fid_mr *mr = handle;
    pthread_mutex_lock(&ep->lock);
    int r = fi_close(&mr->fid);
    if (r)
        ofi_log(ep, LOG_ERROR, "deregistering memory: %s", fi_strerror(-r));
    pthread_mutex_unlock(&ep->lock);
    return r ? TRANSPORT_FAILED : 0;
}

static int free_index(struct ofi_ep *ep)
{
    for (int i = 0; i < ep->region_count; i++)
        if (ep->region[i].pe < 0)
            return i;
    int more = ep->region_count ? ep->region_count * 2 : 8;
    struct ofi_region *region = realloc(ep->region, (size_t)more * sizeof *region);
    if (!region)
        return -1;
    for (int i = ep->region_count; i < more; i++)
        region[i].pe = -1;
    ep->region = region;
    int i = ep->region_count;
    ep->region_count = more;
    return i;
}

int ofi_region_import(void *ep_, int pe, const void *bytes, int *region)
{
    struct ofi_ep *ep = ep_;
    struct ofi_key key;
    memcpy(&key, bytes, sizeof key);
    if (pe < 0 || pe >= ep->job.npes || key.magic != KEY_MAGIC || key.pe != pe ||
        key.seal != ofi_seal(&key, sizeof key)) {
        ofi_log(ep, LOG_ERROR, "the key of a region of PE %d is damaged or of another PE", pe);
        return TRANSPORT_FAILED;
    }
    pthread_mutex_lock(&ep->lock);
    int i = free_index(ep);
    if (i >= 0) {
        ep->region[i] = (struct ofi_region){pe, key};
        *region = TRANSPORT_REGIONS_FIXED + i;
    }
    pthread_mutex_unlock(&ep->lock);
    return i >= 0 ? 0 : TRANSPORT_FAILED;
}

void ofi_region_release(void *ep_, int region)
{
    struct ofi_ep *ep = ep_;
    int i = region - TRANSPORT_REGIONS_FIXED;
    pthread_mutex_lock(&ep->lock);
    if (i >= 0 && i < ep->region_count)
        ep->region[i].pe = -1;
    pthread_mutex_unlock(&ep->lock);
}
