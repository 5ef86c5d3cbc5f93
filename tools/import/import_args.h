// SPDX-License-Identifier: Apache-2.0
// Arguments of an imported span, from JSON to the words of a long span's record.
#ifndef MXP_TOOLS_IMPORT_ARGS_H
#define MXP_TOOLS_IMPORT_ARGS_H

#include "import/import_names.h"
#include "import/json_event.h"

enum { MXP__IMPORT_ARGS_WORDS = 2 * (255 - 3) };

typedef struct mxp_import_args {
    mxp_import_names *names;
    uint32_t count, text_words;
    bool cut;  // more than a record has room for
    int error;
    uint64_t pairs[2 * MXP_SPAN_ARGS_MAX];  // of texts the value is their place in `texts`
    uint64_t texts[MXP__IMPORT_ARGS_WORDS];
} mxp_import_args;

void mxp__import_args_begin(mxp_import_args *args, mxp_import_names *names);
// Adds the members of an object; a key that is there already gets the new value. Arrays and objects
// become texts, as they are written. MXP_ENOMEM.
int mxp__import_args_add(mxp_import_args *args, mxp_strbuf *object);
uint32_t mxp__import_args_units(const mxp_import_args *args);
// Writes them behind the six words of a long span.
void mxp__import_args_put(const mxp_import_args *args, uint64_t *words);

#endif
