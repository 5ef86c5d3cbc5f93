// SPDX-License-Identifier: Apache-2.0
// The exporters that only the command has, because libmxprof stays small.
#ifndef MXP_TOOLS_COMMAND_EXPORTERS_H
#define MXP_TOOLS_COMMAND_EXPORTERS_H

#include "profiler/export/export.h"

#define X(name) extern const mxp_exporter *const mxp__exporter_##name;
#include "export/exporters.def"
#undef X

// How many there are.
enum {
#define X(name) MXP__COMMAND_EXPORTER_##name,
#include "export/exporters.def"
#undef X
    MXP__COMMAND_EXPORTERS
};

#endif
