// SPDX-License-Identifier: Apache-2.0
// Memory over time: of each device bins with the largest and least total, and who had it at the
// largest. And the document of `mxprof memory` of each process.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/device_name.h"
#include "base/fail.h"
#include "memory_shown.h"
#include "page/columns.h"
#include "view/view.h"

// Columns of owners: the first ones by what they had at most, and one for all others.
enum { BINS = MXP__MEMORY_COLUMNS, OWNERS = 15, FIXED_COLUMNS = 3 };

static const char memory_for[] = "the memory of the page";

// Owners of a device under one label.
typedef struct owner_group {
    uint32_t owner;  // one of them
    uint64_t most_bytes;
    uint64_t bytes[BINS];
} owner_group;

typedef struct memory_maker {
    mxp_view *view;
    size_t process;
    mxp_strbuf columns[FIXED_COLUMNS + OWNERS + 1];
    size_t rows;
    mxp_strbuf documents, devices;
    size_t device_count;
} memory_maker;

// ---- a device ----------------------------------------------------------------------------------
static int add_owner(const mxp_source *source, const mxp_memory_device *device, uint32_t owner,
                     mxp_texts *labels, owner_group ***groups, size_t *capacity)
{
    mxp_strbuf label = {0};
    uint32_t number;
    const size_t before = labels->count;
    mxp__memory_row_name(source, device, MXP_MEMORY_BY_SCOPE, owner, &label);
    int error = label.failed
                    ? mxp__fail_memory(memory_for)
                    : mxp__texts_number(labels, mxp__strbuf_text(&label), label.length, &number);
    mxp__strbuf_fini(&label);
    if (error != MXP_OK) {
        return error;
    }
    if (number == before) {
        owner_group *group = mxp__alloc(sizeof *group);
        if (group == NULL || mxp__grow(groups, capacity, number + 1, sizeof **groups) != MXP_OK) {
            mxp__free(group, sizeof *group);
            return mxp__fail_memory(memory_for);
        }
        group->owner = owner;
        (*groups)[number] = group;
    }
    const uint64_t *bytes = device->owners.owners[owner].least_bytes;
    for (size_t i = 0; bytes != NULL && i < device->growth.count && i < BINS; i++) {
        (*groups)[number]->bytes[i] += bytes[i];
    }
    return MXP_OK;
}

// Puts those that had most at any time to the front.
static void rank(owner_group **groups, uint32_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t bin = 0; bin < BINS; bin++) {
            const uint64_t bytes = groups[i]->bytes[bin];
            groups[i]->most_bytes = bytes > groups[i]->most_bytes ? bytes : groups[i]->most_bytes;
        }
        size_t to = i;
        while (to > 0 && groups[places[to - 1]]->most_bytes < groups[i]->most_bytes) {
            to--;
        }
        memmove(places + to + 1, places + to, (i - to) * sizeof *places);
        places[to] = (uint32_t)i;
    }
}

static void put_rows(memory_maker *self, const mxp_memory_device *device, owner_group **groups,
                     const uint32_t *places, size_t count, const int64_t *bounds)
{
    const int64_t origin_ns = self->view->page.begin_ns;
    uint64_t before_ns = 0;
    for (size_t bin = 0; bin < device->growth.count; bin++) {
        const mxp_memory_column *column = &device->growth.columns[bin];
        const uint64_t at_ns = (uint64_t)(bounds[bin] - origin_ns);
        uint64_t others = 0;
        mxp__column_put(&self->columns[0], at_ns - before_ns);
        mxp__column_put(&self->columns[1], column->most_bytes);
        mxp__column_put(&self->columns[2], column->least_bytes);
        for (size_t i = 0; i < count; i++) {
            const uint64_t bytes = groups[places[i]]->bytes[bin];
            others += i < OWNERS ? 0 : bytes;
            if (i < OWNERS) {
                mxp__column_put(&self->columns[FIXED_COLUMNS + i], bytes);
            }
        }
        for (size_t i = count; i < OWNERS; i++) {
            mxp__column_put(&self->columns[FIXED_COLUMNS + i], 0);
        }
        mxp__column_put(&self->columns[FIXED_COLUMNS + OWNERS], others);
        before_ns = at_ns;
    }
    self->rows += device->growth.count;
}

static void put_device(memory_maker *self, const mxp_memory_device *device, const mxp_texts *labels,
                       const uint32_t *places, size_t count)
{
    mxp_json json = {.out = &self->devices};
    char name[MXP__DEVICE_NAME_CHARS];
    mxp__device_name(device->device, name, sizeof name);
    mxp__strbuf_puts(&self->devices, self->device_count++ > 0 ? ",\n" : "");
    mxp__json_object(&json, NULL);
    mxp__json_u64(&json, "process", self->process);
    mxp__json_text(&json, "name", name);
    mxp__json_u64(&json, "bins", device->growth.count);
    mxp__json_u64(&json, "peak_bytes", device->peak.bytes);
    mxp__json_i64(&json, "peak_ns", device->peak.at_ns - self->view->page.begin_ns);
    mxp__json_array(&json, "owners");
    for (size_t i = 0; i < OWNERS + 1; i++) {
        size_t length = 0;
        const char *label = i == OWNERS ? "others"
                            : i < count ? mxp__texts_at(labels, places[i], &length)
                                        : "";
        mxp__json_bytes(&json, NULL, label, i < count && i < OWNERS ? length : strlen(label));
    }
    mxp__json_end(&json);
    mxp__json_end(&json);
}

static int add_device(memory_maker *self, const mxp_source *source, const mxp_memory_device *device,
                      const int64_t *bounds)
{
    mxp_texts labels = {0};
    owner_group **groups = NULL;
    size_t capacity = 0;
    int error = MXP_OK;
    for (uint32_t i = 0; i < device->owners.count && error == MXP_OK; i++) {
        error = add_owner(source, device, i, &labels, &groups, &capacity);
    }
    uint32_t *places = mxp__alloc(labels.count * sizeof *places);
    if (error == MXP_OK && places == NULL) {
        error = mxp__fail_memory(memory_for);
    }
    if (error == MXP_OK) {
        rank(groups, places, labels.count);
        put_rows(self, device, groups, places, labels.count, bounds);
        put_device(self, device, &labels, places, labels.count);
    }
    for (size_t i = 0; i < labels.count && i < capacity; i++) {
        mxp__free(groups[i], sizeof **groups);
    }
    mxp__free(places, labels.count * sizeof *places);
    mxp__free(groups, capacity * sizeof *groups);
    mxp__texts_fini(&labels);
    return error;
}

// ---- a process ---------------------------------------------------------------------------------
static int read_bins(memory_maker *self, mxp_source *source)
{
    static const size_t bytes = (BINS + 1) * sizeof(int64_t);
    const mxp_page_data *page = &self->view->page;
    const uint64_t length_ns = (uint64_t)(page->end_ns - page->begin_ns) + 1;
    const uint64_t width_ns = length_ns / BINS + 1;
    int64_t *bounds = mxp__alloc(bytes);
    mxp_live_memory memory;
    if (bounds == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i <= BINS; i++) {
        bounds[i] = page->begin_ns + (int64_t)(i * width_ns);
    }
    const mxp_live_memory_options options = {.bounds = bounds,
                                             .step_count = BINS,
                                             .keeps_most = true,
                                             .from_ns = INT64_MIN,
                                             .until_ns = INT64_MAX,
                                             .at_ns = INT64_MAX};
    int error = mxp__live_memory_make(source, &options, &memory);
    error = error == MXP_ENOMEM ? error : MXP_OK;  // what can be read is shown
    for (size_t i = 0; i < memory.count && error == MXP_OK; i++) {
        error = add_device(self, source, memory.devices[i], bounds);
    }
    mxp__live_memory_fini(&memory);
    mxp__free(bounds, bytes);
    return error;
}

static int add_process(memory_maker *self, size_t number)
{
    mxp_view *view = self->view;
    mxp_source *source = mxp__view_source(view, number);
    bool is_known;
    self->process = number;
    mxp__strbuf_puts(&self->documents, number > 0 ? ",\n" : "");
    const int error =
        mxp__memory_document(view->command, &view->input, source, &self->documents, &is_known);
    return error == MXP_OK && is_known ? read_bins(self, source) : error;
}

static int end_section(memory_maker *self)
{
    mxp_view *view = self->view;
    mxp__strbuf_printf(&view->memory, "{\"documents\": [%s], \"devices\": [%s]}",
                       mxp__strbuf_text(&self->documents), mxp__strbuf_text(&self->devices));
    return mxp__view_section(view, "m", self->columns, FIXED_COLUMNS + OWNERS + 1, self->rows);
}

int mxp__view_memory(mxp_view *view)
{
    memory_maker self = {.view = view};
    int error = MXP_OK;
    if (view->report.summary.by_kind[MXP_KIND_MEMORY] +
            view->report.summary.by_kind[MXP_KIND_CENSUS] ==
        0) {
        return MXP_OK;
    }
    for (size_t i = 0; i < view->process_count && error == MXP_OK; i++) {
        error = add_process(&self, i);
    }
    error = error == MXP_OK ? end_section(&self) : error;
    for (size_t i = 0; i < FIXED_COLUMNS + OWNERS + 1; i++) {
        mxp__strbuf_fini(&self.columns[i]);
    }
    mxp__strbuf_fini(&self.documents);
    mxp__strbuf_fini(&self.devices);
    return error;
}
