// SPDX-License-Identifier: Apache-2.0
// INFO lines by which two recordings are compared: what the machine has, and what the program, its
// libraries and the configuration have noted. All under the drain lock.
#include <mxprof/error.h>
#include <mxprof/foreign.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "profiler/recorder/drain/report.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/rules.h"

// ---- the machine ------------------------------------------------------------------------------
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
    char cores[16], kernel[128];  // of "Linux 6.1.0 x86_64"
    const char *system = strchr(value_of(list, "system"), ' ');
    snprintf(cores, sizeof cores, "%u", (unsigned)mxp__os_cpu_count());
    snprintf(kernel, sizeof kernel, "%s", system != NULL ? system + 1 : "");
    kernel[strcspn(kernel, " ")] = '\0';
    int error = mxp__info_add(list, "machine.cpu", value_of(list, "cpu"));
    if (error == MXP_OK) {
        error = mxp__info_add(list, "machine.cores", cores);
    }
    return error == MXP_OK ? mxp__info_add(list, "machine.kernel", kernel) : error;
}

// ---- notes ------------------------------------------------------------------------------------
enum { NOTES_MAX = 32 };

static struct {
    char *key, *value;  // a key stays where it is
} notes[NOTES_MAX];

static_assert(sizeof notes[0] == sizeof(mxp_image_note) && offsetof(mxp_image_note, value) == 8,
              "readers of core files find them there");

void mxp__info_image(volatile mxp_image_anchor *to)
{
    to->notes = (uintptr_t)notes;
    to->notes_most = NOTES_MAX;
}

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
