// SPDX-License-Identifier: Apache-2.0
#include "import/json_event.h"

#include <string.h>

// Which key a text is. Compared by length first: every event has some ten of them.
static mxp_json_key key_of(const mxp_json_text *key)
{
    static const struct {
        const char *text;
        size_t length;
    } keys[MXP__FIELDS + 1] = {
#define KEY(name) [MXP__FIELD_##name] = {#name, sizeof #name - 1},
        MXP_JSON_FIELDS(KEY) KEY(args)
#undef KEY
    };
    for (size_t i = 0; i <= MXP__FIELDS; i++) {
        if (key->length == keys[i].length && memcmp(key->text, keys[i].text, key->length) == 0) {
            return (mxp_json_key)i;
        }
    }
    return MXP__FIELD_unknown;
}

// Copies a value into the event, because the window slides.
static void keep_text(mxp_json_event *event, const mxp_json_text *text, bool is_string,
                      mxp_json_field *field)
{
    size_t room = sizeof event->text - event->used;
    room = room < MXP__NAME_BYTES_MAX ? room : MXP__NAME_BYTES_MAX;
    char *to = event->text + event->used;
    size_t length = text->length < room ? text->length : room;
    if (is_string) {
        event->met |= mxp__json_unescape(text, to, room, &length);
    } else {
        memcpy(to, text->text, length);
    }
    event->used += length;
    field->text = to;
    field->length = (uint32_t)length;
}

static bool read_field(mxp_json_reader *reader, mxp_json_event *event, mxp_json_field *field)
{
    mxp_json_text text;
    int c = mxp__json_peek(reader);
    bool is_string = c == '"';
    *field = (mxp_json_field){.text = ""};
    if (c == '{' || c == '[') {
        field->type = MXP__JSON_NESTED;
        bool whole = mxp__json_raw(reader, &text);
        if (whole && text.length <= MXP__NAME_BYTES_MAX) {
            keep_text(event, &text, false, field);
        }
        return reader->damage == NULL;
    }
    if (!(is_string ? mxp__json_read_text(reader, &text) : mxp__json_scalar(reader, &text))) {
        return false;
    }
    if (!is_string && text.length == 4 && memcmp(text.text, "null", 4) == 0) {
        return true;  // as if it were not there
    }
    field->type = is_string ? MXP__JSON_STRING : MXP__JSON_SCALAR;
    keep_text(event, &text, is_string, field);
    return true;
}

// Those of a span are wanted only if asked for.
static bool wants_args(const mxp_json_event *event)
{
    const mxp_json_field *phase = &event->fields[MXP__FIELD_ph];
    return event->keeps_args || !mxp__field_is(phase, "X");
}

static bool read_args(mxp_json_reader *reader, mxp_json_event *event)
{
    mxp__strbuf_clear(&event->args);
    event->args_lost = false;
    if (!wants_args(event) || mxp__json_peek(reader) != '{') {
        return mxp__json_skip(reader);
    }
    mxp_json_text text;
    if (mxp__json_raw(reader, &text)) {
        mxp__strbuf_append(&event->args, text.text, text.length);
    } else {
        event->args_lost = reader->damage == NULL;
    }
    return reader->damage == NULL;
}

static bool read_member(mxp_json_reader *reader, mxp_json_event *event)
{
    mxp_json_text text;
    if (mxp__json_peek(reader) != '"') {
        return mxp__json_peek(reader) < 0 ? mxp__json_skip(reader)
                                          : mxp__json_damaged(reader, "a key is missing here");
    }
    if (!mxp__json_read_text(reader, &text)) {
        return false;
    }
    mxp_json_key key = key_of(&text);
    event->keys++;
    if (!mxp__json_take(reader, ':')) {
        return mxp__json_peek(reader) < 0 ? mxp__json_skip(reader)
                                          : mxp__json_damaged(reader, "a colon is missing here");
    }
    return key == MXP__FIELD_unknown ? mxp__json_skip(reader)
           : key == MXP__FIELD_args  ? read_args(reader, event)
                                     : read_field(reader, event, &event->fields[key]);
}

bool mxp__json_event(mxp_json_reader *reader, mxp_json_event *event)
{
    event->offset = mxp__json_offset(reader);
    event->keys = 0;
    event->met = 0;
    event->used = 0;
    event->args_lost = false;
    for (size_t i = 0; i < MXP__FIELDS; i++) {
        event->fields[i] = (mxp_json_field){.text = ""};
    }
    mxp__strbuf_clear(&event->args);
    reader->at++;
    if (mxp__json_take(reader, '}')) {
        return true;
    }
    do {
        if (!read_member(reader, event)) {
            return false;
        }
    } while (mxp__json_take(reader, ','));
    if (mxp__json_take(reader, '}')) {
        return true;
    }
    return mxp__json_peek(reader) < 0 ? mxp__json_skip(reader)
                                      : mxp__json_damaged(reader, "an event does not end here");
}

bool mxp__field_is(const mxp_json_field *field, const char *text)
{
    return field->length == strlen(text) && field->type == MXP__JSON_STRING &&
           memcmp(field->text, text, field->length) == 0;
}

// ---- objects in memory -------------------------------------------------------------------------
static bool read_value(mxp_json_reader *reader, mxp_json_text *text, uint8_t *type)
{
    int c = mxp__json_peek(reader);
    *type = c == '"'               ? MXP__JSON_STRING
            : c == '{' || c == '[' ? MXP__JSON_NESTED
                                   : MXP__JSON_SCALAR;
    return c == '"'                    ? mxp__json_read_text(reader, text)
           : *type == MXP__JSON_NESTED ? mxp__json_raw(reader, text)
                                       : mxp__json_scalar(reader, text);
}

// Strings lose their escapes where they stand: they only get shorter, or a byte becomes one
// character of three, for which there is no room; then the rest is cut.
static mxp_json_field in_place(const mxp_json_text *text, uint8_t type)
{
    size_t length = text->length;
    char *at = (char *)(uintptr_t)text->text;
    if (type == MXP__JSON_STRING && text->has_escapes) {
        (void)mxp__json_unescape(text, at, text->length, &length);
    }
    return (mxp_json_field){.text = at, .length = (uint32_t)length, .type = type};
}

void mxp__json_members(mxp_strbuf *object, mxp_json_each *each, void *to)
{
    mxp_json_reader reader;
    mxp_json_text text;
    uint8_t type;
    if (object->failed || object->length == 0) {
        return;
    }
    mxp__json_reader_given(&reader, object->data, object->length);
    reader.at++;
    while (mxp__json_peek(&reader) == '"' && mxp__json_read_text(&reader, &text)) {
        mxp_json_field key = in_place(&text, MXP__JSON_STRING);
        if (!mxp__json_take(&reader, ':') || !read_value(&reader, &text, &type)) {
            return;
        }
        mxp_json_field value = in_place(&text, type);
        each(to, &key, &value);
        if (!mxp__json_take(&reader, ',')) {
            return;
        }
    }
}
