// SPDX-License-Identifier: Apache-2.0
// Follows the blocks of one device, and which variable each is, through its whole trace. An
// operator comes when it has ended, behind the records of what it allocated on its thread.
#include "profiler/analysis/memory/memory_uses.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/reader.h"

enum { VARIABLES_MAX = 1 << 20 };  // that are known at a time; then no block is known any more
enum { RECENT = 32 };  // blocks of a thread that its next operator may have allocated
// Categories of blocks that are no variable's: workspaces, and what lives inside one operation.
enum { CATEGORY_WORKSPACE = 6, CATEGORY_EPHEMERAL = 9 };

typedef struct followed_block {
    uint64_t key;
    uint64_t made_ticks;
    uint32_t thread;  // that allocated it
    size_t place;  // 1 + its place in uses->blocks, 0: it was not live at the peak
    mxp_peak_block block;
} followed_block;

// A variable that an operator has named. One that is new gets its block when it is first written.
typedef struct variable_place {
    uint64_t key;  // variable
    uint64_t block;  // key of its block, 0: it has none that is known
} variable_place;

typedef struct recent_blocks {
    uint64_t keys[RECENT];
    size_t count;
    bool overflowed;
} recent_blocks;

typedef struct use_pass {
    mxp_source *source;
    const mxp_memory_device *device;
    mxp_memory_uses *uses;
    mxp_id_map blocks;  // of followed_block
    mxp_id_map variables;  // of variable_place
    recent_blocks *recent;  // by thread
    bool is_later;  // the peak is over
} use_pass;

static const char memory_for[] = "what is used again after the peak";

// ---- blocks ------------------------------------------------------------------------------------
static mxp_peak_block *at_peak(const use_pass *pass, const followed_block *followed)
{
    return followed->place == 0 ? NULL : &pass->uses->blocks[followed->place - 1];
}

static void remove_block(use_pass *pass, followed_block *followed, int64_t ns)
{
    mxp_peak_block *block = at_peak(pass, followed);
    if (block != NULL) {
        block->was_freed = true;
        block->freed_ns = ns;
    }
    uint32_t variable = followed->block.variable;
    variable_place *place = variable == 0 ? NULL : mxp__id_map_find(&pass->variables, variable);
    if (place != NULL && place->block == followed->key) {
        mxp__id_map_remove(&pass->variables, place);
    }
    mxp__id_map_remove(&pass->blocks, followed);
}

static void note_recent(use_pass *pass, uint32_t thread, uint64_t key)
{
    if (thread >= pass->source->thread_count) {
        return;
    }
    recent_blocks *recent = &pass->recent[thread];
    if (recent->count == RECENT) {
        recent->count = 0;
        recent->overflowed = true;
    }
    recent->keys[recent->count++] = key;
}

static int add_block(use_pass *pass, const mxp_event *event, const mxp_memory_view *memory)
{
    uint64_t key = memory->block + 1;
    followed_block *followed = mxp__id_map_find(&pass->blocks, key);
    if (followed != NULL) {
        remove_block(pass, followed, event->begin_ns);
    }
    followed = mxp__id_map_add(&pass->blocks, key);
    if (followed == NULL) {
        return mxp__fail_memory(memory_for);
    }
    followed->made_ticks = event->begin_ticks;
    followed->thread = event->thread;
    followed->block = (mxp_peak_block){.bytes = memory->requested_bytes,
                                       .scope = memory->scope,
                                       .name = event->name,
                                       .category = memory->category,
                                       .made_ns = event->begin_ns};
    if (event->kind == MXP_KIND_MEMORY && memory->category != CATEGORY_WORKSPACE &&
        memory->category != CATEGORY_EPHEMERAL) {
        note_recent(pass, event->thread, key);
    }
    return MXP_OK;
}

// All that live now were live at the peak.
static int take_peak(use_pass *pass)
{
    mxp_memory_uses *uses = pass->uses;
    pass->is_later = true;
    if (pass->blocks.count > 0 && mxp__grow(&uses->blocks, &uses->capacity, pass->blocks.count,
                                            sizeof *uses->blocks) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    followed_block *followed = NULL;
    while ((followed = mxp__id_map_next(&pass->blocks, followed)) != NULL) {
        uses->blocks[uses->count++] = followed->block;
        followed->place = uses->count;
    }
    return MXP_OK;
}

static int add_memory(use_pass *pass, const mxp_event *event)
{
    mxp_memory_view memory;
    mxp__event_memory(event, &memory);
    if (memory.device != pass->device->device) {
        return MXP_OK;
    }
    bool is_free = event->kind == MXP_KIND_MEMORY && (event->flags & MXP_MEM_FREE) != 0;
    int error = MXP_OK;
    followed_block *followed = mxp__id_map_find(&pass->blocks, memory.block + 1);
    if (is_free && followed != NULL) {
        remove_block(pass, followed, event->begin_ns);
    } else if (!is_free && (event->kind == MXP_KIND_MEMORY || followed == NULL)) {
        error = memory.block == 0 ? MXP_OK : add_block(pass, event, &memory);
    }
    if (error == MXP_OK && !pass->is_later && event->id == pass->device->peak.record) {
        error = take_peak(pass);
    }
    return error;
}

// Blocks may be freed while recording is off. Of those at the peak nothing is known then.
static void forget_blocks(use_pass *pass)
{
    followed_block *followed = NULL;
    while ((followed = mxp__id_map_next(&pass->blocks, followed)) != NULL) {
        mxp_peak_block *block = at_peak(pass, followed);
        if (block != NULL && block->use == MXP__USE_UNKNOWN) {
            block->variable = 0;
        }
    }
    mxp__id_map_clear(&pass->blocks);
    mxp__id_map_clear(&pass->variables);
}

// ---- variables ---------------------------------------------------------------------------------
// The one block that this operator allocated and that is no variable's yet, or null.
static followed_block *only_new_block(use_pass *pass, const mxp_event *event)
{
    recent_blocks *recent = &pass->recent[event->thread];
    followed_block *found = NULL;
    bool is_only = !recent->overflowed;
    for (size_t i = 0; i < recent->count; i++) {
        followed_block *followed = mxp__id_map_find(&pass->blocks, recent->keys[i]);
        if (followed != NULL && followed->thread == event->thread &&
            followed->made_ticks >= event->begin_ticks && followed->block.variable == 0) {
            is_only = is_only && found == NULL;
            found = followed;
        }
    }
    recent->count = 0;
    recent->overflowed = false;
    return is_only ? found : NULL;
}

// The one variable that this operator wrote and that is new, or 0.
static uint32_t only_new_variable(use_pass *pass, const mxp_event *event, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t variable = mxp__event_variable(event, i);
        uint32_t id = variable & ~MXP_VARIABLE_WRITTEN;
        if (id == variable || id == 0 || mxp__id_map_find(&pass->variables, id) != NULL) {
            continue;
        }
        if (found != 0) {
            return 0;
        }
        found = id;
    }
    return found;
}

static void link_variable(use_pass *pass, followed_block *followed, uint32_t variable)
{
    variable_place *place = mxp__id_map_find(&pass->variables, variable);
    place->block = followed->key;
    followed->block.variable = variable;
    mxp_peak_block *block = at_peak(pass, followed);
    if (block != NULL) {
        block->variable = variable;
    }
}

static int add_variables(use_pass *pass, const mxp_event *event, uint32_t count)
{
    followed_block *followed = only_new_block(pass, event);
    uint32_t variable = followed == NULL ? 0 : only_new_variable(pass, event, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = mxp__event_variable(event, i) & ~MXP_VARIABLE_WRITTEN;
        if (id != 0 && mxp__id_map_add(&pass->variables, id) == NULL) {
            return mxp__fail_memory(memory_for);
        }
    }
    if (variable != 0 && (event->flags & MXP_OP_VARIABLES_CUT) == 0 &&
        pass->variables.count < VARIABLES_MAX) {
        link_variable(pass, followed, variable);
    }
    return MXP_OK;
}

static void use_block(mxp_peak_block *block, const mxp_event *event, uint32_t scope,
                      int64_t peak_ns)
{
    if (event->end_ns < peak_ns || block->use == MXP__USE_THEN) {
        return;
    }
    if (event->begin_ns <= peak_ns) {
        block->use = MXP__USE_THEN;
    } else if (block->use != MXP__USE_LATER || event->begin_ns < block->next_ns) {
        block->use = MXP__USE_LATER;
        block->next_ns = event->begin_ns;
        block->next_name = event->name;
        block->next_scope = scope;
    }
}

static int add_operator(use_pass *pass, const mxp_event *event)
{
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    int error = MXP_OK;
    if ((event->flags & MXP_OP_BULK_PARENT) != 0) {
        return MXP_OK;  // its members tell who used what
    }
    if ((event->flags & MXP_OP_SHARED) == 0 && event->thread < pass->source->thread_count &&
        pass->variables.count < VARIABLES_MAX) {
        error = add_variables(pass, event, view.variable_count);
    }
    if (!pass->is_later || error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < view.variable_count; i++) {
        uint32_t id = mxp__event_variable(event, i) & ~MXP_VARIABLE_WRITTEN;
        variable_place *place = id == 0 ? NULL : mxp__id_map_find(&pass->variables, id);
        followed_block *followed = place == NULL || place->block == 0
                                       ? NULL
                                       : mxp__id_map_find(&pass->blocks, place->block);
        mxp_peak_block *block = followed == NULL ? NULL : at_peak(pass, followed);
        if (block != NULL) {
            use_block(block, event, view.scope, pass->device->peak.at_ns);
        }
    }
    return MXP_OK;
}

// ---- the pass ----------------------------------------------------------------------------------
static int add_event(use_pass *pass, const mxp_event *event)
{
    switch (event->kind) {
    case MXP_KIND_MEMORY:
    case MXP_KIND_CENSUS:
        return add_memory(pass, event);
    case MXP_KIND_OPERATOR:
    case MXP_KIND_HIDDEN:
        return add_operator(pass, event);
    case MXP_KIND_META:
        if (event->phase == MXP_META_STATE &&
            (event->value.u64 == MXP_STATE_STOP || event->value.u64 == MXP_STATE_PAUSE)) {
            forget_blocks(pass);
        }
        return MXP_OK;
    default:
        return MXP_OK;
    }
}

static int read_all(use_pass *pass)
{
    mxp_reader *reader;
    int error = mxp__reader_open(pass->source, &reader);
    if (error != MXP_OK) {
        return error;
    }
    mxp_event event;
    int added = MXP_OK;
    while (added == MXP_OK && (error = mxp__reader_next(reader, &event)) == 1) {
        added = add_event(pass, &event);
    }
    mxp__reader_close(reader);
    return added == MXP_OK ? error : added;
}

static void add_up(mxp_memory_uses *uses)
{
    for (size_t i = 0; i < uses->count; i++) {
        mxp_peak_block *block = &uses->blocks[i];
        if (block->use == MXP__USE_UNKNOWN && block->variable != 0) {
            block->use = MXP__USE_NONE;
        }
        uses->bytes[block->use] += block->bytes;
    }
}

int mxp__memory_uses_make(mxp_source *source, const mxp_memory_device *device,
                          mxp_memory_uses *uses)
{
    assert(device->peak.is_known);
    *uses = (mxp_memory_uses){0};
    size_t recent_bytes = source->thread_count * sizeof(recent_blocks);
    use_pass pass = {.source = source,
                     .device = device,
                     .uses = uses,
                     .blocks = {.entry_bytes = sizeof(followed_block)},
                     .variables = {.entry_bytes = sizeof(variable_place)},
                     .recent = mxp__alloc(recent_bytes)};
    if (pass.recent == NULL && recent_bytes > 0) {
        return mxp__fail_memory(memory_for);
    }
    int error = read_all(&pass);
    add_up(uses);
    mxp__id_map_fini(&pass.blocks);
    mxp__id_map_fini(&pass.variables);
    mxp__free(pass.recent, recent_bytes);
    return error;
}

void mxp__memory_uses_fini(mxp_memory_uses *uses)
{
    mxp__free(uses->blocks, uses->capacity * sizeof *uses->blocks);
    *uses = (mxp_memory_uses){0};
}
