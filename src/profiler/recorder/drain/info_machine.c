// SPDX-License-Identifier: Apache-2.0
// INFO lines by which two recordings are compared: what the machine has, and what the program, its
// libraries and the configuration have noted. All under the drain lock.
#include <inttypes.h>
#include <mxprof/error.h>
#include <mxprof/foreign.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/machine.h"
#include "base/os/memory.h"
#include "base/os/os.h"
#include "profiler/recorder/drain/report.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/rules.h"

// ---- the machine ------------------------------------------------------------------------------
enum { FIGURES = MXP__CACHE_LEVELS + 3, FIGURE_CHARS = 24 };

static const char *const figure_keys[FIGURES] = {"machine.cores",  "machine.l1",
                                                 "machine.l2",     "machine.l3",
                                                 "machine.memory", "machine.cgroup_cpu"};

// "" is not known. They are read once: that takes some thirty files.
static void read_figures(char figures[FIGURES][FIGURE_CHARS])
{
    uint64_t total_bytes = 0, available_bytes = 0, limit = mxp__os_cpu_limit("");
    mxp__os_memory(&total_bytes, &available_bytes);
    uint64_t values[FIGURES] = {mxp__os_cpu_count(), 0, 0, 0, total_bytes, 0};
    for (unsigned level = 1; level <= MXP__CACHE_LEVELS; level++) {
        values[level] = mxp__os_cache_bytes("", level);
    }
    for (int i = 0; i < FIGURES - 1; i++) {
        if (values[i] != 0) {
            snprintf(figures[i], FIGURE_CHARS, "%" PRIu64, values[i]);
        }
    }
    if (limit == UINT64_MAX) {
        strcpy(figures[FIGURES - 1], "none");
    } else {
        snprintf(figures[FIGURES - 1], FIGURE_CHARS, "%.9g", (double)limit / 1000);
    }
}

static const char *value_of(const mxp_info_list *list, const char *key)
{
    size_t i = 0;
    while (strcmp(list->pairs[i].key, key) != 0) {
        i++;
        assert(i < list->count);
    }
    return list->pairs[i].value;
}

int mxp__info_add_machine(mxp_info_list *list)
{
    static char figures[FIGURES][FIGURE_CHARS];
    assert(mxp__drain_is_held());
    if (figures[0][0] == '\0') {
        read_figures(figures);
    }
    char kernel[128];  // of "Linux 6.1.0 x86_64"
    const char *system = value_of(list, "system") + strcspn(value_of(list, "system"), " ");
    system += strspn(system, " ");
    snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(system, " "), system);
    int error = mxp__info_add(list, "machine.cpu", value_of(list, "cpu"));
    for (int i = 0; i < FIGURES && error == MXP_OK; i++) {
        if (figures[i][0] != '\0') {
            error = mxp__info_add(list, figure_keys[i], figures[i]);
        }
    }
    return error == MXP_OK ? mxp__info_add(list, "machine.kernel", kernel) : error;
}

// ---- notes ------------------------------------------------------------------------------------
enum { NOTES_MAX = 32 };

static struct {
    char *key, *value;  // a key stays where it is
} notes[NOTES_MAX];

static int note_locked(const char *key, char **value)
{
    assert(mxp__drain_is_held());
    size_t i = 0;
    while (i < NOTES_MAX && notes[i].key != NULL && strcmp(notes[i].key, key) != 0) {
        i++;
    }
    if (i == NOTES_MAX) {
        return mxp__fail(MXP_ESTATE, "%d lines of information are noted already", NOTES_MAX);
    }
    if (notes[i].key == NULL && (notes[i].key = mxp__strdup(key)) == NULL) {
        return mxp__fail_memory("a line of information");
    }
    char *before = notes[i].value;
    notes[i].value = *value;
    *value = before;
    return MXP_OK;
}

int mxp_info(const char *key, const char *value)
{
    if (key == NULL || key[0] == '\0' || value == NULL) {
        return mxp__fail(MXP_EINVAL, "a line of information needs a key and a value");
    }
    char *copy = mxp__strdup(value);
    if (copy == NULL) {
        return mxp__fail_memory("a line of information");
    }
    mxp__drain_lock();
    int error = note_locked(key, &copy);
    mxp__drain_unlock();
    mxp__strfree(copy);
    return error;
}

int mxp__info_add_noted(mxp_info_list *list)
{
    int error = MXP_OK;
    for (size_t i = 0; i < NOTES_MAX && notes[i].key != NULL && error == MXP_OK; i++) {
        if (notes[i].value[0] != '\0') {
            error = mxp__info_add(list, notes[i].key, notes[i].value);
        }
    }
    return error;
}
