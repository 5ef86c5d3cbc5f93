// SPDX-License-Identifier: Apache-2.0
// Private to src/profiler/export: the arguments of spans and operators. Which arguments an event
// has, and in which order, is decided here for all formats. A format supplies functions that write
// a key and a value of each type.
#ifndef MXP_EXPORT_EVENT_ARGS_H
#define MXP_EXPORT_EVENT_ARGS_H

#include "profiler/trace/event.h"
#include "profiler/trace/source.h"

// Keys that are none of the trace's names.
#define MXP_ARG_KEYS(X) \
    X(op)               \
    X(queued_us)        \
    X(blocked_us)       \
    X(after)            \
    X(bulk)             \
    X(device)           \
    X(phase)            \
    X(time)             \
    X(scope)            \
    X(shape)            \
    X(failed)           \
    X(clock)            \
    X(context)          \
    X(begun)            \
    X(closed)           \
    X(ended)            \
    X(arguments)        \
    X(until_us)

typedef enum mxp_arg_key {
#define MXP_ARG_KEY(name) MXP__KEY_##name,
    MXP_ARG_KEYS(MXP_ARG_KEY)
#undef MXP_ARG_KEY
        MXP__ARG_KEYS
} mxp_arg_key;

extern const char *const mxp__arg_keys[MXP__ARG_KEYS];  // their texts

// How a format writes them. Each key is followed by one value. `to` is what the walk was given.
typedef struct mxp_arg_form {
    void (*key)(void *to, mxp_arg_key key);
    void (*named_key)(void *to, uint32_t name);  // of the trace's name table
    void (*u64)(void *to, uint64_t value);
    void (*i64)(void *to, int64_t value);
    void (*f64)(void *to, double value);
    void (*us)(void *to, int64_t ns);  // a duration, as microseconds
    void (*yes)(void *to);
    void (*text)(void *to, const char *text, size_t length);
    void (*name)(void *to, uint32_t name);  // the text of a name of the trace
} mxp_arg_form;

// All arguments of a span or an operator. False: for lack of memory one is missing or truncated.
bool mxp__event_args(const mxp_source *source, const mxp_event *event, const mxp_arg_form *form,
                     void *to);

#endif
