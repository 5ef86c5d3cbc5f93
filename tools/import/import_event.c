// SPDX-License-Identifier: Apache-2.0
// An event of any phase: what it is, when and where. What it becomes is in import_spans.c and
// import_values.c.
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>

#include "import/import_state.h"
#include "profiler/trace/checksum.h"

void mxp__import_damaged(mxp_import *import)
{
    import->notes.first_damaged =
        import->notes.damaged++ == 0 ? import->event.offset : import->notes.first_damaged;
}

// ---- fields ------------------------------------------------------------------------------------
static bool time_of(const mxp_json_field *field, mxp_json_time *time)
{
    bool may_be = field->type == MXP__JSON_STRING || field->type == MXP__JSON_SCALAR;
    return may_be && mxp__json_time(field->text, field->length, time);
}

// A number, or any text.
static bool is_row_name(const mxp_json_field *field)
{
    bool is_number = field->type == MXP__JSON_SCALAR && field->length > 0 &&
                     (field->text[0] == '-' || (field->text[0] >= '0' && field->text[0] <= '9'));
    return field->type == MXP__JSON_NONE || field->type == MXP__JSON_STRING || is_number;
}

static bool is_text(const mxp_json_field *field)
{
    return field->type == MXP__JSON_NONE || field->type == MXP__JSON_STRING;
}

static bool fields_are_sound(const mxp_json_event *event)
{
    return mxp__field(event, MXP__FIELD_ph)->type == MXP__JSON_STRING &&
           mxp__field(event, MXP__FIELD_ph)->length == 1 &&
           is_text(mxp__field(event, MXP__FIELD_name)) &&
           is_text(mxp__field(event, MXP__FIELD_cat)) &&
           is_row_name(mxp__field(event, MXP__FIELD_pid)) &&
           is_row_name(mxp__field(event, MXP__FIELD_tid));
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a >> 29;
}

static uint64_t mix_field(uint64_t id, mxp_json_key key, const char *text, size_t length)
{
    return mix(id, mxp__checksum(text, length) + key);
}

uint64_t mxp__import_event_id(const mxp_import *import, bool with_name)
{
    static const mxp_json_key keys[] = {MXP__FIELD_id, MXP__FIELD_id2, MXP__FIELD_scope,
                                        MXP__FIELD_cat, MXP__FIELD_name};
    uint64_t id = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] - !with_name; i++) {
        const mxp_json_field *field = mxp__field(&import->event, keys[i]);
        id = mix_field(id, keys[i], field->text, field->length);
    }
    return id;
}

uint64_t mxp__import_flow_id(const char *id, mxp_name_view category, mxp_name_view name)
{
    uint64_t mixed = mix_field(0, MXP__FIELD_id, id, strlen(id));
    mixed = mix_field(mixed, MXP__FIELD_id2, "", 0);
    mixed = mix_field(mixed, MXP__FIELD_scope, "", 0);
    mixed = mix_field(mixed, MXP__FIELD_cat, category.text, category.length);
    return mix_field(mixed, MXP__FIELD_name, name.text, name.length);
}

// ---- where -------------------------------------------------------------------------------------
static bool is_number(const mxp_json_field *field)
{
    uint64_t value;
    return mxp__json_whole(field->text, field->length, &value);
}

// The process that has the devices, and a thread of it.
static int host_row(mxp_import *import, mxp_import_row *row)
{
    *row = (mxp_import_row){0, 0};
    return import->rows.count > 0 && import->rows.processes[0].thread_count > 0
               ? MXP_OK
               : mxp__import_row(&import->rows, mxp__field(&import->event, MXP__FIELD_pid),
                                 mxp__field(&import->event, MXP__FIELD_tid), true, row);
}

// Python's functions nest in each other, beside what their thread does in C++.
static int row_beside(mxp_import *import, bool attached, mxp_import_row *row)
{
    const mxp_json_field *tid = mxp__field(&import->event, MXP__FIELD_tid);
    char text[128];
    int length = snprintf(text, sizeof text, "Python, thread %.*s", (int)tid->length, tid->text);
    mxp_json_field beside = {.text = text,
                             .length = (uint32_t)length < sizeof text ? (uint32_t)length
                                                                      : sizeof text - 1,
                             .type = MXP__JSON_STRING};
    return mxp__import_row(&import->rows, mxp__field(&import->event, MXP__FIELD_pid), &beside,
                           attached, row);
}

int mxp__import_event_row(mxp_import *import, const mxp_import_place *place, mxp_import_row *row,
                          uint32_t *lane)
{
    const mxp_json_field *pid = mxp__field(&import->event, MXP__FIELD_pid);
    const mxp_json_field *tid = mxp__field(&import->event, MXP__FIELD_tid);
    bool attached = import->kind == MXP__IMPORT_TORCH && !is_number(pid);
    *lane = 0;
    if (place->is_beside) {
        return row_beside(import, attached, row);
    }
    int error = place->is_device ? host_row(import, row)
                                 : mxp__import_row(&import->rows, pid, tid, attached, row);
    if (error != MXP_OK || !place->is_device) {
        return error;
    }
    char text[128];
    int length = snprintf(text, sizeof text, "cuda/%.*s stream %.*s", (int)pid->length, pid->text,
                          (int)tid->length, tid->text);
    size_t kept = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    return mxp__import_name(&mxp__import_process(&import->rows, *row)->names, text, kept, 0,
                            MXP_STYLE_NONE, MXP_UNIT_NONE, lane);
}

int mxp__import_event_name(mxp_import *import, mxp_import_row row, uint8_t style, uint8_t unit,
                           const mxp_import_place *place, uint32_t *id)
{
    const mxp_json_field *name = mxp__field(&import->event, MXP__FIELD_name);
    const mxp_json_field *category = mxp__field(&import->event, MXP__FIELD_cat);
    mxp_import_names *names = &mxp__import_process(&import->rows, row)->names;
    const char *text = place->category != NULL ? place->category : category->text;
    size_t length = place->category != NULL ? strlen(text) : category->length;
    uint32_t of = 0;
    int error = length == 0
                    ? MXP_OK
                    : mxp__import_name(names, text, length, 0, MXP_STYLE_NONE, MXP_UNIT_NONE, &of);
    if (error != MXP_OK) {
        return error;
    }
    return name->length > 0 ? mxp__import_name(names, name->text, name->length, of, style, unit, id)
                            : mxp__import_name(names, "(no name)", 9, of, style, unit, id);
}

// ---- what --------------------------------------------------------------------------------------
static int take_event(mxp_import *import, char phase, mxp_json_time ts)
{
    switch (phase) {
    case 'X':
    case 'B':
    case 'E':
        return mxp__import_span_event(import, phase, ts);
    case 'b':
    case 'e':
    case 'S':
    case 'F':
    case '(':
    case ')':
        return mxp__import_async_event(import, phase, mxp__json_round(ts));
    default:
        return mxp__import_value_event(import, phase, mxp__json_round(ts));
    }
}

// MXNet's frames; elsewhere these are contexts, which say nothing about time.
static bool is_frame(const mxp_import *import)
{
    static const char ending[] = ",frame";
    const mxp_json_field *category = mxp__field(&import->event, MXP__FIELD_cat);
    size_t bytes = sizeof ending - 1;
    return category->length >= bytes &&
           memcmp(category->text + category->length - bytes, ending, bytes) == 0;
}

static bool is_understood(const mxp_import *import, char phase)
{
    return phase == '(' || phase == ')'
               ? is_frame(import)
               : phase != '\0' && strchr("XBEbneSTpFstfCiIR", phase) != NULL;
}

int mxp__import_event(mxp_import *import)
{
    mxp_json_event *event = &import->event;
    import->notes.met |= event->met;
    import->notes.args_lost += event->args_lost;
    if (event->keys == 0) {
        return MXP_OK;  // TensorFlow ends its list with an empty object
    }
    if (!fields_are_sound(event)) {
        mxp__import_damaged(import);
        return MXP_OK;
    }
    char phase = mxp__field(event, MXP__FIELD_ph)->text[0];
    if (!import->has_events) {
        import->has_events = true;
        mxp__import_kind_first(import);
    }
    if (phase == 'M') {
        return mxp__import_metadata(import);
    }
    if (!is_understood(import, phase)) {
        import->notes.phases[(unsigned char)phase]++;
        return MXP_OK;
    }
    mxp_json_time ts;
    const mxp_json_field *time = mxp__field(event, MXP__FIELD_ts);
    if (!time_of(time, &ts)) {
        uint64_t bits;
        import->notes.beyond += mxp__json_value(time->text, time->length, &bits) != 0;
        mxp__import_damaged(import);
        return MXP_OK;
    }
    return take_event(import, phase, ts);
}
