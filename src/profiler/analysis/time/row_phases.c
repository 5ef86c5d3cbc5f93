// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/time/row_phases.h"

#include <mxprof/error.h>

#include "base/fail.h"

typedef struct row_phases {
    uint64_t key;  // scope and name
    uint32_t phases;  // 1 << phase
} row_phases;

static uint64_t key_of(const mxp_time_row *row)
{
    return ((uint64_t)row->scope << 32 | row->name) + 1;
}

int mxp__row_phases_make(const mxp_time_rows *rows, mxp_id_map *phases)
{
    *phases = (mxp_id_map){.entry_bytes = sizeof(row_phases)};
    for (size_t i = 0; i < rows->count; i++) {
        const mxp_time_row *row = &rows->rows[i];
        if (!row->is_operator || (row->count == 0 && row->path_ns == 0)) {
            continue;
        }
        row_phases *of = mxp__id_map_add(phases, key_of(row));
        if (of == NULL) {
            return mxp__fail_memory("the phases of operators");
        }
        of->phases |= 1u << row->phase;
    }
    return MXP_OK;
}

bool mxp__row_has_phases(const mxp_id_map *phases, const mxp_time_row *row)
{
    const row_phases *of = mxp__id_map_find(phases, key_of(row));
    return of != NULL && (of->phases & ~(1u << row->phase)) != 0;
}
