// SPDX-License-Identifier: Apache-2.0
// The names of one process of an imported trace, as a native file has them.
#ifndef MXP_TOOLS_IMPORT_NAMES_H
#define MXP_TOOLS_IMPORT_NAMES_H

#include "base/id_map.h"
#include "base/strbuf.h"
#include "profiler/trace/source.h"

enum { MXP__IMPORT_NAMES_MAX = 1 << 20 };  // of all processes; further ones are <names full>

typedef struct mxp_import_name {
    size_t at;  // in `texts`
    uint32_t length, category;
    uint8_t style, unit;
} mxp_import_name;

typedef struct mxp_import_names {
    mxp_id_map ids;  // hash of text, category, style and unit to id
    mxp_import_name *names;
    size_t count, capacity;
    mxp_strbuf texts;
    uint64_t full;  // how often there was no room
    size_t *total;  // how many names all processes have
} mxp_import_names;

// `total` counts the names of all processes, and outlives them. MXP_ENOMEM.
int mxp__import_names_init(mxp_import_names *names, size_t *total);
void mxp__import_names_fini(mxp_import_names *names);
// *id: that of the name, which is made if there is none yet. MXP_ENOMEM.
int mxp__import_name(mxp_import_names *names, const char *text, size_t length, uint32_t category,
                     uint8_t style, uint8_t unit, uint32_t *id);
mxp_name_view mxp__import_name_view(const mxp_import_names *names, uint32_t id);

#endif
