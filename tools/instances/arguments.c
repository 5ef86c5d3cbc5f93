// SPDX-License-Identifier: Apache-2.0
#include "instances/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/scope_path.h"
#include "text/figure.h"
#include "text/label.h"

// ---- values ------------------------------------------------------------------------------------
typedef struct arg_value {
    uint32_t key, type;
    uint64_t bits;
    const char *text;  // of a text, and of a name; else null
    uint32_t length, whole;
} arg_value;

static arg_value value_of(const mxp_instance *instance, uint32_t i)
{
    const mxp_event event = mxp__instance_event(instance);
    arg_value value = {0};
    mxp__event_arg(&event, i, &value.key, &value.type, &value.bits);
    if (value.type == MXP_ARG_TEXT) {
        value.text = mxp__event_arg_text(&event, i, &value.length, &value.whole);
        value.length = value.text != NULL ? value.length : 0;
        value.text = value.text != NULL ? value.text : "";
    } else if (value.type == MXP_ARG_NAME) {
        mxp_name_view name = instance->source->name(instance->source, (uint32_t)value.bits);
        value.text = name.text;
        value.length = value.whole = name.length;
    }
    return value;
}

static double double_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint32_t arg_count(const mxp_instance *instance)
{
    const mxp_event event = mxp__instance_event(instance);
    return mxp__event_arg_count(&event);
}

// ---- what is wanted ----------------------------------------------------------------------------
static void read_value(mxp_wanted_arg *wanted)
{
    char *end;
    const char *text = wanted->value;
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    errno = 0;
    wanted->bits =
        text[0] == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, is_hex ? 16 : 10);
    wanted->is_whole = end != text && *end == '\0' && errno == 0;
    wanted->number = strtod(text, &end);
    wanted->is_number = end != text && *end == '\0';
}

int mxp__wanted_arg_init(mxp_wanted_arg *wanted, const mxp_source *source, const char *key,
                         size_t key_length, const char *value)
{
    *wanted = (mxp_wanted_arg){.source = source, .value = value};
    wanted->is_key = mxp__alloc(source->name_count * sizeof *wanted->is_key);
    if (wanted->is_key == NULL && source->name_count > 0) {
        return mxp__fail_memory("the keys of arguments");
    }
    for (uint32_t id = 0; id < source->name_count; id++) {
        mxp_name_view name = source->name(source, id);
        wanted->is_key[id] = name.length == key_length && memcmp(name.text, key, key_length) == 0;
    }
    if (value != NULL) {
        wanted->length = strlen(value);
        read_value(wanted);
    }
    return MXP_OK;
}

void mxp__wanted_arg_fini(mxp_wanted_arg *wanted)
{
    if (wanted->is_key != NULL) {
        mxp__free(wanted->is_key, wanted->source->name_count * sizeof *wanted->is_key);
    }
    wanted->is_key = NULL;
}

static bool is_value(const mxp_wanted_arg *wanted, const arg_value *value)
{
    if (wanted->value == NULL) {
        return true;
    }
    switch (value->type) {
    case MXP_ARG_TEXT:
    case MXP_ARG_NAME:
        return value->length == wanted->length &&
               memcmp(value->text, wanted->value, wanted->length) == 0;
    case MXP_ARG_F64:
        return wanted->is_number && double_of(value->bits) == wanted->number;
    default:
        return wanted->is_whole && value->bits == wanted->bits;
    }
}

int mxp__wanted_arg_find(const mxp_wanted_arg *wanted, const mxp_instance *instance)
{
    uint32_t count = arg_count(instance);
    for (uint32_t i = 0; i < count; i++) {
        arg_value value = value_of(instance, i);
        if (value.key < wanted->source->name_count && wanted->is_key[value.key] &&
            is_value(wanted, &value)) {
            return (int)i;
        }
    }
    return -1;
}

// ---- text --------------------------------------------------------------------------------------
// Rows are told apart by it, and it is typed as it is shown.
static void put_value(const mxp_screen *screen, const arg_value *value, mxp_strbuf *out)
{
    switch (value->type) {
    case MXP_ARG_TEXT:
    case MXP_ARG_NAME:
        mxp__put_label(screen, value->text, value->length, out);
        if (value->length < value->whole) {
            mxp__strbuf_printf(out, "... (%" PRIu32 " bytes)", value->whole);
        }
        break;
    case MXP_ARG_F64:
        mxp__put_exact(double_of(value->bits), out);
        break;
    case MXP_ARG_I64:
        mxp__strbuf_printf(out, "%" PRId64, (int64_t)value->bits);
        break;
    default:
        mxp__strbuf_printf(out, "%" PRIu64, value->bits);
    }
}

void mxp__put_arg_value(const mxp_screen *screen, const mxp_instance *instance, uint32_t i,
                        mxp_strbuf *out)
{
    arg_value value = value_of(instance, i);
    put_value(screen, &value, out);
}

static const char *const phases[] = {[MXP_PHASE_NONE] = NULL,
                                     [MXP_PHASE_FORWARD] = "forward",
                                     [MXP_PHASE_BACKWARD] = "backward",
                                     [MXP_PHASE_UPDATE] = "update",
                                     [MXP_PHASE_COMMUNICATION] = "communication"};

static const char *phase_of(const mxp_instance *instance)
{
    uint32_t phase = instance->flags & MXP_OP_PHASE_MASK;
    return phase < sizeof phases / sizeof phases[0] ? phases[phase] : NULL;
}

static bool is_operator(const mxp_instance *instance)
{
    return instance->kind == MXP_KIND_OPERATOR || instance->kind == MXP_KIND_HIDDEN;
}

// The scope an operator was pushed in, as other commands write it: without the colon behind it.
static void put_scope(const mxp_instance *instance, mxp_strbuf *out)
{
    const mxp_event event = mxp__instance_event(instance);
    mxp_operator_view view;
    mxp__event_operator(&event, &view);
    mxp__scope_path(instance->source, view.scope, out);
    if (out->length > 0 && out->data[out->length - 1] == ':') {
        out->length--;
    }
}

static void put_key(const mxp_screen *screen, const mxp_source *source, uint32_t id, size_t begin,
                    mxp_strbuf *out)
{
    mxp_name_view key = source->name(source, id);
    if (out->length > begin) {
        mxp__strbuf_putc(out, ' ');
    }
    mxp__put_label(screen, key.text, key.length, out);
    mxp__strbuf_putc(out, '=');
}

void mxp__put_args(const mxp_screen *screen, const mxp_instance *instance, mxp_strbuf *out)
{
    const mxp_event event = mxp__instance_event(instance);
    size_t begin = out->length;
    uint64_t context = mxp__event_context(&event);
    if (context != 0) {
        mxp__strbuf_printf(out, "context=%" PRIu64, context);
    }
    for (uint32_t i = 0; i < mxp__event_arg_count(&event); i++) {
        arg_value value = value_of(instance, i);
        put_key(screen, instance->source, value.key, begin, out);
        put_value(screen, &value, out);
    }
    if (is_operator(instance)) {
        mxp_strbuf scope = {0};
        put_scope(instance, &scope);
        mxp__put_label(screen, mxp__strbuf_text(&scope), scope.length, out);
        out->failed = out->failed || scope.failed;
        mxp__strbuf_fini(&scope);
        const char *phase = phase_of(instance);
        mxp__strbuf_printf(out, "%s%s", phase != NULL && out->length > begin ? " " : "",
                           phase != NULL ? phase : "");
    }
}

// ---- JSON --------------------------------------------------------------------------------------
static void json_value(mxp_json *json, const char *key, const arg_value *value)
{
    switch (value->type) {
    case MXP_ARG_TEXT:
    case MXP_ARG_NAME:
        mxp__json_bytes(json, key, value->text, value->length);
        break;
    case MXP_ARG_F64:
        mxp__json_number(json, key, double_of(value->bits));
        break;
    case MXP_ARG_I64:
        mxp__json_i64(json, key, (int64_t)value->bits);
        break;
    default:
        mxp__json_u64(json, key, value->bits);
    }
}

void mxp__json_args(mxp_json *json, const mxp_instance *instance)
{
    const mxp_event event = mxp__instance_event(instance);
    const mxp_source *source = instance->source;
    mxp__json_array(json, "args");
    for (uint32_t i = 0; i < mxp__event_arg_count(&event); i++) {
        arg_value value = value_of(instance, i);
        mxp_name_view key = source->name(source, value.key);
        mxp__json_row(json, NULL);
        mxp__json_bytes(json, "key", key.text, key.length);
        json_value(json, "value", &value);
        mxp__json_end(json);
    }
    mxp__json_end(json);
    if (mxp__event_context(&event) != 0) {
        mxp__json_u64(json, "context", mxp__event_context(&event));
    }
    if (is_operator(instance)) {
        mxp_strbuf scope = {0};
        put_scope(instance, &scope);
        mxp__json_bytes(json, "scope", mxp__strbuf_text(&scope), scope.length);
        json->out->failed = json->out->failed || scope.failed;
        mxp__strbuf_fini(&scope);
        const char *phase = phase_of(instance);
        mxp__json_text(json, "phase", phase != NULL ? phase : "");
    }
}

// ---- keys --------------------------------------------------------------------------------------
int mxp__arg_keys_note(mxp_arg_keys *keys, const mxp_instance *instance)
{
    uint32_t names = instance->source->name_count, count = arg_count(instance);
    if (keys->is_known == NULL && names > 0) {
        keys->is_known = mxp__alloc(names * sizeof *keys->is_known);
        keys->known_count = names;
    }
    for (uint32_t i = 0; i < count && keys->is_known != NULL; i++) {
        arg_value value = value_of(instance, i);
        if (value.key >= names || keys->is_known[value.key]) {
            continue;
        }
        if (mxp__grow(&keys->ids, &keys->capacity, keys->count + 1, sizeof *keys->ids) != MXP_OK) {
            return mxp__fail_memory("the keys of arguments");
        }
        keys->is_known[value.key] = true;
        keys->ids[keys->count++] = value.key;
    }
    return keys->is_known == NULL && names > 0 ? mxp__fail_memory("the keys of arguments") : MXP_OK;
}

void mxp__arg_keys_fini(mxp_arg_keys *keys)
{
    mxp__free(keys->ids, keys->capacity * sizeof *keys->ids);
    mxp__free(keys->is_known, keys->known_count * sizeof *keys->is_known);
    *keys = (mxp_arg_keys){0};
}
