// SPDX-License-Identifier: Apache-2.0
// What a kind of tool is made of.
#ifndef MXP_EMIT_SENDER_H
#define MXP_EMIT_SENDER_H

#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <stdbool.h>

#include "base/atomic.h"
#include "profiler/recorder/record/tap.h"

typedef struct mxp_sender {
    const char *variable;  // names the tool's library
    const char *entry;  // the function that a tool of this kind has
    // Calls `entry`. False: the tool wants nothing of us.
    bool (*start)(void *library, void *entry);
    // Of lexical spans and operators. Begin: whether it was sent, so that its end must be.
    bool (*begin)(mxp_name name, bool is_operator);
    void (*end)(mxp_name name, bool is_operator);
    void (*tell)(mxp_told *told);  // the rest
    void (*recording)(bool on);
    uint32_t place;  // in what an object's start keeps
    int wanted;  // MXP_EMIT_* that asks for it by name
} mxp_sender;

extern const mxp_sender mxp__sender_itt, mxp__sender_nvtx;

// ---- names -------------------------------------------------------------------------------------
// What a tool has made of a name; each is written once. Two threads may both make it: the tool
// gives the same or an equal one.
typedef struct mxp_sent_name {
    mxp_atomic_ptr text, domain, object;
    mxp_atomic_u32 kind;  // the tool's, 0: not known yet
} mxp_sent_name;

enum { MXP__SENT_PAGES = 4096, MXP__SENT_PAGE_NAMES = 512 };
typedef struct mxp_sent_names {
    mxp_atomic_ptr pages[MXP__SENT_PAGES];
} mxp_sent_names;

mxp_sent_name *mxp__sent_name_slow(mxp_sent_names *names, mxp_name name);

// Null without memory, or for a name beyond two million.
static inline mxp_sent_name *mxp__sent_name(mxp_sent_names *names, mxp_name name)
{
    const uint32_t number = name / MXP__SENT_PAGE_NAMES;
    mxp_sent_name *page =
        number < MXP__SENT_PAGES ? mxp_atomic_load_acquire(&names->pages[number]) : NULL;
    return __builtin_expect(page != NULL, 1) ? &page[name % MXP__SENT_PAGE_NAMES]
                                             : mxp__sent_name_slow(names, name);
}

// The domain of a category as MXNet names it for tools: without ",frame" and ",instant_marker".
// Gives `text`, or `buffer`.
const char *mxp__sent_domain_text(const char *text, char *buffer, size_t size);

#endif
