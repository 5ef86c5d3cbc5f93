// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/file/open_async.h"

#include <mxprof/async.h>
#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static const char memory_for[] = "the open spans of a native trace";

enum { HEAD_WORDS = 6, ARG_WORDS = 2 };

static bool has_id(const mxp_async_slot *slot)
{
    return slot->id != 0 && slot->id != slot->context.id;
}

static size_t words_of(const mxp_async_slot *slot)
{
    return HEAD_WORDS + (has_id(slot) ? ARG_WORDS : 0);
}

// Its begin is near the last known time, and the slot was not just being written.
static bool is_open(const mxp_async_slot *slot, uint64_t last)
{
    uint64_t begin = slot->begin_ticks;
    uint64_t distance = last >= begin ? last - begin : begin - last;
    return begin != 0 && distance >> (MXP_STAMP_BITS - 1) == 0 &&
           slot->seal == mxp_async_seal(slot);
}

// All end at the same time, so that the records are in the order of their ends.
static void write(uint64_t *words, const mxp_async_slot *slot, uint64_t end, size_t threads)
{
    uint64_t args = has_id(slot) ? 1 : 0;
    uint32_t lane = slot->thread < threads ? MXP_LANE_THREAD | slot->thread : 0;
    words[0] = MXP_KIND_SPAN_LONG | (uint64_t)words_of(slot) / 2 << 8 | slot->begin_ticks << 16;
    words[1] = slot->name | (uint64_t)MXP_SPAN_OPEN_AT_CRASH << 32 | args << 48;
    words[2] = end - slot->begin_ticks;
    words[3] = slot->begin_ticks;
    words[4] = lane;
    words[5] = slot->context.id;
    if (args != 0) {
        words[6] = slot->id_key | (uint64_t)MXP_ARG_U64 << 32;
        words[7] = slot->id;
    }
}

// The open ones among the slots come first then; gives how many, and the words of their records.
static uint32_t keep_open(mxp_async_slot *slots, uint64_t last, size_t *words)
{
    uint32_t kept = 0;
    *words = 0;
    for (uint32_t i = 0; i < MXP_ASYNC_SLOTS; i++) {
        if (is_open(&slots[i], last)) {
            slots[kept++] = slots[i];
            *words += words_of(&slots[kept - 1]);
        }
    }
    return kept;
}

static int add_kept(mxp_file_tables *tables, const mxp_async_slot *slots, uint32_t kept,
                    size_t words, uint64_t last)
{
    uint64_t end = last;
    for (uint32_t i = 0; i < kept; i++) {
        end = slots[i].begin_ticks > end ? slots[i].begin_ticks : end;
    }
    uint64_t *at = mxp__file_tables_add_open(tables, words, 0, end);
    if (at == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (uint32_t i = 0; i < kept; i++) {
        write(at, &slots[i], end, tables->thread_count);
        at += words_of(&slots[i]);
    }
    return MXP_OK;
}

// The slots are copied first: those of a process that is alive still change.
int mxp__open_async_add(mxp_file_tables *tables, const mxp_file_index *index, uint64_t last)
{
    enum { BYTES = sizeof(mxp_async_slot) * MXP_ASYNC_SLOTS };
    uint64_t offset = index->last[MXP_SECTION_OPEN];
    if (offset == 0 || tables->thread_count == 0 ||
        mxp__file_section(index, offset)->length_bytes < sizeof(mxp_open_section)) {
        return MXP_OK;
    }
    mxp_async_slot *slots = mxp__alloc(BYTES);
    if (slots == NULL) {
        return mxp__fail_memory(memory_for);
    }
    size_t words;
    memcpy(slots, ((const mxp_open_section *)mxp__file_section(index, offset))->slots, BYTES);
    uint32_t kept = keep_open(slots, last, &words);
    int error = kept != 0 ? add_kept(tables, slots, kept, words, last) : MXP_OK;
    mxp__free(slots, BYTES);
    return error;
}
