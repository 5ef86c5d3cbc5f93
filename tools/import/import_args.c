// SPDX-License-Identifier: Apache-2.0
#include "import/import_args.h"

#include <mxprof/error.h>
#include <string.h>

#include "import/json_number.h"

enum { HEAD_WORDS = 6, TYPE_SHIFT = 32, HERE_SHIFT = 40 };

void mxp__import_args_begin(mxp_import_args *args, mxp_import_names *names)
{
    args->names = names;
    args->count = args->text_words = 0;
    args->cut = false;
    args->error = MXP_OK;
}

static uint32_t words_left(const mxp_import_args *args)
{
    return MXP__IMPORT_ARGS_WORDS - 2 * args->count - args->text_words;
}

static void put_text(mxp_import_args *args, const mxp_json_field *value, uint64_t pair[2])
{
    uint32_t room = words_left(args) * (uint32_t)sizeof(uint64_t);
    uint32_t here = value->length < MXP_ARG_TEXT_MAX_BYTES ? value->length : MXP_ARG_TEXT_MAX_BYTES;
    here = here < room ? here : room;
    uint32_t words = (here + 7) / 8;
    pair[0] |= (uint64_t)MXP_ARG_TEXT << TYPE_SHIFT | (uint64_t)here << HERE_SHIFT;
    pair[1] = args->text_words | (uint64_t)value->length << 32;
    if (words > 0) {
        args->texts[args->text_words + words - 1] = 0;
        memcpy(args->texts + args->text_words, value->text, here);
    }
    args->text_words += words;
}

static uint64_t *find_pair(mxp_import_args *args, uint32_t key)
{
    for (uint32_t i = 0; i < args->count; i++) {
        if ((uint32_t)args->pairs[2 * i] == key) {
            return &args->pairs[2 * i];
        }
    }
    if (args->count == MXP_SPAN_ARGS_MAX || words_left(args) < 2) {
        args->cut = true;
        return NULL;
    }
    return &args->pairs[2 * args->count++];
}

static void add_member(void *to, const mxp_json_field *key, const mxp_json_field *value)
{
    mxp_import_args *args = to;
    uint32_t name, type = 0;
    uint64_t bits;
    if (args->error == MXP_OK) {
        args->error = mxp__import_name(args->names, key->text, key->length, 0, MXP_STYLE_NONE,
                                       MXP_UNIT_NONE, &name);
    }
    uint64_t *pair = args->error == MXP_OK ? find_pair(args, name) : NULL;
    if (pair == NULL) {
        return;
    }
    pair[0] = name;
    if (value->type == MXP__JSON_SCALAR) {
        type = mxp__json_value(value->text, value->length, &bits);
    }
    if (type != 0) {
        pair[0] |= (uint64_t)type << TYPE_SHIFT;
        pair[1] = bits;
    } else {
        put_text(args, value, pair);
    }
}

int mxp__import_args_add(mxp_import_args *args, mxp_strbuf *object)
{
    mxp__json_members(object, add_member, args);
    return args->error;
}

uint32_t mxp__import_args_units(const mxp_import_args *args)
{
    return args->count + (args->text_words + 1) / 2;
}

void mxp__import_args_put(const mxp_import_args *args, uint64_t *words)
{
    uint64_t *to = words + HEAD_WORDS;
    uint64_t text_bytes = (HEAD_WORDS + 2 * args->count) * sizeof *words;
    for (uint32_t i = 0; i < args->count; i++) {
        uint64_t key = args->pairs[2 * i], value = args->pairs[2 * i + 1];
        bool is_text = (key >> TYPE_SHIFT & 0xff) == MXP_ARG_TEXT;
        *to++ = key;
        *to++ =
            is_text ? text_bytes + (uint32_t)value * sizeof *words + (value >> 32 << 32) : value;
    }
    memcpy(to, args->texts, args->text_words * sizeof *to);
    if (args->text_words % 2 != 0) {
        to[args->text_words] = 0;
    }
}
