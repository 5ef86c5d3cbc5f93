// SPDX-License-Identifier: Apache-2.0
#include "text/json_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"

enum { INDENT = 4 };

static mxp_json_level *innermost(mxp_json *json)
{
    return json->depth == 0 ? NULL : &json->levels[json->depth - 1];
}

static void begin_line(mxp_json *json)
{
    mxp__strbuf_printf(json->out, "\n%*s", (int)(json->depth * INDENT), "");
}

static void begin_value(mxp_json *json, const char *key)
{
    mxp_json_level *level = innermost(json);
    assert((key != NULL) == (level != NULL && level->end == '}'));
    if (level != NULL) {
        mxp__strbuf_puts(json->out, !level->has_member ? "" : level->is_row ? ", " : ",");
        level->has_member = true;
        if (!level->is_row) {
            begin_line(json);
        }
    }
    if (key != NULL) {
        mxp__json_string(json->out, key, strlen(key));
        mxp__strbuf_puts(json->out, ": ");
    }
}

static void begin_level(mxp_json *json, const char *key, char begin, char end, bool is_row)
{
    const mxp_json_level *around = innermost(json);
    const bool stays = is_row || (around != NULL && around->is_row);
    assert(json->depth < MXP_JSON_DEPTH);
    begin_value(json, key);
    mxp__strbuf_putc(json->out, begin);
    json->levels[json->depth++] = (mxp_json_level){.end = end, .is_row = stays};
}

void mxp__json_object(mxp_json *json, const char *key)
{
    begin_level(json, key, '{', '}', false);
}

void mxp__json_array(mxp_json *json, const char *key)
{
    begin_level(json, key, '[', ']', false);
}

void mxp__json_row(mxp_json *json, const char *key)
{
    begin_level(json, key, '{', '}', true);
}

void mxp__json_list(mxp_json *json, const char *key)
{
    begin_level(json, key, '[', ']', true);
}

void mxp__json_end(mxp_json *json)
{
    assert(json->depth > 0);
    const mxp_json_level level = json->levels[--json->depth];
    if (level.has_member && !level.is_row) {
        begin_line(json);
    }
    mxp__strbuf_putc(json->out, level.end);
    if (json->depth == 0) {
        mxp__strbuf_putc(json->out, '\n');
    }
}

void mxp__json_text(mxp_json *json, const char *key, const char *text)
{
    mxp__json_bytes(json, key, text, strlen(text));
}

void mxp__json_bytes(mxp_json *json, const char *key, const char *text, size_t length)
{
    begin_value(json, key);
    mxp__json_string(json->out, text, length);
}

void mxp__json_u64(mxp_json *json, const char *key, uint64_t value)
{
    begin_value(json, key);
    mxp__strbuf_printf(json->out, "%" PRIu64, value);
}

void mxp__json_i64(mxp_json *json, const char *key, int64_t value)
{
    begin_value(json, key);
    mxp__strbuf_printf(json->out, "%" PRId64, value);
}

void mxp__json_number(mxp_json *json, const char *key, double value)
{
    begin_value(json, key);
    mxp__json_double(json->out, value);
}

void mxp__json_bool(mxp_json *json, const char *key, bool value)
{
    begin_value(json, key);
    mxp__strbuf_puts(json->out, value ? "true" : "false");
}

void mxp__json_null(mxp_json *json, const char *key)
{
    begin_value(json, key);
    mxp__strbuf_puts(json->out, "null");
}
