// SPDX-License-Identifier: Apache-2.0
// One event of a trace: its fields as texts. Of a key that is there twice the last one counts.
#ifndef MXP_TOOLS_JSON_EVENT_H
#define MXP_TOOLS_JSON_EVENT_H

#include "import/json_read.h"

// Name of the key, and of the field.
#define MXP_JSON_FIELDS(X) \
    X(ph) X(name) X(cat) X(ts) X(dur) X(pid) X(tid) X(id) X(scope) X(s) X(id2) X(bind_id)

typedef enum mxp_json_key {
#define MXP_JSON_KEY(name) MXP__FIELD_##name,
    MXP_JSON_FIELDS(MXP_JSON_KEY)
#undef MXP_JSON_KEY
        MXP__FIELDS,
    MXP__FIELD_args = MXP__FIELDS,
    MXP__FIELD_unknown
} mxp_json_key;

// What kind of value a field has.
enum { MXP__JSON_NONE = 0, MXP__JSON_STRING, MXP__JSON_SCALAR, MXP__JSON_NESTED };

typedef struct mxp_json_field {
    const char *text;  // of a string without its escapes; never null
    uint32_t length;
    uint8_t type;
} mxp_json_field;

enum {
    MXP__EVENT_TEXT_BYTES = 1 << 14,  // of all fields of an event; what is longer is cut
    MXP__NAME_BYTES_MAX = 1 << 12  // of one
};

typedef struct mxp_json_event {
    uint64_t offset;  // where it begins
    uint32_t keys;  // how many it has
    unsigned met;  // MXP__JSON_* of its strings
    bool keeps_args;  // set by the caller: also those of spans
    bool args_lost;  // were longer than the window
    mxp_json_field fields[MXP__FIELDS];
    mxp_strbuf args;  // the object's text, empty if there is none
    size_t used;
    char text[MXP__EVENT_TEXT_BYTES];
} mxp_json_event;

// Reads the object at which the reader stands. False: the reader's damage; the event is not whole.
bool mxp__json_event(mxp_json_reader *reader, mxp_json_event *event);

// A field that is "a string" or of the kind wanted.
static inline const mxp_json_field *mxp__field(const mxp_json_event *event, mxp_json_key key)
{
    return &event->fields[key];
}
bool mxp__field_is(const mxp_json_field *field, const char *text);

// Walks the first level of an object: calls `each` with every key and value. A value that is an
// array or object is given as its text. The text is changed while it is read.
typedef void mxp_json_each(void *to, const mxp_json_field *key, const mxp_json_field *value);
void mxp__json_members(mxp_strbuf *object, mxp_json_each *each, void *to);

#endif
