// SPDX-License-Identifier: Apache-2.0
// The library's only constructor and destructor. At the process's begin the environment may ask for
// a profile of the whole program. At its end a profile that is still running is written. The
// destructor runs after the program's own atexit handlers, so it sees what they record.
#include <mxprof/gate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/setting.h"
#include "profiler/emit/emit.h"
#include "profiler/recorder/recorder.h"
#include "profiler/session/config/config.h"
#include "profiler/session/root.h"
#include "profiler/session/run_folder.h"
#include "profiler/session/session.h"

enum { MODE_ALL = MXP_CLASS_SYMBOLIC | MXP_CLASS_IMPERATIVE | MXP_CLASS_API | MXP_CLASS_MEMORY };

static bool is_on(const char *variable)
{
    const char *text = mxp__setting_text(variable);
    if (text == NULL || strcmp(text, "0") == 0 || strcasecmp(text, "false") == 0) {
        return false;
    }
    if (strcmp(text, "1") == 0 || strcasecmp(text, "true") == 0) {
        return true;
    }
    fprintf(stderr, "mxprof: %s='%.40s' is ignored: set it to 0, 1, true or false\n", variable,
            text);
    return false;
}

// ---- classes ------------------------------------------------------------------------------------
// MXNet's form, a sum of 1, 2, 4 and 8. -1: it is no such sum.
static long read_sum(const char *text)
{
    char *end;
    long sum = strtol(text, &end, 10);
    return end != text && *end == '\0' && sum >= 0 && sum <= MODE_ALL ? sum : -1;
}

// Our form, words with commas between them. -1: one of the words is unknown.
static long read_words(const char *text)
{
    static const struct {
        const char *word;
        long classes;
    } words[] = {{"symbolic", MXP_CLASS_SYMBOLIC},
                 {"imperative", MXP_CLASS_IMPERATIVE},
                 {"api", MXP_CLASS_API},
                 {"memory", MXP_CLASS_MEMORY},
                 {"all", MODE_ALL},
                 {"user", 0}};
    enum { WORDS = sizeof words / sizeof words[0] };
    long classes = 0;
    for (;;) {
        size_t length = strcspn(text, ","), i = 0;
        while (i < WORDS &&
               (strlen(words[i].word) != length || strncasecmp(words[i].word, text, length) != 0)) {
            i++;
        }
        if (i == WORDS) {
            return -1;
        }
        classes |= words[i].classes;
        if (text[length] == '\0') {
            return classes;
        }
        text += length + 1;
    }
}

uint32_t mxp__autostart_classes(void)
{
    const char *words = mxp__setting_text("MXPROF_CLASSES");
    const char *sum = mxp__setting_text("MXNET_PROFILER_MODE");
    long classes = words != NULL ? read_words(words) : -1;
    if (words != NULL && classes < 0) {
        fprintf(stderr,
                "mxprof: MXPROF_CLASSES='%.80s' is ignored: give symbolic, imperative, api, "
                "memory, user, all, with commas\n",
                words);
    }
    if (classes < 0 && sum != NULL && (classes = read_sum(sum)) < 0) {
        fprintf(stderr,
                "mxprof: MXNET_PROFILER_MODE='%.40s' is ignored: set it to a sum of 1 "
                "(symbolic), 2 (imperative), 4 (API) and 8 (memory)\n",
                sum);
    }
    return (uint32_t)(classes < 0 ? MODE_ALL : classes) | MXP_CLASS_USER;
}

// ---- variables that nobody reads ----------------------------------------------------------------
static const char *const variables[] = {
#define KEY(name, type, fallback, words, environment, help) environment,
#include "profiler/session/config/config_keys.def"
#undef KEY
    "MXPROF_AUTOSTART",
    "MXPROF_CLASSES",
    "MXPROF_CLOCK",
    "MXPROF_COLLECT_MEMORY",
    "MXPROF_COLLECT_SYNC",
    "MXPROF_DISTRIBUTED_DETAIL",
    "MXPROF_DISTRIBUTED_RANKS",
    "MXPROF_EXPORT_THREADS",
    "MXPROF_FUNCTIONS_DEPTH",
    "MXPROF_FUNCTIONS_MIN_US",
    "MXPROF_MARKS",
    "MXPROF_ROOT_PID",
    "MXPROF_RUN",
    "MXPROF_RUN_PROCESS",
    "MXNET_PROFILER_MODE",
    "MXNET_PROFILER_AUTOSTART",
    NULL};

// The length of the prefix that marks a variable as ours; 0: it has none.
static size_t prefix_of(const char *variable)
{
    static const char *const prefixes[] = {"MXPROF_", "MXNET_PROFILER_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0) {
            return strlen(prefixes[i]);
        }
    }
    return 0;
}

// The known variable closest to `name`. Only the parts after the prefix are compared, because with
// the common prefix every name would be close to every other.
static const char *closest_to(const char *name, size_t prefix)
{
    const char *rests[sizeof variables / sizeof variables[0]];
    size_t count = 0;
    for (size_t i = 0; variables[i] != NULL; i++) {
        if (strncmp(variables[i], name, prefix) == 0) {
            rests[count++] = variables[i] + prefix;
        }
    }
    rests[count] = NULL;
    const char *closest = mxp__closest(name + prefix, rests);
    return closest != NULL ? closest - prefix : NULL;
}

static bool is_known(const char *name)
{
    size_t i = 0;
    while (variables[i] != NULL && strcmp(variables[i], name) != 0) {
        i++;
    }
    return variables[i] != NULL;
}

// Warns about variables with our prefix that nobody reads, because a misspelt name has no effect
// and nothing else says so. `all`: the process is profiled from its begin, so all such names are
// meant for us. Otherwise only names close to a known one are reported; others may belong to
// another tool.
static void tell_unknown_variables(bool all)
{
    for (char **each = environ; each != NULL && *each != NULL; each++) {
        char name[64];
        size_t length = strcspn(*each, "=");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name),
                 *each);
        const size_t prefix = prefix_of(name);
        if (prefix == 0 || is_known(name)) {
            continue;
        }
        const char *closest = closest_to(name, prefix);
        if (closest == NULL && !all) {
            continue;
        }
        fprintf(stderr, "mxprof: the variable %s is not known%s%s%s\n", name,
                closest != NULL ? "; did you mean " : "", closest != NULL ? closest : "",
                closest != NULL ? "?" : "");
    }
}

void mxp__autostart_link(void)
{
}

// A recording file begins with the first record, because most processes that inherit the variable,
// shells and compilers, have none: those leave no file and wait for no clock.
static int begin_session(mxp_session *session)
{
    int decided = mxp__send_decide((int)session->config.emit);
    if (decided != MXP_OK) {
        return decided;
    }
    mxp__lock(&session->lock);
    const bool plans = mxp__session_wants_file(session) &&
                       !(session->wants_trace && session->config.continuous_dump != 0);
    int error = plans ? mxp__session_plan_locked(session) : mxp__session_run_locked(session);
    if (plans) {
        mxp__thread_at_first(mxp__background_start);
    }
    mxp__unlock(&session->lock);
    if (error == MXP_OK) {
        mxp__send_recording(true);
    }
    return error;
}

// Whether the environment asks for a profile from the process's begin. The variables are read
// before the session is created, so that a process that nobody profiles does nothing here.
static bool is_asked_for(mxp_session **session)
{
    const bool alone = is_on("MXPROF_AUTOSTART") || is_on("MXNET_PROFILER_AUTOSTART");
    const bool asked = alone || mxp__setting_text("MXPROF_RUN") != NULL;
    tell_unknown_variables(alone);
    *session = asked ? mxp_session_get() : NULL;
    return alone || mxp__run_folder_is_set();
}

__attribute__((constructor)) static void begin_process(void)
{
    mxp_session *session;
    mxp__fork_install();
    if (!is_asked_for(&session)) {
        return;
    }
    if (!mxp__run_folder_is_set()) {
        mxp_config config;
        mxp_config_init(&config);
        mxp__config_warn_of_outputs(&config);
        if (mxp__root_has_copy()) {
            fprintf(stderr, "mxprof: this process has the library twice: link program and plugins "
                            "with libmxprof.so\n");
        }
        mxp__root_leave();
    }
    if (begin_session(session) != MXP_OK) {
        fprintf(stderr, "mxprof: %s%s\n",
                session->running ? "" : "recording could not begin with the process: ",
                mxp_last_error());
    }
}

__attribute__((destructor)) static void end_process(void)
{
    mxp__session_finish();
}
