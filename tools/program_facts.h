// SPDX-License-Identifier: Apache-2.0
// What the file of a program shows before it runs: which doors into it there can be, and what of
// its libraries could tell more.
#ifndef MXP_TOOLS_PROGRAM_FACTS_H
#define MXP_TOOLS_PROGRAM_FACTS_H

#include <limits.h>
#include <stdbool.h>

typedef struct mxp_program_facts {
    char path[PATH_MAX];  // of the program or, of a script, of what runs it; "": not found
    bool is_elf;
    bool is_script;  // run by what the other members are about
    bool is_foreign;  // of another word size or processor than this command
    bool has_other_loader;  // of another C library than this command's
    bool is_static;  // no loader runs for it, so nothing can be preloaded
    bool has_more_rights;  // set-user-id, set-group-id or file capabilities
    bool uses_gcc_openmp, uses_llvm_openmp, uses_torch, uses_dnnl, uses_tbb;  // as it is linked
    bool calls_hooks;  // of -finstrument-functions
    bool is_python;  // has Python's interpreter inside, or linked
    bool has_audit_hooks;  // of Python: the way in is there
} mxp_program_facts;

// Looks at the program as it would be run: by its path, or found in PATH. What cannot be read is
// left false.
void mxp__program_facts(const char *program, mxp_program_facts *facts);

#endif
