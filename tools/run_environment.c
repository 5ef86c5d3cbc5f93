// SPDX-License-Identifier: Apache-2.0
#include "run_environment.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"

// Our libraries lie beside the command where it was built, and where libraries are installed.
static bool find_library(const char *name, char *path, size_t size)
{
    static const char *const places[] = {"", "../lib/", "../lib64/",
                                         MXP_LIBRARIES_FROM_COMMAND "/"};
    char folder[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0) {
        return false;
    }
    folder[length] = '\0';
    *(strrchr(folder, '/') + 1) = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, size, "%s%s%s", folder, places[i], name);
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

// A variable that the user has set to another tool stays the user's.
static void open_door(const char *variable, const char *library, bool quiet)
{
    const char *taken = getenv(variable);
    if (taken == NULL || taken[0] == '\0') {
        setenv(variable, library, 1);
    } else if (!quiet && strcmp(taken, library) != 0) {
        fprintf(stderr, "mxprof: %s stays '%s': its marks are not recorded\n", variable, taken);
    }
}

// A list of libraries: ours comes behind the user's, or before.
static void add_library(const char *variable, const char *library, bool first)
{
    const char *others = getenv(variable);
    const bool is_alone = others == NULL || others[0] == '\0';
    mxp_strbuf list = {0};
    mxp__strbuf_puts(&list, is_alone || first ? library : others);
    mxp__strbuf_puts(&list, is_alone ? "" : ":");
    mxp__strbuf_puts(&list, is_alone ? "" : first ? others : library);
    if (!list.failed) {
        setenv(variable, mxp__strbuf_text(&list), 1);
    }
    mxp__strbuf_fini(&list);
}

// The way to a file from the root, for glibc's loader alone: it puts its folder of libraries in
// place of $LIB. A loader of another C library finds no such file and goes on without, where a
// library of glibc's would end its program before main, whoever starts that.
static const char by_token[] = "/usr/$LIB/../../../../../../../..";

// Whether the loader of this command has a library of its own there.
static bool has_token(void)
{
    const struct link_map *map;
    char path[2 * PATH_MAX];
    bool has = false;
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] == '/') {
        snprintf(path, sizeof path, "%s%s", by_token, map->l_name);
        void *same = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
        has = same == library;
        if (same != NULL) {
            dlclose(same);
        }
    }
    if (library != NULL) {
        dlclose(library);
    }
    return has;
}

// The loader divides its list at blanks and colons, and knows no quotes.
static void preload(const char *library, bool quiet)
{
    char path[3 * PATH_MAX];
    if (strpbrk(library, " :\t\n") == NULL) {
        snprintf(path, sizeof path, "%s%s", has_token() ? by_token : "", library);
        add_library("LD_PRELOAD", path, true);
    } else if (!quiet) {
        fprintf(stderr,
                "mxprof: '%s' is not loaded into the program, because LD_PRELOAD can hold neither "
                "blanks nor colons: install mxprof into a folder without them\n",
                library);
    }
}

// Null-terminated words in the order of the bits.
static const char *const mark_words[] = {"itt", "nvtx", "ompt", "torch", "functions"};
enum { MARK_WORDS = sizeof mark_words / sizeof mark_words[0] };

// The bits of the word at `text`, which has `length` characters; 0: it is unknown.
static unsigned marks_of(const char *text, size_t length)
{
    if (length == strlen("all") && strncmp(text, "all", length) == 0) {
        return MXP_MARKS_ALL;
    }
    for (unsigned i = 0; i < MARK_WORDS; i++) {
        if (strlen(mark_words[i]) == length && strncmp(text, mark_words[i], length) == 0) {
            return 1u << i;
        }
    }
    return 0;
}

bool mxp__run_marks(const char *list, unsigned *marks)
{
    unsigned with = 0, without = 0;
    if (strcmp(list, "none") == 0) {
        *marks = 0;
        return true;
    }
    for (const char *at = list;; at++) {
        const bool leaves_out = *at == '-';
        at += leaves_out;
        const size_t length = strcspn(at, ",");
        const unsigned bits = marks_of(at, length);
        if (bits == 0) {
            return false;
        }
        *(leaves_out ? &without : &with) |= bits;
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    *marks = without != 0 ? MXP_MARKS_ALL & ~without : with;
    return with == 0 || without == 0;
}

// The loader knows where it is; Debian's also lies in a folder of its version, which it is not
// told.
bool mxp__run_find_openmp(char *path, size_t size)
{
    static const char soname[] = "libomp.so.5";
    bool found = false;
    struct link_map *map;
    void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
    if (library != NULL) {
        found = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 &&
                snprintf(path, size, "%s", map->l_name) < (int)size;
        dlclose(library);
    }
    glob_t places = {0};
    if (!found && glob("/usr/lib/llvm-*/lib/libomp.so.5", 0, NULL, &places) == 0) {
        found = snprintf(path, size, "%s", places.gl_pathv[places.gl_pathc - 1]) < (int)size;
    }
    globfree(&places);
    return found;
}

static void set_where_given(const char *variable, const char *value)
{
    if (value != NULL) {
        setenv(variable, value, 1);
    }
}

static void open_doors(const mxp_run_settings *settings, const char *collector)
{
    if ((settings->marks & (MXP_MARKS_ITT | MXP_MARKS_TORCH)) != 0) {
        open_door("INTEL_LIBITTNOTIFY64", collector, settings->quiet);
    }
    if ((settings->marks & MXP_MARKS_NVTX) != 0) {
        open_door("NVTX_INJECTION64_PATH", collector, settings->quiet);
    }
    if ((settings->marks & MXP_MARKS_OMPT) != 0) {
        add_library("OMP_TOOL_LIBRARIES", collector, false);
    }
    set_where_given("MXPROF_PYTHON", settings->python);
    if (((settings->marks & (MXP_MARKS_TORCH | MXP_MARKS_FUNCTIONS)) != 0 ||
         settings->python != NULL) &&
        settings->preloads) {
        preload(collector, settings->quiet);
    }
}

// To the collector, which is loaded for all marks, those that are wanted.
static void tell_marks(unsigned marks)
{
    mxp_strbuf list = {0};
    for (unsigned i = 0; i < MARK_WORDS; i++) {
        if ((marks & 1u << i) != 0) {
            mxp__strbuf_printf(&list, "%s%s", list.length != 0 ? "," : "", mark_words[i]);
        }
    }
    if (marks != MXP_MARKS_ALL && !list.failed) {
        setenv("MXPROF_MARKS", list.length != 0 ? mxp__strbuf_text(&list) : "none", 1);
    }
    mxp__strbuf_fini(&list);
}

// oneDNN prints what it does where one of these is set; a user who has set one wants to see it.
static void open_dnnl(bool quiet)
{
    static const char *const variables[] = {"ONEDNN_VERBOSE", "DNNL_VERBOSE", "MKLDNN_VERBOSE"};
    char library[2 * PATH_MAX];
    if (!find_library("libmxprof_dnnl.so.0", library, sizeof library)) {
        if (!quiet) {
            fputs("mxprof: libmxprof_dnnl.so is not beside the command: oneDNN's lines are not "
                  "recorded\n",
                  stderr);
        }
        return;
    }
    bool is_set = false;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        is_set = is_set || getenv(variables[i]) != NULL;
    }
    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && !is_set; i++) {
        setenv(variables[i], "1", 1);
    }
    setenv("MXPROF_DNNL", is_set ? "keep" : "take", 1);
    preload(library, quiet);
}

void mxp__run_environment(const mxp_run_settings *settings)
{
    char collector[2 * PATH_MAX];
    setenv("MXPROF_RUN", settings->folder, 1);
    if (settings->ring != NULL) {
        setenv("MXPROF_FULL_POLICY", "ring", 1);
    }
    if (settings->ring != NULL || settings->limit != NULL) {
        setenv("MXPROF_MEMORY_LIMIT_BYTES",
               settings->ring != NULL ? settings->ring : settings->limit, 1);
    }
    set_where_given("MXPROF_FUNCTIONS_DEPTH", settings->depth);
    set_where_given("MXPROF_FUNCTIONS_MIN_US", settings->min_us);
    tell_marks(settings->marks);
    set_where_given("MXPROF_NAMES_LIMIT", settings->names);
    set_where_given("MXPROF_RUN_LABEL", settings->label);
    set_where_given("MXPROF_RUN_COMMIT", settings->commit);
    set_where_given("MXPROF_COLLECT_SYNC", settings->sync);
    set_where_given("MXPROF_COLLECT_MEMORY", settings->has_memory ? "1" : NULL);
    if (settings->openmp != NULL) {
        preload(settings->openmp, settings->quiet);
    }
    if (settings->has_dnnl) {
        open_dnnl(settings->quiet);
    }
    if (find_library("libmxprof_collect.so.0", collector, sizeof collector)) {
        open_doors(settings, collector);
    } else if (!settings->quiet && settings->marks != 0) {
        fputs("mxprof: libmxprof_collect.so is not beside the command: marks of libraries are not "
              "recorded\n",
              stderr);
    }
}
