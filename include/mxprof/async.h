// SPDX-License-Identifier: Apache-2.0
// Asynchronous spans: work that begins here and ends somewhere else, on whichever thread, and may
// overlap other work of its name. Requests, transfers and regions of other tools are such.
#ifndef MXPROF_ASYNC_H
#define MXPROF_ASYNC_H

#include <mxprof/args.h>
#include <mxprof/format.h>
#include <mxprof/gate.h>
#include <stdint.h>

// For whom work is done: a number of the program's, or a trace id of 128 bits. `id` 0: for nobody.
typedef struct mxp_context {
    uint64_t id, high;
} mxp_context;

// An open span. Its owner keeps it, may copy it, and ends it once; the members are the library's.
typedef struct mxp_async {
    uint64_t begin_ticks;  // 0: there is nothing to end
    uint64_t id;
    mxp_context context;
    mxp_name name;
    uint32_t place;  // in the table of open ones, + 1; 0: it is not in there
} mxp_async;

#ifdef __cplusplus
extern "C" {
#endif

// Begins a span of a name of style MXP_STYLE_ASYNC. `id` tells it from others of its name, 0: needs
// no telling; it becomes the argument "id", unless it is the context's. While `classes` are off
// nothing begins. Any thread, signal handlers too. Up to MXP_ASYNC_SLOTS open spans are in the
// recording file, so that a process that dies tells what it was waiting for; one that finds no
// place (eight are looked at) is recorded at its end all the same, and counted.
mxp_async mxp_async_begin(uint32_t classes, mxp_name name, uint64_t id, mxp_context context);

// Ends it, on any thread: exactly this one, whatever else of its name is open. `args` as in
// mxp_end_args. One that is open when the session stops is closed at that time and flagged; its end
// then records nothing. An end of a copy whose span was ended is counted as misuse.
void mxp_async_end(mxp_async *span, const mxp_arg *args, uint32_t count);

// The same for who kept only name and id: of several such the one that began first. MXP_ESTATE:
// none is in the table, and nothing was recorded. `id` 0: MXP_EINVAL.
int mxp_async_end_id(mxp_name name, uint64_t id, const mxp_arg *args, uint32_t count);

#ifdef __cplusplus
}
#endif

static inline mxp_context mxp_no_context(void)
{
    mxp_context none = {0, 0};
    return none;
}

// ---- the table of open spans -------------------------------------------------------------------
// In a mapped file the payload of the section OPEN: 32 bytes of zeros, then the slots. A slot whose
// begin is 0, or whose seal is another, holds nothing.
#define MXP_ASYNC_SLOTS 4096u

typedef struct mxp_async_slot {
    uint64_t begin_ticks;
    uint64_t id;
    mxp_context context;
    uint32_t name, thread;  // that began it
    uint32_t id_key, reserved;  // the name of the argument "id"; 0
    uint64_t seal;
    uint64_t unused;  // 0
} mxp_async_slot;

typedef struct mxp_open_section {
    mxp_section section;
    uint64_t reserved[4];  // 0
    mxp_async_slot slots[MXP_ASYNC_SLOTS];
} mxp_open_section;

static inline uint64_t mxp_async_seal_of(uint64_t begin_ticks, uint64_t id, mxp_context context,
                                         uint64_t name_thread, uint64_t id_key)
{
    uint64_t sum = begin_ticks * 3 + id;
    sum = (sum << 13 | sum >> 51) + context.id;
    sum = (sum << 13 | sum >> 51) + context.high;
    sum = (sum << 13 | sum >> 51) + name_thread;
    return (sum << 13 | sum >> 51) + id_key;
}

static inline uint64_t mxp_async_seal(const mxp_async_slot *slot)
{
    return mxp_async_seal_of(slot->begin_ticks, slot->id, slot->context,
                             slot->name | (uint64_t)slot->thread << 32, slot->id_key);
}

#endif
