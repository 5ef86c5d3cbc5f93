// SPDX-License-Identifier: Apache-2.0
// Functions that are recorded by their addresses. The name of such a span has style
// MXP_STYLE_ADDRESS: its text is the address in the module's file, in hexadecimal digits ("1a40"),
// its category that of the module. Whoever reads the file finds the function's name in the module's
// file. An address in memory less `bias` is the address in the file.
#ifndef MXPROF_MODULE_H
#define MXPROF_MODULE_H

#include <stdint.h>

// Section MODULES of a native file is an array of these.
#define MXP_BUILD_ID_BYTES 32u
typedef struct mxp_module_entry {
    uint64_t bias;  // what the loader has added to the addresses of the file
    uint64_t begin, size_bytes;  // in memory
    uint64_t from_ticks;  // when it was first seen
    uint64_t to_ticks;  // when it was found to be gone, 0: it was not
    uint32_t name;  // name id: the category of its names of style ADDRESS
    uint32_t path;  // name id: where its file was
    uint32_t build_id_bytes;  // how many its file has, 0: none; the first ones are here
    uint32_t reserved;  // 0
    uint8_t build_id[MXP_BUILD_ID_BYTES];
} mxp_module_entry;

#ifdef __cplusplus
extern "C" {
#endif

// Tells of a module, a program or library. Every recording and every native file has the list, also
// that of a process which died. Copied; one of the same name and bias is replaced. from_ticks 0:
// now, or as before. MXP_EINVAL: null. MXP_ENOMEM: the table of modules is full. Any thread; in a
// signal handler it may be MXP_ENOMEM too.
int mxp_module(const mxp_module_entry *module);

#ifdef __cplusplus
}
#endif

#endif
