// SPDX-License-Identifier: BSD-3-Clause
// Registered memory: the two fixed regions, regions of users, their keys, and where an offset in
// one of them is for the provider (which may want an address or an offset, see ofi_blob).
#include "ofi.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { KEY_MAGIC = 0x6b6f6853 };

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

bool ofi_locate(struct ofi_ep *ep, struct ofi_peer *peer, struct transport_remote at,
                uint64_t *address, uint64_t *key)
{
    if (at.region >= 0 && at.region < TRANSPORT_REGIONS_FIXED) {
        *address = peer->blob.region[at.region].start + at.offset;
        *key = peer->blob.region[at.region].key;
        return true;
    }
    struct ofi_key *imported = job_import_find(&ep->imports, at); // a lane has none
    if (!imported)
        return false;
    *address = imported->start + at.offset;
    *key = imported->key;
    return true;
}

void *ofi_own(struct ofi_ep *ep, struct transport_remote at)
{
    if (at.region >= 0 && at.region < TRANSPORT_REGIONS_FIXED)
        return (char *)ep->job.region[at.region].base + at.offset;
    struct ofi_key *imported = job_import_find(&ep->imports, at);
    return imported ? (char *)(uintptr_t)imported->address + at.offset : NULL;
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
        bytes.seal = job_seal(&bytes, sizeof bytes);
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

int ofi_region_import(void *ep_, int pe, const void *bytes, int *region)
{
    struct ofi_ep *ep = ep_;
    struct ofi_key key, *kept;
    memcpy(&key, bytes, sizeof key);
    if (pe < 0 || pe >= ep->job.npes || key.magic != KEY_MAGIC || key.pe != pe ||
        key.seal != job_seal(&key, sizeof key)) {
        ofi_log(ep, LOG_ERROR, "the key of a region of PE %d is damaged or of another PE", pe);
        return TRANSPORT_FAILED;
    }
    if (!(kept = malloc(sizeof *kept)))
        return TRANSPORT_FAILED;
    *kept = key;
    pthread_mutex_lock(&ep->lock);
    int index = job_import_add(&ep->imports, pe, kept);
    pthread_mutex_unlock(&ep->lock);
    if (index < 0) {
        free(kept);
        return TRANSPORT_FAILED;
    }
    *region = index;
    return 0;
}

void ofi_region_release(void *ep_, int region)
{
    struct ofi_ep *ep = ep_;
    pthread_mutex_lock(&ep->lock);
    free(job_import_remove(&ep->imports, region));
    pthread_mutex_unlock(&ep->lock);
}

void ofi_imports_free(struct ofi_ep *ep)
{
    for (int i = 0; i < ep->imports.count; i++)
        free(ep->imports.entry[i].what);
    free(ep->imports.entry);
}
