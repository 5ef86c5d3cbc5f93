// SPDX-License-Identifier: Apache-2.0
// See messages.h. The process whose next range begins first comes next.
#include "profiler/analysis/clocks/messages.h"

#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "profiler/trace/event.h"

enum { PENDING_MAX = 1 << 20 };  // ends that wait for their other one; later ones count as alone

typedef struct pending_end {
    uint64_t key;  // id of the flow, plus 1
    uint64_t ticks;
    int64_t ns;
    uint32_t process;
    bool is_start;
} pending_end;

typedef struct walker {
    mxp_source *source;
    size_t next;  // range
    mxp_record_range range;  // of `next`, if there is one
    int64_t begin_ns;
    bool is_done;
    bool *is_message;  // by name id
    uint32_t name_count;
} walker;

typedef struct search {
    walker *walkers;
    size_t count;
    mxp_id_map pending;
    mxp_message_visit *visit;
    void *context;
    mxp_message_counts *counts;
} search;

static const char memory_for[] = "messages between processes";

static void look_ahead(walker *of)
{
    int found = of->source->range(of->source, of->next, &of->range);
    while (found == MXP_EFORMAT) {
        found = of->source->range(of->source, ++of->next, &of->range);
    }
    of->is_done = found != 1;
    if (found == 1) {
        of->begin_ns = mxp__timebase_ns(of->source->timebase, of->range.base_ticks);
    }
}

static walker *first_walker(search *self)
{
    walker *first = NULL;
    for (size_t i = 0; i < self->count; i++) {
        walker *each = &self->walkers[i];
        if (!each->is_done && (first == NULL || each->begin_ns < first->begin_ns)) {
            first = each;
        }
    }
    return first;
}

bool mxp__is_message_name(const mxp_source *source, uint32_t name)
{
    const uint32_t category = source->name(source, name).category;
    return strcmp(source->name(source, category).text, MXP__MESSAGE_CATEGORY) == 0;
}

// By name id, once for each process.
static int find_names(walker *of)
{
    of->name_count = of->source->name_count;
    of->is_message = mxp__alloc(of->name_count * sizeof *of->is_message);
    if (of->is_message == NULL && of->name_count > 0) {
        return mxp__fail_memory(memory_for);
    }
    for (uint32_t id = 0; id < of->name_count; id++) {
        of->is_message[id] = mxp__is_message_name(of->source, id);
    }
    return MXP_OK;
}

static int meet(search *self, const pending_end *one, const pending_end *other)
{
    const pending_end *start = one->is_start ? one : other, *end = one->is_start ? other : one;
    const mxp_message message = {.from = start->process,
                                 .to = end->process,
                                 .id = one->key - 1,
                                 .sent_ns = start->ns,
                                 .received_ns = end->ns,
                                 .sent_ticks = start->ticks,
                                 .received_ticks = end->ticks};
    if (message.from == message.to) {
        return MXP_OK;
    }
    self->counts->messages++;
    return self->visit(self->context, &message);
}

static int take(search *self, const pending_end *now)
{
    pending_end *before = mxp__id_map_find(&self->pending, now->key);
    if (before == NULL && self->pending.count >= PENDING_MAX) {
        self->counts->ends++;
        return MXP_OK;
    }
    if (before != NULL && before->is_start != now->is_start) {
        const pending_end other = *before;
        mxp__id_map_remove(&self->pending, before);
        return meet(self, now, &other);
    }
    pending_end *kept = mxp__id_map_add(&self->pending, now->key);
    if (kept == NULL) {
        return mxp__fail_memory(memory_for);
    }
    *kept = *now;
    return MXP_OK;
}

// Differences of any two do not overflow.
static int64_t bounded(int64_t ns)
{
    return ns > MXP__NS_MAX ? MXP__NS_MAX : ns < -MXP__NS_MAX ? -MXP__NS_MAX : ns;
}

static int take_point(search *self, const walker *of, mxp_decoder *decoder, const uint64_t *words)
{
    const uint32_t name = (uint32_t)words[1], phase = (uint32_t)(words[1] >> 32) & 0xff;
    const bool is_end = phase == MXP_FLOW_START || phase == MXP_FLOW_END;
    if (name >= of->name_count || !of->is_message[name] || !is_end || words[2] == UINT64_MAX) {
        return MXP_OK;
    }
    const uint64_t ticks = mxp__decoder_widen(decoder, words[0] >> 16);
    const pending_end now = {.key = words[2] + 1,
                             .ticks = ticks,
                             .ns = bounded(mxp__timebase_ns(of->source->timebase, ticks)),
                             .process = (uint32_t)(of - self->walkers),
                             .is_start = phase == MXP_FLOW_START};
    return take(self, &now);
}

// Only flows are decoded. A record whose length cannot be ends the range.
static int read_range(search *self, walker *of)
{
    mxp_decoder decoder;
    int error = MXP_OK;
    mxp__decoder_begin(&decoder, of->source->timebase, &of->range);
    const uint64_t *at = of->range.words, *end = of->range.end;
    while (error == MXP_OK && end - at >= 2) {
        const size_t words = 2 * (size_t)(at[0] >> 8 & 0xff);
        if (words == 0 || words > (size_t)(end - at)) {
            break;
        }
        if ((at[0] & 0xff) == MXP_KIND_FLOW && words >= 4) {
            error = take_point(self, of, &decoder, at);
        }
        at += words;
    }
    of->next++;
    look_ahead(of);
    return error;
}

int mxp__messages_each(mxp_source *const *processes, size_t count, mxp_message_visit *visit,
                       void *context, mxp_message_counts *counts)
{
    search self = {.walkers = mxp__alloc(count * sizeof(walker)),
                   .count = count,
                   .pending = {.entry_bytes = sizeof(pending_end)},
                   .visit = visit,
                   .context = context,
                   .counts = counts};
    *counts = (mxp_message_counts){0};
    if (self.walkers == NULL) {
        return mxp__fail_memory(memory_for);
    }
    int error = MXP_OK;
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        self.walkers[i].source = processes[i];
        error = find_names(&self.walkers[i]);
        look_ahead(&self.walkers[i]);
    }
    walker *next;
    while (error == MXP_OK && (next = first_walker(&self)) != NULL) {
        error = read_range(&self, next);
    }
    counts->ends += self.pending.count;
    mxp__id_map_fini(&self.pending);
    for (size_t i = 0; i < count; i++) {
        mxp__free(self.walkers[i].is_message,
                  self.walkers[i].name_count * sizeof *self.walkers[i].is_message);
    }
    mxp__free(self.walkers, count * sizeof(walker));
    return error;
}
