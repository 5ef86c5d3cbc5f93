// SPDX-License-Identifier: Apache-2.0
// Commands for the profilers of servers: code and value, then pairs, each text with its length
// before it, so that a text may have any characters. Private to the store over processes.
#ifndef MXN_KVSTORE_SERVER_PROFILE_H
#define MXN_KVSTORE_SERVER_PROFILE_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "runtime/kvstore/kvstore.h"

void mxn__server_profile_write(const mxn_kv_profile *command, mxp_strbuf *body);

// Does what the body says to this process's profiler. Files get the server's rank before their
// names: dir/rank0_server.json. `is_alone`: the process is no worker; one with an owner inside has
// a profile already, in which the owner's rows are: then nothing is done, which is said once.
// MXP_EFORMAT: no such body. Else what the profiler says.
int mxn__server_profile_run(const void *body, size_t length, uint32_t rank, bool is_alone);

#endif
