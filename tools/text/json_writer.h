// SPDX-License-Identifier: Apache-2.0
// JSON member by member, with the commas, indents and ends where they belong. Times are in ns,
// sizes in bytes, and the member's name says so.
//
//     mxp_json json = {.out = out};
//     mxp__json_object(&json, NULL);
//     mxp__json_u64(&json, "steps", 60);
//     mxp__json_array(&json, "rows");
//     mxp__json_row(&json, NULL);          // an object on one line
//     mxp__json_text(&json, "name", name);
//     mxp__json_end(&json);
//     mxp__json_end(&json);
//     mxp__json_end(&json);                // of the outermost: and a new line
#ifndef MXP_TOOLS_JSON_WRITER_H
#define MXP_TOOLS_JSON_WRITER_H

#include <stdint.h>

#include "base/strbuf.h"

enum { MXP_JSON_DEPTH = 16 };

typedef struct mxp_json_level {
    char end;  // '}' or ']'
    bool has_member, is_row;
} mxp_json_level;

// Begins as zeros but for `out`.
typedef struct mxp_json {
    mxp_strbuf *out;
    unsigned depth;  // at most MXP_JSON_DEPTH
    mxp_json_level levels[MXP_JSON_DEPTH];
} mxp_json;

// `key` is null in an array and for the outermost value, and a literal in an object.
void mxp__json_object(mxp_json *json, const char *key);
void mxp__json_array(mxp_json *json, const char *key);
void mxp__json_row(mxp_json *json, const char *key);  // an object that stays on its line
void mxp__json_list(mxp_json *json, const char *key);  // an array that stays on its line
void mxp__json_end(mxp_json *json);  // of whichever was begun last

void mxp__json_text(mxp_json *json, const char *key, const char *text);
void mxp__json_bytes(mxp_json *json, const char *key, const char *text, size_t length);
void mxp__json_u64(mxp_json *json, const char *key, uint64_t value);
void mxp__json_i64(mxp_json *json, const char *key, int64_t value);
void mxp__json_number(mxp_json *json, const char *key, double value);  // null if not finite
void mxp__json_bool(mxp_json *json, const char *key, bool value);
void mxp__json_null(mxp_json *json, const char *key);

#endif
