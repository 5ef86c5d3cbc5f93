// SPDX-License-Identifier: Apache-2.0
// The owners of memory in use: the bytes of each scope over all devices, from the records of
// allocations and releases. Memory that was allocated while recording was off has no record. Every
// record also has its device's total, and the difference to the known blocks is the row
// "<not recorded>". So the rows add up to the totals at every record.
#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "profiler/export/table/aggregate_state.h"
#include "profiler/trace/reader.h"

enum { DEVICES = 256, UNATTRIBUTED = 0 };  // rows of owners: scope id + 1

// A block of memory in use.
typedef struct live_block {
    uint64_t key, bytes;
    uint32_t scope;
} live_block;

struct mxp_owner_state {
    mxp_id_map blocks;  // of live_block
    uint64_t known_bytes;  // of the blocks
    uint64_t live_bytes[DEVICES];
};

static const char memory_for[] = "the owners of memory";

void mxp__owner_state_destroy(mxp_owner_state *state)
{
    if (state != NULL) {
        mxp__id_map_fini(&state->blocks);
        mxp__free(state, sizeof *state);
    }
}

// ---- blocks -----------------------------------------------------------------------------------
static uint64_t key_of(const mxp_memory_view *memory)
{
    return (memory->block << 8 | memory->device) + 1;
}

// ---- rows -------------------------------------------------------------------------------------
static int put_sample(mxp_aggregate *aggregate, const mxp_source *source, uint32_t id, int64_t ns,
                      uint64_t bytes)
{
    static const char section[] = "Device Storage", rest[] = "<not recorded>";
    mxp_counter_row *row = mxp__counter_find_or_add(&aggregate->owners, id);
    if (row == NULL) {
        return mxp__fail_memory(memory_for);
    }
    if (row->label.text == NULL) {
        int error =
            id == UNATTRIBUTED
                ? mxp__label_make(&row->label, section, sizeof section - 1, rest, sizeof rest - 1)
                : mxp__label_of_scope(&row->label, source, section, id - 1, "");
        if (error != MXP_OK) {
            return error;
        }
        row->unit = MXP_UNIT_BYTES;
    }
    mxp__counter_follow(row, &aggregate->activity, ns, (mxp_number){.u64 = bytes}, MXP_ARG_U64);
    return MXP_OK;
}

static uint64_t bytes_of(const mxp_aggregate *aggregate, uint32_t id)
{
    const mxp_counter_table *table = &aggregate->owners;
    return id < table->count && table->rows[id] != NULL ? table->rows[id]->last.u64 : 0;
}

static int put_unattributed(mxp_aggregate *aggregate, const mxp_source *source, int64_t ns)
{
    const mxp_owner_state *state = aggregate->owner_state;
    uint64_t live = 0;
    for (size_t i = 0; i < DEVICES; i++) {
        live += state->live_bytes[i];
    }
    uint64_t bytes = live > state->known_bytes ? live - state->known_bytes : 0;
    bool is_first = aggregate->owners.count == 0 || aggregate->owners.rows[UNATTRIBUTED] == NULL;
    return bytes == bytes_of(aggregate, UNATTRIBUTED) && (bytes == 0 || !is_first)
               ? MXP_OK
               : put_sample(aggregate, source, UNATTRIBUTED, ns, bytes);
}

// ---- records ----------------------------------------------------------------------------------
static int add_block(mxp_aggregate *aggregate, const mxp_source *source, const mxp_event *event,
                     const mxp_memory_view *memory)
{
    mxp_owner_state *state = aggregate->owner_state;
    live_block *block = mxp__id_map_add(&state->blocks, key_of(memory));
    if (block == NULL) {
        return mxp__fail_memory(memory_for);
    }
    uint32_t scope = mxp__known_name(source, memory->scope);
    *block = (live_block){key_of(memory), memory->requested_bytes, scope};
    state->known_bytes += memory->requested_bytes;
    return put_sample(aggregate, source, scope + 1, event->begin_ns,
                      bytes_of(aggregate, scope + 1) + memory->requested_bytes);
}

static int remove_block(mxp_aggregate *aggregate, const mxp_source *source, const mxp_event *event,
                        const mxp_memory_view *memory)
{
    mxp_owner_state *state = aggregate->owner_state;
    live_block *known = mxp__id_map_find(&state->blocks, key_of(memory));
    if (known == NULL) {
        return MXP_OK;
    }
    live_block block = *known;
    mxp__id_map_remove(&state->blocks, known);
    state->known_bytes -= block.bytes;
    return put_sample(aggregate, source, block.scope + 1, event->begin_ns,
                      bytes_of(aggregate, block.scope + 1) - block.bytes);
}

static int add_memory(mxp_aggregate *aggregate, const mxp_source *source, const mxp_event *event)
{
    mxp_memory_view memory;
    mxp__event_memory(event, &memory);
    bool is_free = (event->flags & MXP_MEM_FREE) != 0;
    int error = is_free ? remove_block(aggregate, source, event, &memory)
                        : add_block(aggregate, source, event, &memory);
    aggregate->owner_state->live_bytes[memory.device % DEVICES] = memory.live_bytes;
    return error == MXP_OK ? put_unattributed(aggregate, source, event->begin_ns) : error;
}

// Forgets all blocks, because some may have been released while recording was off.
static int forget_blocks(mxp_aggregate *aggregate, const mxp_source *source, int64_t ns)
{
    mxp_owner_state *state = aggregate->owner_state;
    if (state->blocks.count == 0) {
        return MXP_OK;
    }
    mxp__id_map_clear(&state->blocks);
    state->known_bytes = 0;
    int error = MXP_OK;
    for (uint32_t id = UNATTRIBUTED + 1; id < aggregate->owners.count && error == MXP_OK; id++) {
        if (bytes_of(aggregate, id) > 0) {
            error = put_sample(aggregate, source, id, ns, 0);
        }
    }
    return error == MXP_OK ? put_unattributed(aggregate, source, ns) : error;
}

static int add_state(mxp_aggregate *aggregate, const mxp_source *source, const mxp_event *event)
{
    bool was_off = aggregate->activity.is_off;
    mxp__activity_change(&aggregate->activity, event->begin_ns, event->value.u64);
    bool is_resumed = was_off && !aggregate->activity.is_off;
    return is_resumed ? forget_blocks(aggregate, source, event->begin_ns) : MXP_OK;
}

int mxp__aggregate_owners(mxp_aggregate *aggregate, mxp_source *source)
{
    if (aggregate->owner_state == NULL) {
        aggregate->owner_state = mxp__alloc(sizeof *aggregate->owner_state);
        if (aggregate->owner_state == NULL) {
            return mxp__fail_memory(memory_for);
        }
        aggregate->owner_state->blocks.entry_bytes = sizeof(live_block);
    }
    mxp_reader *reader;
    int error = mxp__reader_open(source, &reader);
    if (error != MXP_OK) {
        return error;
    }
    mxp_event event;
    while ((error = mxp__reader_next(reader, &event)) == 1) {
        int added = MXP_OK;
        if (event.kind == MXP_KIND_MEMORY) {
            added = add_memory(aggregate, source, &event);
        } else if (event.kind == MXP_KIND_META && event.phase == MXP_META_STATE) {
            added = add_state(aggregate, source, &event);
        }
        if (added != MXP_OK) {
            error = added;
            break;
        }
        aggregate->latest_ns =
            event.end_ns > aggregate->latest_ns ? event.end_ns : aggregate->latest_ns;
    }
    mxp__reader_close(reader);
    return error;
}
