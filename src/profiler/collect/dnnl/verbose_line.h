// SPDX-License-Identifier: Apache-2.0
// Folder profiler/collect/dnnl: oneDNN's verbose lines as spans.
//
// libmxprof_dnnl.so is a library of its own, because it takes the place of printf and so is loaded
// only when asked for.
//
// A line of oneDNN's verbose mode, of all its versions:
//
//   onednn_verbose[,v1][,<ms since the epoch>][,primitive],exec,<eight fields>,<ms>
//
// with dnnl_verbose or mkldnn_verbose in front in old ones, and create, create:cache_hit and so on
// for exec.
#ifndef MXP_COLLECT_DNNL_VERBOSE_LINE_H
#define MXP_COLLECT_DNNL_VERBOSE_LINE_H

#include <stdbool.h>
#include <stddef.h>

enum { MXP__VERBOSE_OTHER = 0, MXP__VERBOSE_INFO, MXP__VERBOSE_EXEC, MXP__VERBOSE_CREATE };

// Parts of a line, which point into it.
typedef struct mxp_verbose_line {
    int kind;  // MXP__VERBOSE_*; OTHER: what else the library says, errors for example
    bool is_late;  // of 3.6 and later ("v1")
    unsigned version;  // of an INFO line that tells it: 1000 * major + minor; else 0
    const char *primitive;  // its kind, as "convolution"
    size_t primitive_length;
    const char *problem;  // the eight fields, from the engine on
    size_t problem_length;
    double ms;
} mxp_verbose_line;

// Whether a text or a format begins as such lines do.
bool mxp__verbose_may_begin(const char *format);
// False: it is no such line. The line may end in a newline.
bool mxp__verbose_parse(const char *text, mxp_verbose_line *line);

#endif
