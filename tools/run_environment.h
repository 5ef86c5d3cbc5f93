// SPDX-License-Identifier: Apache-2.0
// By what variables a run's processes learn of it: MXPROF_RUN (profiler/session/run_folder.h), and
// those by which libraries find who takes their marks. Children inherit them.
#ifndef MXP_TOOLS_RUN_ENVIRONMENT_H
#define MXP_TOOLS_RUN_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

enum {
    MXP_MARKS_ITT = 1,
    MXP_MARKS_NVTX = 2,
    MXP_MARKS_OMPT = 4,
    MXP_MARKS_TORCH = 8,
    MXP_MARKS_FUNCTIONS = 16,
    MXP_MARKS_ALL = 31
};

// Words with commas between them: of these, or all but those behind a "-", or "all" or "none".
// False: a word is unknown, or the two ways are mixed.
bool mxp__run_marks(const char *list, unsigned *marks);

// Whole path of LLVM's OpenMP runtime. False: it is not on this machine.
bool mxp__run_find_openmp(char *path, size_t size);

typedef struct mxp_run_settings {
    const char *folder;  // whole path
    const char *ring, *limit;  // sizes, or null
    const char *depth, *min_us;  // of functions, numbers, or null
    const char *names;  // most names, or null
    const char *label, *commit;  // what the run is called, or null
    const char *sync;  // what of waits and locks: all, waits, none; or null
    const char *openmp;  // path of a runtime that is preloaded, or null
    const char *python;  // its functions: functions, or c for those in C as well; or null
    bool has_dnnl;  // oneDNN's verbose lines are taken
    bool has_memory;  // events of allocators that marks carry
    unsigned marks;
    bool preloads, quiet;
} mxp_run_settings;

// Sets the variables of this process. One that the user has set to another tool stays the user's,
// which is said unless `quiet`; lists get the collector as well.
void mxp__run_environment(const mxp_run_settings *settings);

#endif
