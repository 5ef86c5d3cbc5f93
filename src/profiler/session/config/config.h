// SPDX-License-Identifier: Apache-2.0
// Room profiler/session/config: the configuration, as a structure and as pairs of texts.
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

// Whether dumps write a Chrome trace: unless it is "none", or nobody gave a name and records go to
// a native trace or a ring. Of a configuration as it was given: filename may be the default's own.
// "none" becomes the default's name, which others are made from.
bool mxp__config_take_trace(mxp_config *config);

// Says on stderr, once, that more memory is asked for than the process has a quarter of.
void mxp__config_warn_of_memory(const mxp_config *config);

// Whether every member is in its range, and they go together.
int mxp__config_check_members(const mxp_config *config);
// Whether no two outputs have one name.
int mxp__config_check_outputs(const mxp_config *config);
// Says on stderr, once each, what stands in the way of an output now.
void mxp__config_warn_of_outputs(const mxp_config *config);

// Completes `given` (its size tells which members it has) and checks every member, and that no two
// outputs have one name.
int mxp__config_check(const mxp_config *given, mxp_config *config);

#endif
