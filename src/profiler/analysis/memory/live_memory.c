// SPDX-License-Identifier: Apache-2.0
// The pass over the records of blocks. A block that is not known when it is freed was there before
// recording. What the device has beyond the blocks that are known is NOT_RECORDED, so that the
// owners' bytes always add up to the recorded total.
#include "profiler/analysis/memory/live_memory.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/reader.h"

enum { DEVICES = 256 };

// A block of memory in use.
typedef struct live_block {
    uint64_t key, bytes, rounding_bytes;
    uint32_t owner;
} live_block;

// A device while records are read.
typedef struct device_pass {
    mxp_memory_device *device;
    mxp_id_map blocks;  // of live_block
    uint64_t known_bytes;  // of the blocks
    uint64_t last_record;  // id of its event
    bool time_is_over;  // MXP__MOMENT_TIME is set
    bool window_is_open;
    bool is_stale;  // recording was off: blocks may have been freed since
    bool has_total;  // since recording goes on a record has told the total, or a census is over
    bool in_census;  // nothing but a census since recording goes on
    uint64_t census_bytes;  // of that one, those of no known block too
} device_pass;

typedef struct memory_pass {
    mxp_source *source;
    const mxp_live_memory_options *options;
    mxp_live_memory *memory;
    device_pass devices[DEVICES];
    uint32_t system_names[2];  // of spans around calls of the system; 0: there are none
} memory_pass;

static const char memory_for[] = "the memory of each device";

// ---- devices -----------------------------------------------------------------------------------
static int add_device(memory_pass *pass, uint32_t number, int64_t ns, device_pass *made)
{
    mxp_live_memory *memory = pass->memory;
    if (mxp__grow(&memory->devices, &memory->capacity, memory->count + 1,
                  sizeof *memory->devices) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    mxp_memory_device *device = mxp__alloc(sizeof *device);
    if (device == NULL) {
        return mxp__fail_memory(memory_for);
    }
    memory->devices[memory->count++] = device;
    device->device = number;
    device->first_ns = ns;
    mxp__growth_begin(&device->growth, pass->options->bounds, pass->options->step_count,
                      pass->options->keeps_most);
    *made = (device_pass){.device = device, .blocks = {.entry_bytes = sizeof(live_block)}};
    return mxp__owners_init(&device->owners);
}

static void put_not_recorded(device_pass *pass)
{
    mxp_memory_device *device = pass->device;
    mxp_owner_amount rest = {.bytes = device->live_bytes - pass->known_bytes};
    if (device->owners.owners[MXP__OWNER_NOT_RECORDED].now.bytes != rest.bytes) {
        mxp__owners_set(&device->owners, MXP__OWNER_NOT_RECORDED, &rest);
    }
}

static void forget_blocks(device_pass *pass)
{
    mxp_memory_owners *owners = &pass->device->owners;
    for (uint32_t i = MXP__OWNER_OTHERS; i < owners->count; i++) {
        if (owners->owners[i].now.blocks != 0) {
            mxp__owners_set(owners, i, &(mxp_owner_amount){0});
        }
    }
    mxp__id_map_clear(&pass->blocks);
    pass->known_bytes = 0;
    put_not_recorded(pass);
}

// ---- moments -----------------------------------------------------------------------------------
static void set_peak(device_pass *pass, int64_t ns, uint64_t record)
{
    mxp_memory_device *device = pass->device;
    device->peak = (mxp_memory_peak){
        .is_known = true, .at_ns = ns, .record = record, .bytes = device->live_bytes};
    mxp__owners_mark(&device->owners, MXP__MOMENT_PEAK);
}

// What is to be kept of the time before a record at `ns`.
static int pass_time(memory_pass *all, device_pass *pass, int64_t ns)
{
    mxp_memory_device *device = pass->device;
    const mxp_live_memory_options *options = all->options;
    if (!pass->time_is_over && ns > options->at_ns) {
        pass->time_is_over = true;
        device->time_bytes = device->live_bytes;
        mxp__owners_mark(&device->owners, MXP__MOMENT_TIME);
    }
    if (!pass->window_is_open && ns >= options->from_ns && device->records > 0) {
        pass->window_is_open = true;
        if (device->first_ns < options->from_ns) {
            set_peak(pass, options->from_ns, pass->last_record);
        }
    }
    return mxp__growth_advance(&device->growth, &device->owners, ns, device->live_bytes);
}

static bool is_inside(const memory_pass *all, int64_t ns)
{
    return ns >= all->options->from_ns && ns < all->options->until_ns;
}

static void follow_total(memory_pass *all, device_pass *pass, const mxp_event *event,
                         uint32_t owner, uint64_t bytes)
{
    mxp_memory_device *device = pass->device;
    mxp__growth_follow(&device->growth, &device->owners, device->live_bytes);
    if (!is_inside(all, event->begin_ns) ||
        (device->peak.is_known && device->live_bytes <= device->peak.bytes)) {
        return;
    }
    set_peak(pass, event->begin_ns, event->id);
    device->peak.has_block = event->kind == MXP_KIND_MEMORY && (event->flags & MXP_MEM_FREE) == 0;
    device->peak.owner = owner;
    device->peak.thread = event->thread;
    device->peak.block_bytes = bytes;
}

// ---- blocks ------------------------------------------------------------------------------------
static void remove_block(device_pass *pass, live_block *known)
{
    mxp__owners_remove(&pass->device->owners, known->owner, known->bytes, known->rounding_bytes);
    pass->known_bytes -= known->bytes;
    mxp__id_map_remove(&pass->blocks, known);
}

static uint32_t known_id(const mxp_source *source, uint32_t id)
{
    return id < source->name_count ? id : source->name_count;
}

static int add_block(memory_pass *all, device_pass *pass, const mxp_event *event,
                     const mxp_memory_view *memory, uint32_t *owner)
{
    mxp_memory_owners *owners = &pass->device->owners;
    int error = mxp__owners_find(owners, known_id(all->source, memory->scope),
                                 known_id(all->source, event->name), memory->category, owner);
    if (error != MXP_OK) {
        return error;
    }
    live_block *block = mxp__id_map_find(&pass->blocks, memory->block + 1);
    if (block != NULL) {
        remove_block(pass, block);  // that it was freed is not recorded
    }
    block = mxp__id_map_add(&pass->blocks, memory->block + 1);
    if (block == NULL) {
        return mxp__fail_memory(memory_for);
    }
    uint64_t bytes = memory->requested_bytes, rounded = memory->rounded_bytes;
    block->bytes = bytes;
    block->rounding_bytes = rounded > bytes ? rounded - bytes : 0;
    block->owner = *owner;
    pass->known_bytes += bytes;
    mxp__owners_add(owners, *owner, bytes, block->rounding_bytes);
    return MXP_OK;
}

// The records' own arithmetic: from the total before to the one that it tells.
static void check_total(device_pass *pass, const mxp_event *event, const mxp_memory_view *memory)
{
    mxp_memory_device *device = pass->device;
    bool is_free = (event->flags & MXP_MEM_FREE) != 0;
    uint64_t should_be = is_free ? device->live_bytes - memory->requested_bytes
                                 : device->live_bytes + memory->requested_bytes;
    uint64_t is = memory->live_bytes;
    if (is != should_be) {
        device->gaps++;
        device->gap_bytes += is > should_be ? is - should_be : should_be - is;
        device->last_gap_ns = event->begin_ns;
    }
}

// The device has had `live_bytes` since recording goes on: what a census adds up to, or what the
// first record tells.
static void begin_total(const memory_pass *all, device_pass *pass, int64_t ns, uint64_t live_bytes)
{
    mxp_memory_device *device = pass->device;
    device->live_bytes = live_bytes;
    pass->has_total = true;
    pass->in_census = false;
    if (pass->known_bytes > device->live_bytes) {
        device->resets++;
        forget_blocks(pass);
    }
    put_not_recorded(pass);
    device->before_bytes = device->live_bytes - pass->known_bytes;
    mxp__growth_follow(&device->growth, &device->owners, device->live_bytes);
    if (is_inside(all, ns) && device->live_bytes > device->peak.bytes) {
        set_peak(pass, ns, pass->last_record);
    }
}

// The total before a record that tells the one after it.
static uint64_t total_before(const mxp_event *event, const mxp_memory_view *memory)
{
    bool is_free = (event->flags & MXP_MEM_FREE) != 0;
    uint64_t after = memory->live_bytes, bytes = memory->requested_bytes;
    return is_free ? after + bytes : after > bytes ? after - bytes : 0;
}

static int add_memory(memory_pass *all, device_pass *pass, const mxp_event *event,
                      const mxp_memory_view *memory)
{
    mxp_memory_device *device = pass->device;
    uint32_t owner = MXP__OWNER_NOT_RECORDED;
    int error = MXP_OK;
    check_total(pass, event, memory);
    live_block *known = mxp__id_map_find(&pass->blocks, memory->block + 1);
    bool is_free = (event->flags & MXP_MEM_FREE) != 0;
    if (!is_free) {
        error = add_block(all, pass, event, memory, &owner);
    } else if (known != NULL) {
        owner = known->owner;
        remove_block(pass, known);
    }
    device->live_bytes = memory->live_bytes;
    if (pass->known_bytes > device->live_bytes) {
        device->resets++;
        forget_blocks(pass);
    }
    put_not_recorded(pass);
    if (error == MXP_OK && !is_free && (event->flags & MXP_MEM_REUSED) == 0) {
        mxp__growth_fresh(&device->growth, &device->owners, owner, memory->requested_bytes);
    }
    follow_total(all, pass, event, owner, memory->requested_bytes);
    return error;
}

// A block that was there when recording began. Block 0 stands for those beyond a census's limit.
// All of a census is about one moment: until it is over the total stays what it was.
static int add_census(memory_pass *all, device_pass *pass, const mxp_event *event,
                      const mxp_memory_view *memory)
{
    mxp_memory_device *device = pass->device;
    uint32_t owner;
    if (!pass->has_total) {
        pass->in_census = true;
        pass->census_bytes += memory->requested_bytes;
    }
    if (memory->block == 0 || mxp__id_map_find(&pass->blocks, memory->block + 1) != NULL) {
        return MXP_OK;  // or it was made while the census was taken
    }
    int error = add_block(all, pass, event, memory, &owner);
    device->census_blocks++;
    if (pass->has_total && pass->known_bytes > device->live_bytes) {
        device->resets++;
        forget_blocks(pass);
    }
    if (pass->has_total) {
        put_not_recorded(pass);
    }
    return error;
}

// Blocks may have been freed while recording was off.
static void begin_again(device_pass *pass)
{
    pass->is_stale = pass->has_total = pass->in_census = false;
    pass->census_bytes = 0;
    forget_blocks(pass);
}

static int add_to_device(memory_pass *all, device_pass *pass, const mxp_event *event,
                         const mxp_memory_view *memory)
{
    bool is_census = event->kind == MXP_KIND_CENSUS, is_first = pass->device->records == 0;
    if (!is_census && !pass->has_total && is_first) {
        begin_total(all, pass, event->begin_ns, total_before(event, memory));
    }
    // A census has no time of its own, and before the first record there is no total.
    int error =
        pass->in_census || (is_census && is_first) ? MXP_OK : pass_time(all, pass, event->begin_ns);
    if (error == MXP_OK && !is_census && !pass->has_total) {
        begin_total(all, pass, event->begin_ns, total_before(event, memory));
        error = pass_time(all, pass, event->begin_ns);
    }
    if (error == MXP_OK) {
        error =
            is_census ? add_census(all, pass, event, memory) : add_memory(all, pass, event, memory);
    }
    return error;
}

static int add_record(memory_pass *all, const mxp_event *event)
{
    mxp_memory_view memory;
    mxp__event_memory(event, &memory);
    device_pass *pass = &all->devices[memory.device % DEVICES];
    if (pass->device == NULL) {
        int error = add_device(all, memory.device, event->begin_ns, pass);
        if (error != MXP_OK) {
            return error;
        }
    }
    if (pass->is_stale) {
        begin_again(pass);
    }
    int error = add_to_device(all, pass, event, &memory);
    pass->device->records++;
    pass->device->last_ns = event->begin_ns;
    pass->last_record = event->id;
    return error;
}

static void add_state(memory_pass *all, const mxp_event *event)
{
    if (event->value.u64 == MXP_STATE_STOP || event->value.u64 == MXP_STATE_PAUSE) {
        for (int i = 0; i < DEVICES; i++) {
            all->devices[i].is_stale = all->devices[i].device != NULL;
        }
    }
}

// ---- the operator that ran ---------------------------------------------------------------------
// How well an operator answers what ran when the thread allocated.
static int rank_of(uint32_t thread, uint32_t flags, uint32_t allocating_thread)
{
    bool is_parent = (flags & MXP_OP_BULK_PARENT) != 0, is_elsewhere = (flags & MXP_OP_ASYNC) != 0;
    return 4 * (thread == allocating_thread) + 2 * !is_elsewhere + !is_parent;
}

// Operators come when they end, so the one that ran at the peak comes after it.
static void add_operator(memory_pass *all, const mxp_event *event)
{
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    for (size_t i = 0; i < all->memory->count; i++) {
        mxp_memory_peak *peak = &all->memory->devices[i]->peak;
        int rank = 1 + rank_of(event->thread, event->flags, peak->thread);
        if (!peak->has_block || event->begin_ns > peak->at_ns || event->end_ns < peak->at_ns ||
            rank < peak->rank || (rank == peak->rank && event->begin_ns < peak->ran.begin_ns)) {
            continue;
        }
        peak->rank = rank;
        peak->ran = (mxp_memory_operator){.is_known = true,
                                          .name = event->name,
                                          .scope = view.scope,
                                          .id = view.id,
                                          .thread = event->thread,
                                          .phase = event->flags & MXP_OP_PHASE_MASK,
                                          .begin_ns = event->begin_ns,
                                          .end_ns = event->end_ns};
    }
}

// ---- calls of the system -----------------------------------------------------------------------
static void find_system_names(memory_pass *all)
{
    static const char *const texts[] = {"from system", "to system"};
    const mxp_source *source = all->source;
    for (uint32_t id = 0; id < source->name_count; id++) {
        mxp_name_view view = source->name(source, id);
        for (size_t i = 0; i < 2; i++) {
            if (view.style == MXP_STYLE_SPAN && strcmp(view.text, texts[i]) == 0 &&
                strcmp(source->name(source, view.category).text, "memory") == 0) {
                all->system_names[i] = id;
            }
        }
    }
}

static void add_span(memory_pass *all, const mxp_event *event)
{
    if (event->name != 0 &&
        (event->name == all->system_names[0] || event->name == all->system_names[1])) {
        all->memory->system_calls++;
        all->memory->system_ns += (uint64_t)(event->end_ns - event->begin_ns);
    }
}

// ---- the pass ----------------------------------------------------------------------------------
static int add_event(memory_pass *all, const mxp_event *event)
{
    switch (event->kind) {
    case MXP_KIND_MEMORY:
    case MXP_KIND_CENSUS:
        return add_record(all, event);
    case MXP_KIND_OPERATOR:
        add_operator(all, event);
        return MXP_OK;
    case MXP_KIND_SPAN:
        add_span(all, event);
        return MXP_OK;
    case MXP_KIND_META:
        if (event->phase == MXP_META_STATE) {
            add_state(all, event);
        }
        return MXP_OK;
    default:
        return MXP_OK;
    }
}

// Brings all devices to the end of the trace.
static int end_pass(memory_pass *all)
{
    int error = MXP_OK;
    for (int i = 0; i < DEVICES && error == MXP_OK; i++) {
        device_pass *pass = &all->devices[i];
        if (pass->device != NULL && pass->in_census) {
            begin_total(all, pass, pass->device->last_ns, pass->census_bytes);
        }
        if (pass->device != NULL) {
            error = pass_time(all, pass, INT64_MAX);
        }
    }
    return error;
}

static int read_all(memory_pass *all)
{
    mxp_reader *reader;
    int error = mxp__reader_open(all->source, &reader);
    if (error != MXP_OK) {
        return error;
    }
    mxp_event event;
    int added = MXP_OK;
    while (added == MXP_OK && (error = mxp__reader_next(reader, &event)) == 1) {
        added = add_event(all, &event);
    }
    mxp__reader_close(reader);
    added = added == MXP_OK ? end_pass(all) : added;
    return added == MXP_OK ? error : added;
}

int mxp__live_memory_make(mxp_source *source, const mxp_live_memory_options *options,
                          mxp_live_memory *memory)
{
    *memory = (mxp_live_memory){0};
    memory_pass *all = mxp__alloc(sizeof *all);
    if (all == NULL) {
        return mxp__fail_memory(memory_for);
    }
    all->source = source;
    all->options = options;
    all->memory = memory;
    find_system_names(all);
    int error = read_all(all);
    for (int i = 0; i < DEVICES; i++) {
        mxp__id_map_fini(&all->devices[i].blocks);
    }
    mxp__free(all, sizeof *all);
    return error;
}

void mxp__live_memory_fini(mxp_live_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++) {
        mxp__owners_fini(&memory->devices[i]->owners);
        mxp__free(memory->devices[i], sizeof *memory->devices[i]);
    }
    mxp__free(memory->devices, memory->capacity * sizeof *memory->devices);
    *memory = (mxp_live_memory){0};
}
