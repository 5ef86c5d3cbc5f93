// SPDX-License-Identifier: Apache-2.0
// What has no duration: counters, instants, flows, memory, metadata.
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>

#include "import/import_state.h"
#include "profiler/trace/loss.h"

// ---- counters ----------------------------------------------------------------------------------
typedef struct counter_walk {
    mxp_import *import;
    mxp_import_row row;
    int64_t ns;
    uint32_t values;
    int error;
} counter_walk;

static bool is_named(const mxp_json_field *key, const mxp_json_field *name)
{
    return key->length == name->length && memcmp(key->text, name->text, key->length) == 0;
}

// The counter's name: of a key that is called as the event is, the event's; else both, and the id
// if there is one.
static void compose_name(const mxp_json_event *event, const mxp_json_field *key, mxp_strbuf *text)
{
    const mxp_json_field *name = mxp__field(event, MXP__FIELD_name);
    const mxp_json_field *id = mxp__field(event, MXP__FIELD_id);
    mxp__strbuf_append(text, name->text, name->length);
    if (is_named(key, name)) {
        return;
    }
    if (id->length > 0) {
        mxp__strbuf_putc(text, '[');
        mxp__strbuf_append(text, id->text, id->length);
        mxp__strbuf_putc(text, ']');
    }
    mxp__strbuf_puts(text, name->length > 0 ? " " : "");
    mxp__strbuf_append(text, key->text, key->length);
}

static int put_sample(counter_walk *walk, const mxp_json_field *key, uint32_t type, uint64_t bits)
{
    mxp_import *import = walk->import;
    mxp_json_event *event = &import->event;
    mxp_import_place place = {.category = NULL};
    bool is_memory = mxp__field_is(mxp__field(event, MXP__FIELD_cat), "Device Storage");
    mxp_strbuf text = {0};
    uint32_t name;
    compose_name(event, key, &text);
    mxp_json_field whole = *mxp__field(event, MXP__FIELD_name);
    event->fields[MXP__FIELD_name] = (mxp_json_field){
        .text = mxp__strbuf_text(&text), .length = (uint32_t)text.length, .type = whole.type};
    int error = mxp__import_event_name(import, walk->row, MXP_STYLE_COUNTER,
                                       is_memory ? MXP_UNIT_BYTES : MXP_UNIT_NONE, &place, &name);
    event->fields[MXP__FIELD_name] = whole;
    mxp__strbuf_fini(&text);
    return error == MXP_OK ? mxp__import_put_counter(import, walk->row, walk->ns, name, type, bits)
                           : error;
}

static void take_value(void *to, const mxp_json_field *key, const mxp_json_field *value)
{
    counter_walk *walk = to;
    uint64_t bits;
    uint32_t type =
        value->type == MXP__JSON_NESTED ? 0 : mxp__json_value(value->text, value->length, &bits);
    walk->values++;
    if (type == 0) {
        walk->import->notes.values++;
    } else if (walk->error == MXP_OK) {
        walk->error = put_sample(walk, key, type, bits);
    }
}

static int counter(mxp_import *import, mxp_import_row row, int64_t ns)
{
    counter_walk walk = {.import = import, .row = row, .ns = ns};
    mxp__json_members(&import->event.args, take_value, &walk);
    if (walk.values == 0) {
        mxp__import_damaged(import);
    }
    return walk.error;
}

// ---- memory ------------------------------------------------------------------------------------
typedef struct memory_walk {
    int64_t address, bytes, live, device_type, device_id;
    unsigned found;
} memory_walk;

static void take_memory_field(void *to, const mxp_json_field *key, const mxp_json_field *value)
{
    memory_walk *walk = to;
    const struct {
        const char *key;
        int64_t *value;
    } fields[] = {{"Addr", &walk->address},
                  {"Bytes", &walk->bytes},
                  {"Total Allocated", &walk->live},
                  {"Device Type", &walk->device_type},
                  {"Device Id", &walk->device_id}};
    uint64_t bits;
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (mxp__field_is(key, fields[i].key)) {
            uint32_t type = mxp__json_value(value->text, value->length, &bits);
            bool fits = type == MXP_ARG_I64 || (type == MXP_ARG_U64 && bits <= INT64_MAX);
            *fields[i].value = fits ? (int64_t)bits : 0;
            walk->found |= fits ? 1u << i : 0u;
        }
    }
}

// torch.profiler's allocations. Of devices that records have no number for: instants.
static int memory(mxp_import *import, mxp_import_row row, int64_t ns, bool *taken)
{
    enum { NEEDED = 7, CPU = 0, CUDA = 1, DEVICES = 64 };
    memory_walk walk = {.device_id = 0};
    mxp__json_members(&import->event.args, take_memory_field, &walk);
    walk.device_id = walk.device_id < 0 ? 0 : walk.device_id;
    *taken = (walk.found & NEEDED) == NEEDED && walk.live >= 0 && walk.device_id < DEVICES &&
             (walk.device_type == CPU || walk.device_type == CUDA);
    if (!*taken) {
        return MXP_OK;
    }
    mxp_import_memory record = {.block = (uint64_t)walk.address,
                                .live_bytes = (uint64_t)walk.live,
                                .bytes = walk.bytes,
                                .device =
                                    (uint32_t)walk.device_id +
                                    (walk.device_type == CUDA ? (uint32_t)MXP_DEVICE_GPU : 0u)};
    uint32_t name;
    int error = mxp__import_name(&mxp__import_process(&import->rows, row)->names, "[memory]", 8, 0,
                                 MXP_STYLE_NONE, MXP_UNIT_NONE, &name);
    return error == MXP_OK ? mxp__import_put_memory(import, row, ns, name, &record) : error;
}

// ---- instants ----------------------------------------------------------------------------------
static uint32_t scope_of(const mxp_json_field *scope)
{
    return mxp__field_is(scope, "g")   ? MXP_INSTANT_GLOBAL
           : mxp__field_is(scope, "p") ? MXP_INSTANT_PROCESS
                                       : MXP_INSTANT_THREAD;
}

// "7 records lost (memory full)", as mxprof's own JSON has it.
static bool take_loss(mxp_import *import, mxp_import_row row)
{
    const mxp_json_field *name = mxp__field(&import->event, MXP__FIELD_name);
    char text[128], reason[96];
    uint64_t count;
    size_t kept = name->length < sizeof text - 1 ? name->length : sizeof text - 1;
    memcpy(text, name->text, kept);
    text[kept] = '\0';
    if (sscanf(text, "%" SCNu64 " records lost (%95[^)])", &count, reason) != 2 &&
        sscanf(text, "%" SCNu64 " records without a name (%95[^)])", &count, reason) != 2) {
        return false;
    }
    for (uint32_t i = 1; i < MXP__IMPORT_REASONS; i++) {
        if (strcmp(reason, mxp__loss_reason(i)) == 0) {
            mxp__import_process(&import->rows, row)->lost[i] += count;
            return true;
        }
    }
    return false;
}

// "step 7" in category "step", "step 7 ends" in "step_end": META of what; 0: it is neither.
static uint32_t step_mark(const mxp_json_event *event, uint64_t *number)
{
    static const char before[] = "step ", behind[] = " ends";
    const mxp_json_field *name = mxp__field(event, MXP__FIELD_name);
    const bool ends = mxp__field_is(mxp__field(event, MXP__FIELD_cat), "step_end");
    const size_t front = sizeof before - 1, back = ends ? sizeof behind - 1 : 0;
    const bool is_mark = (ends || mxp__field_is(mxp__field(event, MXP__FIELD_cat), "step")) &&
                         name->length > front + back && memcmp(name->text, before, front) == 0 &&
                         memcmp(name->text + name->length - back, behind, back) == 0 &&
                         mxp__json_whole(name->text + front, name->length - front - back, number);
    return !is_mark ? 0 : ends ? MXP_META_STEP_END : MXP_META_STEP;
}

// Marks that mxprof's own JSON has as instants.
static int own_mark(mxp_import *import, mxp_import_row row, int64_t ns, bool *taken)
{
    static const char *const states[] = {"profiler stop", "profiler run", "profiler pause",
                                         "profiler resume"};
    const mxp_json_field *name = mxp__field(&import->event, MXP__FIELD_name);
    const mxp_json_field *category = mxp__field(&import->event, MXP__FIELD_cat);
    uint64_t number;
    const uint32_t step = step_mark(&import->event, &number);
    *taken = true;
    if (step != 0) {
        return mxp__import_put_meta(import, row, ns, step, number);
    }
    for (uint64_t i = 0; mxp__field_is(category, "mxprof") && i < 4; i++) {
        if (mxp__field_is(name, states[i])) {
            return mxp__import_put_meta(import, row, ns, MXP_META_STATE, i);
        }
    }
    *taken = mxp__field_is(category, "mxprof") && take_loss(import, row);
    return MXP_OK;
}

static int instant(mxp_import *import, mxp_import_row row, int64_t ns)
{
    const mxp_json_event *event = &import->event;
    mxp_import_place place = mxp__import_place(import);
    bool is_memory = import->kind == MXP__IMPORT_TORCH &&
                     mxp__field_is(mxp__field(event, MXP__FIELD_name), "[memory]");
    bool taken = false;
    uint32_t name;
    int error = is_memory ? memory(import, row, ns, &taken) : own_mark(import, row, ns, &taken);
    if (error != MXP_OK || taken) {
        return error;
    }
    error = mxp__import_event_name(import, row, MXP_STYLE_INSTANT, MXP_UNIT_NONE, &place, &name);
    return error == MXP_OK ? mxp__import_put_instant(import, row, ns, name,
                                                     scope_of(mxp__field(event, MXP__FIELD_s)))
                           : error;
}

// ---- flows -------------------------------------------------------------------------------------
static int flow(mxp_import *import, char phase, mxp_import_row row, int64_t ns, uint32_t lane)
{
    mxp_import_place place = mxp__import_place(import);
    uint32_t what = phase == 's' ? MXP_FLOW_START : phase == 'f' ? MXP_FLOW_END : MXP_FLOW_STEP;
    uint32_t name;
    int error = mxp__import_event_name(import, row, MXP_STYLE_FLOW, MXP_UNIT_NONE, &place, &name);
    return error == MXP_OK ? mxp__import_put_flow(import, row, ns, name, what,
                                                  mxp__import_event_id(import, true), lane)
                           : error;
}

int mxp__import_value_event(mxp_import *import, char phase, int64_t ns)
{
    mxp_import_place place = mxp__import_place(import);
    mxp_import_row row;
    uint32_t lane;
    if (place.is_copy) {
        return MXP_OK;
    }
    int error = mxp__import_event_row(import, &place, &row, &lane);
    if (error != MXP_OK) {
        return error;
    }
    return phase == 'C'                                   ? counter(import, row, ns)
           : phase == 's' || phase == 't' || phase == 'f' ? flow(import, phase, row, ns, lane)
                                                          : instant(import, row, ns);
}

// ---- metadata ----------------------------------------------------------------------------------
static void take_label(void *to, const mxp_json_field *key, const mxp_json_field *value)
{
    if (mxp__field_is(key, "name") && value->type == MXP__JSON_STRING) {
        *(mxp_json_field *)to = *value;
    }
}

int mxp__import_metadata(mxp_import *import)
{
    static const char *const without_use[] = {"process_sort_index", "thread_sort_index",
                                              "process_labels", "num_cpus",
                                              "process_uptime_seconds"};
    mxp_json_event *event = &import->event;
    const mxp_json_field *name = mxp__field(event, MXP__FIELD_name);
    bool is_thread = mxp__field_is(name, "thread_name");
    if (is_thread || mxp__field_is(name, "process_name")) {
        mxp_json_field label = {.text = ""};
        mxp__json_members(&event->args, take_label, &label);
        return is_thread || !import->rows.is_one
                   ? mxp__import_label(&import->rows, mxp__field(event, MXP__FIELD_pid),
                                       is_thread ? mxp__field(event, MXP__FIELD_tid) : NULL, &label)
                   : MXP_OK;
    }
    for (size_t i = 0; i < sizeof without_use / sizeof without_use[0]; i++) {
        if (mxp__field_is(name, without_use[i])) {
            return MXP_OK;
        }
    }
    import->notes.metadata++;
    return MXP_OK;
}
