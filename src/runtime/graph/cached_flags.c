// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/cached_flags.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "runtime/autograd/bulk_limit.h"

enum { BOOLEAN, NUMBER, NUMBERS, TEXT };

typedef struct flag {
    const char *name;
    int kind;
    size_t offset;  // of those that are kept
} flag;

#define KEPT(name, kind)                              \
    {                                                 \
#name, kind, offsetof(mxn_cached_flags, name) \
    }

static const flag flags_known[] = {
    KEPT(static_alloc, BOOLEAN),  KEPT(static_shape, BOOLEAN),     KEPT(is_dynamic, BOOLEAN),
    KEPT(inline_limit, NUMBER),   KEPT(forward_bulk_size, NUMBER), KEPT(backward_bulk_size, NUMBER),
    {"data_indices", NUMBERS, 0}, {"param_indices", NUMBERS, 0},   {"subgraph", TEXT, 0},
};

enum { FLAG_COUNT = sizeof flags_known / sizeof *flags_known };

static const char *const kind_texts[] = {"boolean", "int (non-negative)", "tuple of <int>",
                                         "string"};

// ---- values -----------------------------------------------------------------------------------
static bool parse_boolean(const char *text, bool *value)
{
    bool is_true = strcmp(text, "1") == 0 || strcasecmp(text, "true") == 0;
    *value = is_true;
    return is_true || strcmp(text, "0") == 0 || strcasecmp(text, "false") == 0;
}

// The number at the beginning of `text`; null: there is none. *text goes behind it.
static bool parse_number(const char **text, uint32_t *value)
{
    char *end;
    const char *begin = *text + strspn(*text, " ");
    if (*begin < '0' || *begin > '9') {
        return false;
    }
    errno = 0;
    unsigned long long number = strtoull(begin, &end, 10);
    *value = (uint32_t)number;
    *text = end;
    return errno == 0 && number <= INT32_MAX;
}

static bool is_whole(const char *text)
{
    return text[strspn(text, " ")] == '\0';
}

// "[0, 1]", "(0,)", "3" or "[]".
static bool is_list(const char *text)
{
    text += strspn(text, " ");
    const char close = *text == '[' ? ']' : *text == '(' ? ')' : '\0';
    text += close != '\0';
    uint32_t unused;
    while (parse_number(&text, &unused)) {
        text += strspn(text, " ");
        if (*text != ',') {
            break;
        }
        text++;
    }
    text += strspn(text, " ");
    return *text == close && is_whole(text + (close != '\0'));
}

static bool parse(const flag *known, const char *text, mxn_cached_flags *flags)
{
    char *at = (char *)flags + known->offset;
    switch (known->kind) {
    case BOOLEAN:
        return parse_boolean(text, (bool *)at);
    case NUMBER:
        return parse_number(&text, (uint32_t *)(void *)at) && is_whole(text);
    case NUMBERS:
        return is_list(text);
    default:
        return true;
    }
}

// ---- flags ------------------------------------------------------------------------------------
static const flag *find(const char *name)
{
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if (strcmp(flags_known[i].name, name) == 0) {
            return &flags_known[i];
        }
    }
    return NULL;
}

static int parse_one(const char *key, const char *value, mxn_cached_flags *flags)
{
    const flag *known = find(key);
    if (known == NULL) {
        return mxp__fail(MXP_EINVAL,
                         "Cannot find argument '%s' of a cached operator, possible arguments: "
                         "static_alloc, static_shape, is_dynamic, inline_limit, "
                         "forward_bulk_size, backward_bulk_size, data_indices, param_indices, "
                         "subgraph",
                         key);
    }
    if (!parse(known, value, flags)) {
        return mxp__fail(MXP_EINVAL, "Invalid Parameter format for %s expect %s but value='%s'",
                         key, kind_texts[known->kind], value);
    }
    return MXP_OK;
}

int mxn__cached_flags_parse(uint32_t count, const char *const *keys, const char *const *values,
                            mxn_cached_flags *flags)
{
    int forward = 0, backward = 0;
    int error = mxn_bulk_limit_forward(&forward);
    if (error == MXP_OK) {
        error = mxn_bulk_limit_backward(&backward);
    }
    *flags = (mxn_cached_flags){.inline_limit = 2,
                                .forward_bulk_size = (uint32_t)forward,
                                .backward_bulk_size = (uint32_t)backward};
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        error = parse_one(keys[i], values[i], flags);
    }
    return error;
}
