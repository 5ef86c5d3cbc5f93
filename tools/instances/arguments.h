// SPDX-License-Identifier: Apache-2.0
// The arguments of instances: found by key and value, and as text.
#ifndef MXP_TOOLS_ARGUMENTS_H
#define MXP_TOOLS_ARGUMENTS_H

#include "instances/instance.h"
#include "text/json_writer.h"
#include "text/screen.h"

// KEY=VALUE as a person writes it, of one process: names are its own.
typedef struct mxp_wanted_arg {
    const mxp_source *source;
    bool *is_key;  // by name id
    const char *value;
    size_t length;
    uint64_t bits;  // as a whole number
    double number;
    bool is_whole, is_number;
} mxp_wanted_arg;

// `value` must outlive it; null: any. The caller frees it, also after MXP_ENOMEM.
int mxp__wanted_arg_init(mxp_wanted_arg *wanted, const mxp_source *source, const char *key,
                         size_t key_length, const char *value);
void mxp__wanted_arg_fini(mxp_wanted_arg *wanted);
// Place of the argument with that key and value; -1: it has none.
int mxp__wanted_arg_find(const mxp_wanted_arg *wanted, const mxp_instance *instance);

// One value, and all of them as "key=value key=value", shown on a screen in one line. What an
// operator is told beside its name (scope, phase) counts as arguments.
void mxp__put_arg_value(const mxp_screen *screen, const mxp_instance *instance, uint32_t i,
                        mxp_strbuf *out);
void mxp__put_args(const mxp_screen *screen, const mxp_instance *instance, mxp_strbuf *out);
// As an object "args".
void mxp__json_args(mxp_json *json, const mxp_instance *instance);

// The keys of a process, in the order of their first use: names that stand before values.
typedef struct mxp_arg_keys {
    uint32_t *ids;
    size_t count, capacity;
    bool *is_known;  // by name id
    size_t known_count;
} mxp_arg_keys;
int mxp__arg_keys_note(mxp_arg_keys *keys, const mxp_instance *instance);  // MXP_ENOMEM
void mxp__arg_keys_fini(mxp_arg_keys *keys);

#endif
