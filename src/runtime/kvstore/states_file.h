// SPDX-License-Identifier: Apache-2.0
// States of optimizers between owners and files. An owner has those of its parts; a file has those
// of whole keys, as python/mxnet/optimizer/states.py writes them: arrays "0.0", "0.1" … of the
// first key, and one called "key 0 int 7" or "key 0 str weight" with how often it was updated and
// whether a float32 copy comes first. Private to the store over processes.
#ifndef MXN_KVSTORE_STATES_FILE_H
#define MXN_KVSTORE_STATES_FILE_H

#include "base/strbuf.h"
#include "runtime/kvstore/entries.h"

// `answers`: of all owners, each u64 length and what mxn__kv_updater_save wrote. MXP_EFORMAT: they
// do not make whole keys.
int mxn__states_file_save(const char *path, const char *answers, size_t length,
                          const mxn_kv_entries *entries);
// The states of whole keys, for mxn__kv_updater_load of every owner. MXP_EFORMAT: no such file.
int mxn__states_file_load(const char *path, mxp_strbuf *states);

#endif
