// SPDX-License-Identifier: Apache-2.0
// See run_job.h.
#include "run_job.h"

#include <fcntl.h>
#include <limits.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/rank_variables.h"
#include "profiler/trace/checksum.h"

extern char **environ;

static const char memory_for[] = "a starter's line";
static const char job_variable[] = "MXPROF_RUN_JOB", rank_variable[] = "MXPROF_RUN_RANK";

// ---- starters ----------------------------------------------------------------------------------
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

// The file that a name leads to, by PATH; "" if there is none.
static void find_program(const char *program, char *found)
{
    char candidate[PATH_MAX];
    found[0] = '\0';
    if (strchr(program, '/') != NULL) {
        if (realpath(program, found) == NULL) {
            found[0] = '\0';
        }
        return;
    }
    const char *paths = getenv("PATH");
    for (const char *at = paths != NULL ? paths : ""; *at != '\0' && found[0] == '\0';) {
        const size_t length = strcspn(at, ":");
        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, at, program);
        if (access(candidate, X_OK) != 0 || realpath(candidate, found) == NULL) {
            found[0] = '\0';
        }
        at += length + (at[length] == ':');
    }
}

mxp_starter mxp__starter_of(const char *program)
{
    char found[PATH_MAX];
    const char *name = last_part(program);
    if (strcmp(name, "srun") == 0) {
        return MXP_STARTER_SRUN;
    }
    if (strcmp(name, "mxnet-launch") == 0) {
        return MXP_STARTER_LAUNCH;
    }
    if (strncmp(name, "mpirun", strlen("mpirun")) != 0 &&
        strncmp(name, "mpiexec", strlen("mpiexec")) != 0 && strcmp(name, "orterun") != 0) {
        return MXP_STARTER_NONE;
    }
    find_program(program, found);
    return strstr(last_part(found), "hydra") != NULL || strstr(found, "mpich") != NULL
               ? MXP_STARTER_HYDRA
               : MXP_STARTER_MPIRUN;
}

// ---- variables ---------------------------------------------------------------------------------
int mxp__variables_keep(mxp_variables *kept)
{
    *kept = (mxp_variables){0};
    for (char **each = environ; *each != NULL; each++) {
        char *copy = mxp__strdup(*each);
        if (copy == NULL ||
            mxp__grow(&kept->all, &kept->capacity, kept->count + 1, sizeof(char *)) != MXP_OK) {
            mxp__strfree(copy);
            return mxp__fail_memory(memory_for);
        }
        kept->all[kept->count++] = copy;
    }
    return MXP_OK;
}

void mxp__variables_free(mxp_variables *kept)
{
    for (size_t i = 0; i < kept->count; i++) {
        mxp__strfree(kept->all[i]);
    }
    mxp__free(kept->all, kept->capacity * sizeof(char *));
    *kept = (mxp_variables){0};
}

static const char *kept_of(const mxp_variables *kept, const char *variable)
{
    const size_t length = strcspn(variable, "=") + 1;
    for (size_t i = 0; i < kept->count; i++) {
        if (strncmp(kept->all[i], variable, length) == 0) {
            return kept->all[i];
        }
    }
    return NULL;
}

static bool is_preload(const char *variable)
{
    return strncmp(variable, "LD_PRELOAD=", strlen("LD_PRELOAD=")) == 0;
}

// ---- jobs --------------------------------------------------------------------------------------
static void set_job(uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)(number | 1));
    setenv(job_variable, text, 0);
}

void mxp__job_begin(mxp_starter starter)
{
    uint64_t number = 0;
    setenv(rank_variable,
           starter == MXP_STARTER_HYDRA  ? "PMI_RANK"
           : starter == MXP_STARTER_SRUN ? "SLURM_PROCID"
                                         : "OMPI_COMM_WORLD_RANK",
           1);
    const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, &number, sizeof number) != sizeof number) {
        number = mxp__os_realtime_ns() ^ (uint64_t)getpid() << 40;
    }
    if (file >= 0) {
        close(file);
    }
    set_job(number);
}

// The variable that numbers this process, null: no starter has started it.
static const char *rank_name(void)
{
    static const char *const names[] = {MXP__RANK_VARIABLES};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (getenv(names[i]) != NULL) {
            return names[i];
        }
    }
    return NULL;
}

bool mxp__job_join(void)
{
    static const char *const names[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_JOB_ID",
                                        "SLURM_STEP_ID"};
    char text[512];
    size_t length = 0;
    if (rank_name() == NULL) {
        return false;
    }
    setenv(rank_variable, rank_name(), 1);
    if (getenv(job_variable) != NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0] && length < sizeof text; i++) {
        const char *value = getenv(names[i]);
        const int added = snprintf(text + length, sizeof text - length, "%s;", value ? value : "");
        length += added > 0 ? (size_t)added : 0;
    }
    length = length < sizeof text ? length : sizeof text - 1;
    set_job(mxp__checksum(text, length));
    return true;
}

bool mxp__job_is_first(void)
{
    return rank_name() != NULL && strcmp(getenv(rank_name()), "0") == 0;
}

// ---- the starter's line ------------------------------------------------------------------------
static int add_word(mxp_starter_line *line, const char *word)
{
    if (mxp__grow(&line->arguments, &line->capacity, line->count + 2, sizeof(char *)) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    line->arguments[line->count++] = (char *)(uintptr_t)word;
    line->arguments[line->count] = NULL;
    return MXP_OK;
}

static int add_text(mxp_starter_line *line, const mxp_strbuf *text)
{
    char *copy = text->failed ? NULL : mxp__strdup(mxp__strbuf_text(text));
    if (copy == NULL || mxp__grow(&line->texts, &line->text_capacity, line->text_count + 1,
                                  sizeof(char *)) != MXP_OK) {
        mxp__strfree(copy);
        return mxp__fail_memory(memory_for);
    }
    line->texts[line->text_count++] = copy;
    return add_word(line, copy);
}

// By its name, which the starter looks up; LD_PRELOAD with its value, which the starter must not
// have.
static int hand_on(mxp_starter starter, const char *variable, mxp_starter_line *line)
{
    const int name = (int)strcspn(variable, "=");
    const char *value = variable[name] == '=' ? variable + name + 1 : "";
    mxp_strbuf text = {0};
    int error;
    if (starter == MXP_STARTER_HYDRA) {
        mxp__strbuf_printf(&text, "%.*s", name, variable);
        error = add_word(line, "-genv");
        error = error == MXP_OK ? add_text(line, &text) : error;
        mxp__strbuf_clear(&text);
        mxp__strbuf_puts(&text, value);
    } else {
        error = add_word(line, starter == MXP_STARTER_LAUNCH ? "--env" : "-x");
        mxp__strbuf_printf(&text, "%.*s", is_preload(variable) ? (int)strlen(variable) : name,
                           variable);
    }
    error = error == MXP_OK ? add_text(line, &text) : error;
    mxp__strbuf_fini(&text);
    return error;
}

static int hand_on_by_slurm(const char *preload, mxp_starter_line *line)
{
    mxp_strbuf text = {0};
    mxp__strbuf_puts(&text, "--export=ALL");
    if (preload != NULL) {
        mxp__strbuf_printf(&text, ",%s", preload);
    }
    int error = add_text(line, &text);
    mxp__strbuf_fini(&text);
    return error;
}

static int hand_on_all(mxp_starter starter, const mxp_variables *kept, mxp_starter_line *line)
{
    const char *preload = NULL;
    int error = MXP_OK;
    for (char **each = environ; *each != NULL && error == MXP_OK; each++) {
        const char *before = kept_of(kept, *each);
        if (before != NULL && strcmp(before, *each) == 0) {
            continue;
        }
        preload = is_preload(*each) ? *each : preload;
        error = starter != MXP_STARTER_SRUN ? hand_on(starter, *each, line) : MXP_OK;
    }
    return error == MXP_OK && starter == MXP_STARTER_SRUN ? hand_on_by_slurm(preload, line) : error;
}

static void put_preload_back(const mxp_variables *kept)
{
    const char *before = kept_of(kept, "LD_PRELOAD=");
    if (before != NULL) {
        setenv("LD_PRELOAD", before + strlen("LD_PRELOAD="), 1);
    } else {
        unsetenv("LD_PRELOAD");
    }
}

int mxp__starter_line(mxp_starter starter, char *const *arguments, const mxp_variables *kept,
                      mxp_starter_line *line)
{
    *line = (mxp_starter_line){0};
    int error = add_word(line, arguments[0]);
    error = error == MXP_OK ? hand_on_all(starter, kept, line) : error;
    for (size_t i = 1; error == MXP_OK && arguments[i] != NULL; i++) {
        error = add_word(line, arguments[i]);
    }
    put_preload_back(kept);
    return error;
}

void mxp__starter_line_free(mxp_starter_line *line)
{
    for (size_t i = 0; i < line->text_count; i++) {
        mxp__strfree(line->texts[i]);
    }
    mxp__free(line->texts, line->text_capacity * sizeof(char *));
    mxp__free(line->arguments, line->capacity * sizeof(char *));
    *line = (mxp_starter_line){0};
}
