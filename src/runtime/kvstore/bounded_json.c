// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/bounded_json.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/kvstore/optimizer_text.h"

#ifdef MXN_WITH_JANSSON

static int check_depth(const char *text, size_t length)
{
    int depth = 0;
    bool is_quoted = false;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if (c == '"') {
            is_quoted = !is_quoted;
        } else if (is_quoted) {
            i += c == '\\';
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        }
        if (depth > MXN_KV_TEXT_DEPTH) {
            return mxp__fail(MXP_EINVAL, "optimizer text: byte %zu is more than %d levels deep", i,
                             (int)MXN_KV_TEXT_DEPTH);
        }
    }
    return MXP_OK;
}

int mxn__json_parse(const char *text, size_t length, json_t **root)
{
    json_error_t error;
    if (length >= MXN_KV_TEXT_BYTES) {
        return mxp__fail(MXP_EINVAL, "optimizer text: it has %zu bytes; at most %d are read",
                         length, (int)MXN_KV_TEXT_BYTES - 1);
    }
    int result = check_depth(text, length);
    if (result != MXP_OK) {
        return result;
    }
    *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (*root == NULL) {
        return mxp__fail(MXP_EINVAL, "optimizer text, byte %d: %s", error.position, error.text);
    }
    if (!json_is_object(*root)) {
        json_decref(*root);
        *root = NULL;
        return mxp__fail(MXP_EINVAL, "optimizer text: it must be an object, {\"name\": …}");
    }
    return MXP_OK;
}

// An object of that name, or null if it is missing.
int mxn__json_object(json_t *in, const char *name, json_t **object)
{
    json_t *found = json_object_get(in, name);
    *object = found;
    return found == NULL || json_is_object(found)
               ? MXP_OK
               : mxp__fail(MXP_EINVAL, "optimizer text: \"%s\" must be an object", name);
}

int mxn__json_name(json_t *in, const char *where, const char **name)
{
    *name = json_string_value(json_object_get(in, "name"));
    return *name != NULL
               ? MXP_OK
               : mxp__fail(MXP_EINVAL, "optimizer text: %s must have a \"name\", which is a text",
                           where);
}

int mxn__json_check_members(json_t *object, const char *where, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const char *const *at = known;
        while (*at != NULL && strcmp(*at, key) != 0) {
            at++;
        }
        if (*at == NULL) {
            return mxp__fail(MXP_EINVAL, "optimizer text: %s has no member \"%s\"", where, key);
        }
    }
    return MXP_OK;
}

int mxn__json_number(json_t *value, const char *owner, const char *name, double *number)
{
    if (!json_is_number(value) || !isfinite(json_number_value(value))) {
        return mxp__fail(MXP_EINVAL, "optimizer text: \"%s\" of %s must be a number", name, owner);
    }
    *number = json_number_value(value);
    return MXP_OK;
}
#endif
