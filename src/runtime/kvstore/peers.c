// SPDX-License-Identifier: Apache-2.0
// Who the peers are: what a process says of itself, the ranks that follow from roles, and how many
// of them share a machine.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/os/os.h"
#include "runtime/kvstore/transport.h"

static void read_boot_id(char *text, size_t size)
{
    text[0] = '\0';
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    const ssize_t length = read(file, text, size - 1);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    close(file);
}

void mxn__peer_self(mxn_peer *peer)
{
    *peer = (mxn_peer){.pid = mxp__os_process_id()};
    mxp__os_host_name(peer->host, sizeof peer->host);
    read_boot_id(peer->boot_id, sizeof peer->boot_id);
}

bool mxn__peers_crowd(const mxn_transport *transport)
{
    const mxn_peer *own = &transport->peers[transport->rank];
    uint32_t here = 0;
    for (uint32_t i = 0; i < transport->size; i++) {
        here += mxn__peers_share_machine(&transport->peers[i], own);
    }
    return here * 2 > mxp__os_cpu_count();
}

void mxn__peers_rank(mxn_peer *peers, uint32_t count)
{
    uint32_t workers = 0, owners = 0;
    for (uint32_t i = 0; i < count; i++) {
        peers[i].worker = (peers[i].roles & MXN_ROLE_WORKER) != 0 ? workers++ : 0;
        peers[i].owner = (peers[i].roles & MXN_ROLE_OWNER) != 0 ? owners++ : 0;
    }
}
