// SPDX-License-Identifier: Apache-2.0
// See flows.h.
#include "page/flows.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "page/columns.h"

static const char memory_for[] = "the arrows of the page";

typedef struct flow_number {
    uint64_t key;  // id + 1
    uint64_t number;
} flow_number;

int mxp__page_flows_add(mxp_page_flows *flows, const mxp_page_flow *point)
{
    if (flows->count == MXP_PAGE_FLOWS_MAX) {
        flows->left_out++;
        return MXP_OK;
    }
    if (mxp__grow(&flows->all, &flows->capacity, flows->count + 1, sizeof *flows->all) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    flows->all[flows->count++] = *point;
    return MXP_OK;
}

static int by_time(const void *one, const void *other)
{
    const mxp_page_flow *a = one, *b = other;
    if (a->at_ns != b->at_ns) {
        return a->at_ns < b->at_ns ? -1 : 1;
    }
    if (a->id != b->id) {
        return a->id < b->id ? -1 : 1;
    }
    return (a->phase > b->phase) - (a->phase < b->phase);
}

// Ids are of 64 bits, numbers of a page are not. The last id has none of its own in the map.
static int number_of(mxp_id_map *numbers, uint64_t id, uint64_t *number)
{
    flow_number *known = mxp__id_map_add(numbers, id == UINT64_MAX ? id : id + 1);
    if (known == NULL) {
        return mxp__fail_memory(memory_for);
    }
    known->number = known->number == 0 ? numbers->count : known->number;
    *number = known->number;
    return MXP_OK;
}

enum { TIME, KIND, FLOW, PHASE, THREAD, TRACK, COLUMNS };

static int put_points(const mxp_page_flows *flows, mxp_strbuf *columns)
{
    mxp_id_map numbers = {.entry_bytes = sizeof(flow_number)};
    uint64_t before_ns = 0, number = 0;
    int error = MXP_OK;
    for (size_t i = 0; i < flows->count && error == MXP_OK; i++) {
        const mxp_page_flow *point = &flows->all[i];
        error = number_of(&numbers, point->id, &number);
        mxp__column_put(&columns[TIME], point->at_ns - before_ns);
        mxp__column_put(&columns[KIND], point->kind);
        mxp__column_put(&columns[FLOW], number);
        mxp__column_put(&columns[PHASE], point->phase);
        mxp__column_put(&columns[THREAD], (uint64_t)(point->thread + 1));
        mxp__column_put(&columns[TRACK], point->track != NULL ? point->track->number + 1u : 0);
        before_ns = point->at_ns;
    }
    mxp__id_map_fini(&numbers);
    return error;
}

int mxp__page_flows_pack(mxp_page_flows *flows, mxp_page_spool *spool, mxp_spooled_section *section)
{
    mxp_strbuf columns[COLUMNS] = {{0}};
    if (flows->count > 0) {
        qsort(flows->all, flows->count, sizeof *flows->all, by_time);
    }
    int error = put_points(flows, columns);
    error = error == MXP_OK
                ? mxp__page_spool_columns(spool, columns, COLUMNS, flows->count, section)
                : error;
    for (size_t i = 0; i < COLUMNS; i++) {
        mxp__strbuf_fini(&columns[i]);
    }
    return error;
}

void mxp__page_flows_fini(mxp_page_flows *flows)
{
    mxp__free(flows->all, flows->capacity * sizeof *flows->all);
    *flows = (mxp_page_flows){0};
}
