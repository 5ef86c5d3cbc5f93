// SPDX-License-Identifier: Apache-2.0
#include "profiler/session/run_folder.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/setting.h"
#include "profiler/session/output/output_name.h"

static const char variable[] = "MXPROF_RUN";
static char pattern[2 * PATH_MAX + 96];  // of the recording files; empty: there is no run
static mxp_config of_run;
static bool is_alone;  // MXPROF_RUN_PROCESS: the run is of this process only

// The pattern of the files of the process's `begin`th program: the first one's is "%n.%p.mxp".
static void put_pattern(const char *folder, unsigned begin)
{
    mxp_strbuf quoted = {0};
    mxp__output_quote(folder, &quoted);
    char number[16] = "";
    if (begin > 1) {
        snprintf(number, sizeof number, ".%u", begin);
    }
    // Of a process of a job "worker3.%h".
    const char *who = mxp__output_is_numbered() ? "{role}%r.%h" : "%n";
    const int length = snprintf(pattern, sizeof pattern, "%s/%s.%%p%s.mxp",
                                mxp__strbuf_text(&quoted), who, number);
    if (quoted.failed || length >= (int)sizeof pattern) {
        pattern[0] = '\0';
    }
    mxp__strbuf_fini(&quoted);
}

static bool is_taken(void)
{
    char *path = mxp__output_expanded(pattern);
    bool taken = path != NULL && access(path, F_OK) == 0;
    mxp__strfree(path);
    return taken;
}

// A process that replaces its program by exec keeps its number; its first program's file stays.
static void choose_pattern(const char *folder)
{
    enum { PROGRAMS_MAX = 100000 };
    unsigned begin = 1;
    do {
        put_pattern(folder, begin);
    } while (is_taken() && ++begin < PROGRAMS_MAX);
}

// Whether the run is of another process only. A child by exec has the variable too.
static bool is_of_another(void)
{
    uint64_t only;
    mxp__setting_read("MXPROF_RUN_PROCESS", 0, 0, UINT32_MAX, &only);
    is_alone = only != 0;
    return is_alone && only != (uint64_t)getpid();
}

void mxp__run_folder_init(mxp_config *config)
{
    const char *folder = mxp__setting_text(variable);
    if (folder == NULL || is_of_another()) {
        return;
    }
    if (folder[0] != '/' || strlen(folder) >= PATH_MAX) {
        fprintf(stderr, "mxprof: %s='%.80s' is ignored: give the whole path of a folder\n",
                variable, folder);
        return;
    }
    choose_pattern(folder);
    config->native_filename = pattern;
    config->store = MXP_STORE_FILE;
    config->statistics_only = 0;
    of_run = *config;
}

bool mxp__run_folder_is_set(void)
{
    return pattern[0] != '\0';
}

bool mxp__run_folder_is_alone(void)
{
    return mxp__run_folder_is_set() && is_alone;
}

void mxp__run_folder_keep(mxp_config *config)
{
    if (!mxp__run_folder_is_set()) {
        return;
    }
    config->native_filename = of_run.native_filename;
    config->store = of_run.store;
    config->statistics_only = of_run.statistics_only;
    config->full_policy = of_run.full_policy;
    config->memory_limit_bytes = of_run.memory_limit_bytes;
    config->names_limit = of_run.names_limit;
    config->info_command = of_run.info_command;
    config->classes |= of_run.classes;
    if (of_run.run_label[0] != '\0') {
        config->run_label = of_run.run_label;
    }
    if (of_run.run_commit[0] != '\0') {
        config->run_commit = of_run.run_commit;
    }
}
