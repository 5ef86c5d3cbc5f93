// SPDX-License-Identifier: Apache-2.0
// Puts the names of functions into a trace that has their addresses.
#ifndef MXP_TOOLS_SYMBOLS_H
#define MXP_TOOLS_SYMBOLS_H

#include "profiler/trace/source.h"

typedef struct mxp_symbols {
    char **texts;  // of the names that were put into sources
    size_t count, capacity;
    uint64_t named, unnamed;  // functions
} mxp_symbols;

// Why the functions of a module have no names, in words, once for each such module.
typedef void (*mxp_symbols_told)(void *context, const char *path, const char *why);

// All names of style ADDRESS of all processes become names of style SPAN: the function's, in C++ as
// it is written there. Where none is found the style stays, so that it can be looked for again, and
// the text becomes module+0xaddress. Functions are looked up in the module's file if it is the one
// that was recorded, and in its debug file. MXP_ENOMEM.
int mxp__symbols_put(mxp_symbols *symbols, mxp_source *source, mxp_symbols_told told,
                     void *context);
void mxp__symbols_fini(mxp_symbols *symbols);  // after the source was closed

#endif
