// SPDX-License-Identifier: BSD-3-Clause
// What ofi_rxm, which makes of a provider of connections one that we can use, is set to.
//
// It reads its settings from the environment, some in libfabric's first call and some with each endpoint: for
// these calls there is an environment with ours behind the program's. What the user has set comes first
// and so wins.
//
// It has two thousand buffers, whatever it is told, and touches each of them, for each endpoint: 87 MB by its own
// choice. Elsewhere than over sockets one takes a message of 16 KB, and a longer message is asked for by a
// question to its sender. Over sockets libfabric 1.17 can do without: a message is sent from where it is, and
// received where a receive is posted, up to EAGER_LIMIT whatever the buffers; both sides must agree on it. They are
// short there, then, and serve what is as short, and what nobody has posted a receive for if it is.
// (1.18 and later cannot.) MSG_RX_SIZE bounds the rest.
#include "ofi.h"

#include "device.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETTINGS = 3 };

static char **kept;  // what others may be looking at; before it, the one before
static char **owned; // the program's, meanwhile

static bool sends_directly(const char *provider)
{
    return FI_VERSION_LT(fi_version(), FI_VERSION(1, 18)) && strcmp(provider, "tcp;ofi_rxm") == 0;
}

static bool has_short_buffers(const struct transport_job *job)
{
    return job->provider ? sends_directly(job->provider)
                         : !device_is_there(DEVICE_VERBS, NULL) && sends_directly("tcp;ofi_rxm");
}

size_t ofi_rxm_most(const char *provider)
{
    return sends_directly(provider) ? MESSAGE_MAX : MESSAGE_SOON;
}

size_t ofi_rxm_soon(const char *provider)
{
    return sends_directly(provider)      ? MESSAGE_MAX
           : strstr(provider, "ofi_rxm") ? OFI_RXM_SOON
                                         : MESSAGE_SOON;
}

// Its 2.0 to 2.4 look at a message that nobody has posted a receive for, when an address is inserted, for
// whose it is, which they have not found out unless messages' sources were asked for.
uint64_t ofi_rxm_caps(void)
{
    uint32_t version = fi_version();
    bool must_know = FI_VERSION_GE(version, FI_VERSION(2, 0)) &&
                     FI_VERSION_LT(version, FI_VERSION(2, 5));
    return must_know ? FI_SOURCE : 0;
}

static char **with_ours(char **own, char *const *settings)
{
    static size_t room;
    size_t n = 0;
    while (own && own[n])
        n++;
    if (n + SETTINGS + 1 > room) {
        char **all = malloc((2 * n + SETTINGS + 2) * sizeof *all);
        if (!all)
            return own;
        all[0] = (char *)kept;
        kept = all + 1;
        room = 2 * n + SETTINGS + 1;
    }
    if (n)
        memcpy(kept, own, n * sizeof *kept);
    memcpy(kept + n, settings, SETTINGS * sizeof *kept);
    kept[n + SETTINGS] = NULL;
    return kept;
}

// What another thread or a provider sets meanwhile may be lost.
void ofi_rxm_begin(const struct transport_job *job)
{
    static char shorts[] = "FI_OFI_RXM_BUFFER_SIZE=1024",
                buffers[] = "FI_OFI_RXM_BUFFER_SIZE=16896",
                receives[] = "FI_OFI_RXM_MSG_RX_SIZE=128",
                eager[] = "FI_OFI_RXM_EAGER_LIMIT=" OFI_RXM_EAGER;
    char *const settings[SETTINGS] = {has_short_buffers(job) ? shorts : buffers, receives, eager};
    owned = environ;
    environ = with_ours(owned, settings);
}

void ofi_rxm_end(void)
{
    if (environ == kept)
        environ = owned;
}
