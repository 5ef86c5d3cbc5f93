// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/dist_hosts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { AUTO_ABOVE = 64 };  // workers: so many take a message each without being slower

// ---- who shares one ----------------------------------------------------------------------------
static bool is_same_machine(const mxn_peer *a, const mxn_peer *b)
{
    return strcmp(a->host, b->host) == 0 && mxn__peers_share_machine(a, b);
}

static void name_by_peers(const mxn_peer *peers, const uint32_t *worker_peers, mxn_hosts *hosts)
{
    for (uint32_t i = 0; i < hosts->worker_count; i++) {
        uint32_t first = 0;
        while (!is_same_machine(&peers[worker_peers[first]], &peers[worker_peers[i]])) {
            first++;
        }
        hosts->of[i] = first < i ? hosts->of[first] : hosts->count++;
    }
}

// `0,0,1,1`: a number for each worker, any; hosts are counted in the order of their first workers.
static int name_by_text(const char *text, mxn_hosts *hosts)
{
    uint32_t *names = mxp__alloc(hosts->worker_count * sizeof *names), count = 0;
    if (names == NULL) {
        return mxp__fail_memory("the hosts of a distributed store");
    }
    const char *at = text;
    bool is_good = true;
    while (is_good && *at != '\0') {
        char *end = NULL;
        is_good = isdigit((unsigned char)*at) && count < hosts->worker_count;
        if (is_good) {
            names[count++] = (uint32_t)strtoul(at, &end, 10);
            is_good = *end == '\0' || (*end == ',' && end[1] != '\0');
            at = *end == ',' ? end + 1 : end;
        }
    }
    is_good = is_good && count == hosts->worker_count;
    for (uint32_t i = 0; is_good && i < count; i++) {
        uint32_t first = 0;
        while (names[first] != names[i]) {
            first++;
        }
        hosts->of[i] = first < i ? hosts->of[first] : hosts->count++;
    }
    mxp__free(names, hosts->worker_count * sizeof *names);
    return is_good ? MXP_OK
                   : mxp__fail(MXP_EVALUE,
                               "MXNET_KVSTORE_HOSTS='%.40s': set it to a number for each of the "
                               "%" PRIu32 " workers, with commas between them",
                               text, hosts->worker_count);
}

// ---- levels ------------------------------------------------------------------------------------
static void set_one_level(mxn_hosts *hosts)
{
    hosts->count = hosts->worker_count;
    for (uint32_t i = 0; i < hosts->worker_count; i++) {
        hosts->of[i] = i;
    }
}

static void find_locals(uint32_t self, mxn_hosts *hosts)
{
    for (uint32_t i = 0; self != UINT32_MAX && i < hosts->worker_count; i++) {
        if (hosts->of[i] == hosts->of[self]) {
            hosts->self = i == self ? hosts->local_count : hosts->self;
            hosts->locals[hosts->local_count++] = i;
        }
    }
}

int mxn__hosts_init(const mxn_dist_config *config, const mxn_peer *peers,
                    const uint32_t *worker_peers, uint32_t worker_count, uint32_t self,
                    mxn_hosts *hosts)
{
    *hosts = (mxn_hosts){.worker_count = worker_count};
    hosts->of = mxp__alloc(worker_count * sizeof *hosts->of);
    hosts->locals = mxp__alloc(worker_count * sizeof *hosts->locals);
    if (hosts->of == NULL || hosts->locals == NULL) {
        return mxp__fail_memory("the hosts of a distributed store");
    }
    int error = MXP_OK;
    if (config->hosts[0] != '\0') {
        error = name_by_text(config->hosts, hosts);
    } else {
        name_by_peers(peers, worker_peers, hosts);
    }
    const bool may_differ = hosts->count > 1 && hosts->count < worker_count;
    const bool is_wanted =
        config->levels == 2 || (config->levels == 0 && worker_count > AUTO_ABOVE);
    hosts->are_two_levels = error == MXP_OK && may_differ && is_wanted;
    if (hosts->are_two_levels) {
        find_locals(self, hosts);
    } else {
        set_one_level(hosts);
    }
    return error;
}

void mxn__hosts_fini(mxn_hosts *hosts)
{
    mxp__free(hosts->of, hosts->worker_count * sizeof *hosts->of);
    mxp__free(hosts->locals, hosts->worker_count * sizeof *hosts->locals);
    *hosts = (mxn_hosts){0};
}

uint32_t mxn__hosts_local(const mxn_hosts *hosts, uint32_t worker)
{
    for (uint32_t i = 0; i < hosts->local_count; i++) {
        if (hosts->locals[i] == worker) {
            return i;
        }
    }
    return UINT32_MAX;
}
