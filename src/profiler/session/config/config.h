// SPDX-License-Identifier: Apache-2.0
// Folder profiler/session/config: the configuration, as a structure and as pairs of texts.
//
// From text to mxp_config: the keys of config_keys.def, their types and the messages. Pure
// functions: nothing is applied here.
#ifndef MXP_SESSION_CONFIG_H
#define MXP_SESSION_CONFIG_H

#include <mxprof/profiler.h>
#include <stdbool.h>
#include <stddef.h>

// Fills *config from the pairs; keys left out take their defaults, or the environment's. The
// strings of *config are the caller's. *server: profile_process=server was asked for.
int mxp__config_parse(int count, const char *const *keys, const char *const *values,
                      mxp_config *config, int *server);

// snapshot_counter, taken apart: domain and name are parts of the text, null if there is none.
typedef struct mxp_counter_trigger {
    const char *domain;
    size_t domain_length;
    const char *name;
    size_t name_length;
    double above;
} mxp_counter_trigger;
int mxp__config_counter_trigger(const char *text, mxp_counter_trigger *trigger);

// Whether dumps write a Chrome trace. They do not if filename is "none", or if it was not given and
// records go to a native trace or a ring. `config` must be as it was given, because a filename that
// was not given is recognised by its address. A filename "none" is replaced by the default, from
// which other names are made.
bool mxp__config_take_trace(mxp_config *config);

// Warns on stderr, once, if memory_limit_bytes is more than a quarter of what the process may take.
void mxp__config_warn_of_memory(const mxp_config *config);

// Checks that every member is in its range, and that they agree. MXP_EVALUE with the reason.
int mxp__config_check_members(const mxp_config *config);
// Checks that no two outputs have the same name. MXP_EVALUE with the reason.
int mxp__config_check_outputs(const mxp_config *config);
// Warns on stderr, once for each name, if an output could not be made now.
void mxp__config_warn_of_outputs(const mxp_config *config);

// Completes `given` (its size tells which members it has) and checks every member, and that no two
// outputs have one name.
int mxp__config_check(const mxp_config *given, mxp_config *config);

#endif
