// SPDX-License-Identifier: Apache-2.0
// The changes are collected in the order of the blocks and then sorted: spans come in the order of
// their ends, and counting needs begins.
#include "export/api_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "export/aggregate_state.h"

enum { UNKNOWN = 0, OTHER = 1, API = 2 };

typedef struct collection {
    mxp_api_changes *changes;
    mxp_source *source;
    uint8_t *kinds;  // of names
} collection;

static bool is_api(collection *all, uint32_t id)
{
    if (id >= all->source->name_count) {
        return false;
    }
    if (all->kinds[id] == UNKNOWN) {
        mxp_name_view view = all->source->name(all->source, id);
        mxp_name_view category = all->source->name(all->source, view.category);
        bool same = category.length == strlen(MXP__API_CATEGORY) &&
                    memcmp(category.text, MXP__API_CATEGORY, category.length) == 0;
        all->kinds[id] = same ? API : OTHER;
    }
    return all->kinds[id] == API;
}

static int add_span(void *context, const mxp_event *event)
{
    collection *all = context;
    if (event->kind != MXP_KIND_SPAN || !is_api(all, event->name)) {
        return MXP_OK;
    }
    mxp_api_changes *changes = all->changes;
    if (mxp__grow(&changes->items, &changes->capacity, changes->count + 2,
                  sizeof(mxp_api_change)) != MXP_OK) {
        return mxp__fail_memory("the counters of API calls");
    }
    changes->items[changes->count] = (mxp_api_change){event->begin_ns, changes->count};
    changes->items[changes->count + 1] = (mxp_api_change){event->end_ns, changes->count + 1};
    changes->count += 2;
    return MXP_OK;
}

static int compare_changes(const void *a, const void *b)
{
    const mxp_api_change *first = a, *second = b;
    if (first->ns != second->ns) {
        return first->ns < second->ns ? -1 : 1;
    }
    return first->order < second->order ? -1 : first->order > second->order;
}

int mxp__api_changes_take(mxp_source *source, mxp_api_changes *changes)
{
    *changes = (mxp_api_changes){0};
    collection all = {.changes = changes, .source = source};
    all.kinds = mxp__alloc((size_t)source->name_count + 1);
    if (all.kinds == NULL) {
        return mxp__fail_memory("the counters of API calls");
    }
    int error = mxp__each_record(source, add_span, &all);
    mxp__free(all.kinds, (size_t)source->name_count + 1);
    if (changes->count > 0) {
        qsort(changes->items, changes->count, sizeof(mxp_api_change), compare_changes);
    }
    return error;
}

void mxp__api_changes_fini(mxp_api_changes *changes)
{
    mxp__free(changes->items, changes->capacity * sizeof(mxp_api_change));
    *changes = (mxp_api_changes){0};
}
