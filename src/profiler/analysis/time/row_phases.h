// SPDX-License-Identifier: Apache-2.0
// Which operators ran in several phases under one name in one scope: what shows them says the
// phase, too.
#ifndef MXP_ANALYSIS_ROW_PHASES_H
#define MXP_ANALYSIS_ROW_PHASES_H

#include "profiler/analysis/time/time_rows.h"

// Of the rows as they are now. Finished by mxp__id_map_fini in both cases. MXP_ENOMEM.
int mxp__row_phases_make(const mxp_time_rows *rows, mxp_id_map *phases);
// Whether there is a row of this one's name and scope of another phase.
bool mxp__row_has_phases(const mxp_id_map *phases, const mxp_time_row *row);

#endif
