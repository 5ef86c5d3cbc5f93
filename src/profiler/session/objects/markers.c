// SPDX-License-Identifier: Apache-2.0
// Instant markers: no object, just a record in the category "DOMAIN,instant_marker".
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <string.h>

#include "base/fail.h"
#include "profiler/session/config/quote.h"
#include "profiler/session/objects/handles.h"

static const struct {
    const char *word;
    int scope;
} scopes[] = {
    {"global", MXP_INSTANT_GLOBAL},   {"marker", MXP_INSTANT_MARKER},
    {"process", MXP_INSTANT_PROCESS}, {"task", MXP_INSTANT_TASK},
    {"thread", MXP_INSTANT_THREAD},
};

static int parse_scope(const char *word, int *scope)
{
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        if (strcmp(word, scopes[i].word) == 0) {
            *scope = scopes[i].scope;
            return MXP_OK;
        }
    }
    return mxp__fail(MXP_EVALUE,
                     "Invalid Input: '%.*s', valid values are: {'global', 'marker', 'process', "
                     "'task', 'thread'}",
                     mxp__quote_length(word), word);
}

int mxp_marker_set(mxp_handle domain, const char *name, const char *scope)
{
    mxp_slot *slot;
    int error = mxp__slot_lock(domain, 1 << MXP__OBJECT_DOMAIN, "Check  notnull: domain", &slot);
    if (error != MXP_OK) {
        return error;
    }
    const char *category = slot->markers;
    mxp__slot_unlock(slot);  // domains are for ever
    if (name == NULL || scope == NULL) {
        return mxp__fail(MXP_EINVAL, "Check  notnull: %s",
                         name == NULL ? "instant_marker_name" : "scope");
    }
    int instant = 0;
    error = parse_scope(scope, &instant);
    if (error == MXP_OK && mxp_enabled(MXP_CLASS_USER)) {
        mxp_name marker = mxp_intern(category, name, MXP_STYLE_INSTANT, MXP_UNIT_NONE);
        mxp_instant(MXP_CLASS_USER, marker, instant);
    }
    return error;
}
