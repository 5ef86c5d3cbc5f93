// SPDX-License-Identifier: Apache-2.0
// Which instances belong to one life: those that carry its argument or its id, and what ran inside
// of them on their threads; or all of a step's time.
#ifndef MXP_TOOLS_COLLECT_LIFE_H
#define MXP_TOOLS_COLLECT_LIFE_H

#include "instances/arguments.h"
#include "instances/selected.h"

typedef struct mxp_collected {
    mxp_instances carriers;  // with the argument or the id; of a step none
    mxp_instances rows;  // sorted and nested: those and what is inside of them
    mxp_arg_keys keys;  // that the last process has
    const mxp_source *keys_of;
    uint64_t with_key;  // instances that have the key, whatever its value, wherever they are
    uint64_t with_value;  // those of them with the value
    double least, most;  // of its values, where they are numbers
    bool has_numbers;
    bool is_damaged;
} mxp_collected;

// All of them add the instances of one process; carriers are those in the window of `within`.
// MXP_ENOMEM, or an error of the source.
int mxp__collect_arg(mxp_source *process, const mxp_selected *within, const char *key,
                     size_t key_length, const char *value, mxp_collected *found);
// By the context of a span, by the argument "id" of an asynchronous one, or by a flow through them,
// which in an imported trace may be called by `text`, or by the number in base 10 or 16.
int mxp__collect_id(mxp_source *process, const mxp_selected *within, uint64_t id, const char *text,
                    mxp_collected *found);
int mxp__collect_time(mxp_source *process, int64_t begin_ns, int64_t end_ns, mxp_collected *found);
int mxp__collected_finish(mxp_collected *found);  // sorts and nests, when all are added
void mxp__collected_fini(mxp_collected *found);

#endif
