// SPDX-License-Identifier: Apache-2.0
// See output_name.h. What a pattern may ask for, but for the process's number, never changes: it is
// learnt once, so that names are the same after a chroot or a change of the machine's name.
#include "profiler/session/output/output_name.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/os.h"
#include "base/os/process.h"
#include "base/rank_variables.h"
#include "base/setting.h"

static struct {
    char program[256], host[256], start[32];
    char rank[16], role[32];  // in the job; a rank that is not known is empty
    bool is_numbered;
} known;

static const char role_word[] = "{role}";

static bool consists_of(const char *text, const char *characters)
{
    return text != NULL && text[0] != '\0' && text[strspn(text, characters)] == '\0';
}

// As the starters number their processes; MXPROF_RUN_RANK names another variable.
static void learn_rank(void)
{
    const char *const variables[] = {mxp__setting_text("MXPROF_RUN_RANK"), MXP__RANK_VARIABLES};
    known.rank[0] = '\0';
    known.is_numbered = false;
    for (size_t i = 0; i < sizeof variables / sizeof *variables && known.rank[0] == '\0'; i++) {
        const char *rank = variables[i] != NULL ? mxp__setting_text(variables[i]) : NULL;
        if (consists_of(rank, "0123456789") && strlen(rank) < sizeof known.rank) {
            snprintf(known.rank, sizeof known.rank, "%s", rank);
            known.is_numbered = i == 0;
        }
    }
    const char *role = mxp__setting_text("DMLC_ROLE");
    const bool is_role = consists_of(role, "abcdefghijklmnopqrstuvwxyz");
    snprintf(known.role, sizeof known.role, "%.31s", is_role ? role : "worker");
}

void mxp__output_names_init(void)
{
    uint64_t now_ns = mxp__os_boottime_ns(), start_ns = mxp__os_process_start_ns();
    uint64_t age_ns = start_ns != 0 && start_ns < now_ns ? now_ns - start_ns : 0;
    time_t start = (time_t)((mxp__os_realtime_ns() - age_ns) / 1000000000);
    struct tm utc = {0};
    gmtime_r(&start, &utc);
    strftime(known.start, sizeof known.start, "%Y%m%dT%H%M%SZ", &utc);
    mxp__os_program_name(known.program, sizeof known.program);
    mxp__os_host_name(known.host, sizeof known.host);
    learn_rank();
}

bool mxp__output_is_numbered(void)
{
    return known.is_numbered;
}

// ---- patterns -----------------------------------------------------------------------------------
static char *take_text(mxp_strbuf *text)
{
    char *copy = text->failed ? NULL : mxp__strdup(mxp__strbuf_text(text));
    mxp__strbuf_fini(text);
    return copy;
}

void mxp__output_quote(const char *text, mxp_strbuf *pattern)
{
    for (const char *c = text; *c != '\0'; c++) {
        const bool is_word = *c == '%' || strncmp(c, role_word, strlen(role_word)) == 0;
        mxp__strbuf_puts(pattern, is_word ? "%" : "");
        mxp__strbuf_putc(pattern, *c);
    }
}

char *mxp__output_absolute(const char *configured)
{
    char folder[PATH_MAX];
    if (configured == NULL || configured[0] == '\0' || configured[0] == '/' ||
        getcwd(folder, sizeof folder) == NULL || folder[0] != '/') {
        return mxp__strdup(configured);
    }
    mxp_strbuf pattern = {0};
    mxp__output_quote(folder, &pattern);
    mxp__strbuf_puts(&pattern, folder[1] != '\0' ? "/" : "");
    mxp__strbuf_puts(&pattern, configured);
    return take_text(&pattern);
}

// Where the ending of a name begins, at its end if it has none. What follows a dot is none if it is
// made later.
static const char *ending_of(const char *pattern)
{
    const char *file = strrchr(pattern, '/');
    const char *dot = strrchr(file != NULL ? file : pattern, '.');
    const bool is_made =
        dot != NULL && (strchr(dot, '%') != NULL || strstr(dot, role_word) != NULL);
    return dot != NULL && !is_made ? dot : pattern + strlen(pattern);
}

// "%p", but not the end of "%%p".
static bool has_process(const char *pattern)
{
    for (const char *c = pattern; *c != '\0'; c++) {
        if (c[0] == '%' && c[1] != '\0' && *++c == 'p') {
            return true;
        }
    }
    return false;
}

static void put_own(const char *pattern, bool inherited, mxp_strbuf *own)
{
    const char *ending = ending_of(pattern);
    mxp__strbuf_append(own, pattern, (size_t)(ending - pattern));
    mxp__strbuf_puts(own, inherited && !has_process(pattern) ? ".%p" : "");
    mxp__strbuf_puts(own, ending);
}

static void put_native(const mxp_session *session, mxp_strbuf *pattern)
{
    const char *native = session->config.native_filename;
    if (native != NULL) {
        mxp__strbuf_puts(pattern, native);
        return;
    }
    const char *trace = session->config.filename;
    mxp__strbuf_append(pattern, trace, (size_t)(ending_of(trace) - trace));
    mxp__strbuf_puts(pattern, ".mxp");
}

// ---- names --------------------------------------------------------------------------------------
// What %`letter` stands for, null for no letter of ours. A process without a rank has its number.
static const char *meaning(char letter, const char *process)
{
    switch (letter) {
    case 'p':
        return process;
    case 'r':
        return known.rank[0] != '\0' ? known.rank : process;
    case 't':
        return known.start;
    case 'n':
        return known.program;
    case 'h':
        return known.host;
    case '%':
        return "%";
    case '{':
        return "{";
    default:
        return NULL;
    }
}

// What stands at `at` for something else, and its length; null: it is what it is.
static const char *stands_for(const char *at, const char *process, size_t *length)
{
    if (strncmp(at, role_word, strlen(role_word)) == 0) {
        *length = strlen(role_word);
        return known.role;
    }
    *length = 2;
    return at[0] == '%' ? meaning(at[1], process) : NULL;
}

char mxp__output_unknown(const char *pattern)
{
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c == '%' && c[1] != '\0' && meaning(*++c, "") == NULL && isalpha((unsigned char)*c)) {
            return *c;
        }
    }
    return '\0';
}

static void expand(const char *pattern, mxp_strbuf *name)
{
    char process[16];
    size_t length;
    snprintf(process, sizeof process, "%u", (unsigned)mxp__os_process_id());
    for (const char *c = pattern; *c != '\0';) {
        const char *text = stands_for(c, process, &length);
        if (text == NULL) {
            mxp__strbuf_putc(name, *c++);
        } else {
            mxp__strbuf_puts(name, text);
            c += length;
        }
    }
}

static void expand_own(const mxp_session *session, const char *pattern, mxp_strbuf *name)
{
    mxp_strbuf own = {0};
    put_own(pattern, session->inherited, &own);
    expand(mxp__strbuf_text(&own), name);
    name->failed = name->failed || own.failed;
    mxp__strbuf_fini(&own);
}

char *mxp__output_expanded(const char *pattern)
{
    mxp_strbuf name = {0};
    if (pattern == NULL) {
        return NULL;
    }
    expand(pattern, &name);
    return take_text(&name);
}

void mxp__chrome_name(const mxp_session *session, mxp_strbuf *name)
{
    expand_own(session, session->config.filename, name);
}

void mxp__native_name(const mxp_session *session, mxp_strbuf *name)
{
    mxp_strbuf pattern = {0};
    put_native(session, &pattern);
    expand_own(session, mxp__strbuf_text(&pattern), name);
    name->failed = name->failed || pattern.failed;
    mxp__strbuf_fini(&pattern);
}

char *mxp__snapshot_name(const mxp_session *session, mxp_strbuf *stem)
{
    mxp_strbuf pattern = {0};
    const char *configured = session->config.snapshot_filename;
    const char *ending = ending_of(configured);
    mxp__strbuf_append(&pattern, configured, (size_t)(ending - configured));
    mxp__strbuf_puts(&pattern, has_process(configured) ? "" : ".%p");
    expand(mxp__strbuf_text(&pattern), stem);
    stem->failed = stem->failed || pattern.failed;
    mxp__strbuf_fini(&pattern);
    return mxp__strdup(ending);
}

// ---- obstacles ----------------------------------------------------------------------------------
const char *mxp__output_obstacle(const char *path)
{
    char folder[PATH_MAX];
    struct stat status;
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash - path >= PATH_MAX) {
        return NULL;
    }
    if (slash[1] == '\0' || (stat(path, &status) == 0 && S_ISDIR(status.st_mode))) {
        return "it is a directory; give a file name";
    }
    snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
    if (stat(folder, &status) != 0) {
        return "there is no such folder";
    }
    return access(folder, W_OK | X_OK) == 0 ? NULL : "its folder may not be written to";
}

// ---- children -----------------------------------------------------------------------------------
// What fnmatch takes for a child's name if its number is `process`: a child may be another program,
// and begin later.
static void put_glob(const char *pattern, const char *process, mxp_strbuf *glob)
{
    size_t length;
    for (const char *c = pattern; *c != '\0'; c += length) {
        const char *text = stands_for(c, process, &length);
        length = text != NULL ? length : 1;
        if (text == known.start || text == known.program) {
            mxp__strbuf_putc(glob, '*');
            continue;
        }
        char itself[2] = {*c, '\0'};
        for (text = text != NULL ? text : itself; *text != '\0'; text++) {
            mxp__strbuf_puts(glob, strchr("*?[\\", *text) != NULL ? "\\" : "");
            mxp__strbuf_putc(glob, *text);
        }
    }
}

static bool is_called(const char *pattern, const char *file, const char *process)
{
    mxp_strbuf glob = {0};
    put_glob(pattern, process, &glob);
    bool called = !glob.failed && fnmatch(mxp__strbuf_text(&glob), file, 0) == 0;
    mxp__strbuf_fini(&glob);
    return called;
}

// Every number in the name may be the process's.
static unsigned long process_in(const char *pattern, const char *file)
{
    static const char digits[] = "0123456789";
    for (const char *at = file; *(at += strcspn(at, digits)) != '\0';) {
        size_t length = strspn(at, digits);
        char process[16];
        snprintf(process, sizeof process, "%.*s", (int)length, at);
        unsigned long pid = strtoul(process, NULL, 10);
        bool possible = *at != '0' && length <= 10 && pid <= UINT32_MAX;
        if (possible && is_called(pattern, file, process)) {
            return pid;
        }
        at += length;
    }
    return 0;
}

void mxp__child_pattern(const mxp_session *session, mxp_strbuf *pattern)
{
    mxp_strbuf native = {0};
    put_native(session, &native);
    const char *text = mxp__strbuf_text(&native), *slash = strrchr(text, '/');
    put_own(slash != NULL ? slash + 1 : text, true, pattern);
    pattern->failed = pattern->failed || native.failed;
    mxp__strbuf_fini(&native);
}

unsigned long mxp__output_child(const char *pattern, const char *file)
{
    unsigned long pid = process_in(pattern, file);
    return pid != mxp__os_process_id() ? pid : 0;
}
