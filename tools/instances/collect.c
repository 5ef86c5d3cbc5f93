// SPDX-License-Identifier: Apache-2.0
// See collect.h. Two readings: the first finds the carriers, the second what lies within them.
#include "instances/collect.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "import/import.h"

// A point of a flow: the innermost span around it belongs to the flow.
typedef struct flow_point {
    int64_t at_ns;
    uint32_t thread;
    mxp_instance innermost;
    bool is_found;
} flow_point;

enum { ID_TEXTS = 3 };

typedef struct collecting {
    mxp_source *process;
    const mxp_selected *within;
    mxp_collected *found;
    mxp_wanted_arg wanted;
    uint64_t id;
    uint64_t (*imported_ids)[ID_TEXTS];  // what it is in flows of each name
    size_t first_carrier;  // of this process
    flow_point *points;
    size_t point_count, point_capacity;
} collecting;

// ---- carriers ----------------------------------------------------------------------------------
static void note_number(mxp_collected *found, const mxp_instance *instance, int place)
{
    const mxp_event event = mxp__instance_event(instance);
    uint32_t key, type;
    uint64_t bits;
    double number;
    mxp__event_arg(&event, (uint32_t)place, &key, &type, &bits);
    if (!mxp__arg_number(type, bits, &number)) {
        return;
    }
    found->least = !found->has_numbers || number < found->least ? number : found->least;
    found->most = !found->has_numbers || number > found->most ? number : found->most;
    found->has_numbers = true;
}

static int visit_arg(void *context, const mxp_instance *instance)
{
    collecting *self = context;
    mxp_collected *found = self->found;
    mxp_wanted_arg any = self->wanted;
    any.value = NULL;
    int error = mxp__arg_keys_note(&found->keys, instance);
    int place = error == MXP_OK ? mxp__wanted_arg_find(&any, instance) : -1;
    if (place < 0) {
        return error;
    }
    const bool has_value = mxp__wanted_arg_find(&self->wanted, instance) >= 0;
    found->with_key++;
    found->with_value += has_value;
    note_number(found, instance, place);
    return has_value && mxp__selected_in_window(self->within, instance)
               ? mxp__instances_add(&found->carriers, instance)
               : MXP_OK;
}

static bool has_id(const collecting *self, const mxp_instance *instance)
{
    const mxp_event event = mxp__instance_event(instance);
    return mxp__event_context(&event) == self->id ||
           (instance->is_async && mxp__wanted_arg_find(&self->wanted, instance) >= 0);
}

// Place of the first point on the thread of an instance that is not before its begin.
static size_t first_point(const collecting *self, const mxp_instance *instance)
{
    size_t low = 0, high = self->point_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const flow_point *point = &self->points[middle];
        bool before = point->thread != instance->thread ? point->thread < instance->thread
                                                        : point->at_ns < instance->begin_ns;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

static int visit_id(void *context, const mxp_instance *instance)
{
    collecting *self = context;
    for (size_t i = instance->is_async ? self->point_count : first_point(self, instance);
         i < self->point_count; i++) {
        flow_point *point = &self->points[i];
        if (point->thread != instance->thread || point->at_ns > instance->end_ns) {
            break;
        }
        if (!point->is_found || mxp__instance_is_in(instance, &point->innermost)) {
            point->innermost = *instance;
            point->is_found = true;
        }
    }
    return mxp__selected_in_window(self->within, instance) && has_id(self, instance)
               ? mxp__instances_add(&self->found->carriers, instance)
               : MXP_OK;
}

static int find_imported_ids(collecting *self, const char *text)
{
    mxp_source *process = self->process;
    char decimal[24], hexadecimal[24];
    snprintf(decimal, sizeof decimal, "%" PRIu64, self->id);
    snprintf(hexadecimal, sizeof hexadecimal, "0x%" PRIx64, self->id);
    const char *const texts[ID_TEXTS] = {text, decimal, hexadecimal};
    self->imported_ids = mxp__alloc(process->name_count * sizeof *self->imported_ids);
    if (self->imported_ids == NULL && process->name_count > 0) {
        return mxp__fail_memory("the ids of flows");
    }
    for (uint32_t i = 0; i < process->name_count; i++) {
        const mxp_name_view name = process->name(process, i);
        const mxp_name_view none = {.text = ""};
        const mxp_name_view category =
            name.category != 0 ? process->name(process, name.category) : none;
        for (int j = 0; name.style == MXP_STYLE_FLOW && j < ID_TEXTS; j++) {
            self->imported_ids[i][j] = mxp__import_flow_id(texts[j], category, name);
        }
    }
    return MXP_OK;
}

static bool is_of_flow(const collecting *self, const mxp_event *event)
{
    bool is_it = event->value.u64 == self->id;
    for (int i = 0; event->name < self->process->name_count && i < ID_TEXTS; i++) {
        is_it |= event->value.u64 == self->imported_ids[event->name][i];
    }
    return is_it;
}

static int add_point(collecting *self, const mxp_event *event)
{
    if (event->kind != MXP_KIND_FLOW || !is_of_flow(self, event)) {
        return MXP_OK;
    }
    if (mxp__grow(&self->points, &self->point_capacity, self->point_count + 1,
                  sizeof *self->points) != MXP_OK) {
        return mxp__fail_memory("the points of a flow");
    }
    uint32_t lane = event->lane;
    self->points[self->point_count++] = (flow_point){
        .at_ns = event->begin_ns,
        .thread = (lane & MXP_LANE_THREAD) != 0 ? lane & ~MXP_LANE_THREAD : event->thread};
    return MXP_OK;
}

static int compare_points(const void *a, const void *b)
{
    const flow_point *x = a, *y = b;
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static int find_points(collecting *self)
{
    mxp_record_range range;
    mxp_decoder decoder;
    mxp_event event;
    int found, error = MXP_OK;
    for (size_t i = 0; error == MXP_OK; i++) {
        found = self->process->range(self->process, i, &range);
        if (found != 1) {
            if (found == MXP_EFORMAT) {
                continue;
            }
            error = found;
            break;
        }
        mxp__decoder_begin(&decoder, self->process->timebase, &range);
        while (error == MXP_OK && mxp__decoder_next(&decoder, &event) == 1) {
            error = add_point(self, &event);
        }
    }
    if (self->point_count > 1) {
        qsort(self->points, self->point_count, sizeof *self->points, compare_points);
    }
    return error;
}

static int compare_records(const void *a, const void *b)
{
    const mxp_instance *x = a, *y = b;
    return (x->words > y->words) - (x->words < y->words);
}

// A span is one carrier, however often a flow goes through it.
static void keep_each_once(collecting *self)
{
    mxp_instances *carriers = &self->found->carriers;
    mxp_instance *all = carriers->all + self->first_carrier;
    size_t count = carriers->count - self->first_carrier, kept = 0;
    if (count > 1) {
        qsort(all, count, sizeof *all, compare_records);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || all[kept - 1].words != all[i].words) {
            all[kept++] = all[i];
        }
    }
    carriers->count = self->first_carrier + kept;
}

static int take_points(collecting *self)
{
    int error = MXP_OK;
    for (size_t i = 0; i < self->point_count && error == MXP_OK; i++) {
        const flow_point *point = &self->points[i];
        if (point->is_found && mxp__selected_in_window(self->within, &point->innermost)) {
            error = mxp__instances_add(&self->found->carriers, &point->innermost);
        }
    }
    if (self->point_count > 0 && self->found->carriers.count > self->first_carrier) {
        keep_each_once(self);
    }
    return error;
}

// ---- what is inside of them --------------------------------------------------------------------
static int compare_carriers(const void *a, const void *b)
{
    const mxp_instance *x = a, *y = b;
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    if (x->begin_ns != y->begin_ns) {
        return x->begin_ns < y->begin_ns ? -1 : 1;
    }
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

// The carriers of this process that nest: sorted, only the outermost ones. Asynchronous ones are
// rows at once.
static int keep_outermost(collecting *self, mxp_instances *outermost)
{
    mxp_collected *found = self->found;
    int error = MXP_OK;
    for (size_t i = self->first_carrier; i < found->carriers.count && error == MXP_OK; i++) {
        const mxp_instance *carrier = &found->carriers.all[i];
        error = mxp__instances_add(carrier->is_async ? &found->rows : outermost, carrier);
    }
    if (outermost->count > 1) {
        qsort(outermost->all, outermost->count, sizeof *outermost->all, compare_carriers);
    }
    size_t kept = 0;
    for (size_t i = 0; i < outermost->count; i++) {
        const mxp_instance *last = kept > 0 ? &outermost->all[kept - 1] : NULL;
        if (last == NULL || last->thread != outermost->all[i].thread ||
            !mxp__instance_is_in(&outermost->all[i], last)) {
            outermost->all[kept++] = outermost->all[i];
        }
    }
    outermost->count = kept;
    return error;
}

typedef struct inside {
    const mxp_instances *outermost;
    mxp_instances *rows;
} inside;

static int visit_within(void *context, const mxp_instance *instance)
{
    const inside *self = context;
    size_t low = 0, high = self->outermost->count;
    while (low < high) {  // `low` becomes one after the last that begins at or before it
        size_t middle = low + (high - low) / 2;
        const mxp_instance *at = &self->outermost->all[middle];
        bool before = at->thread != instance->thread ? at->thread < instance->thread
                                                     : at->begin_ns <= instance->begin_ns;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    const mxp_instance *around = low > 0 ? &self->outermost->all[low - 1] : NULL;
    return around != NULL && around->thread == instance->thread && !instance->is_async &&
                   mxp__instance_is_in(instance, around)
               ? mxp__instances_add(self->rows, instance)
               : MXP_OK;
}

static int add_inside(collecting *self)
{
    mxp_instances outermost = {0};
    int error = keep_outermost(self, &outermost);
    if (error == MXP_OK && outermost.count > 0) {
        inside context = {&outermost, &self->found->rows};
        error =
            mxp__instances_read(self->process, visit_within, &context, &self->found->is_damaged);
    }
    mxp__instances_fini(&outermost);
    return error;
}

static int collect(collecting *self, mxp_instance_visit visit)
{
    int error = mxp__instances_read(self->process, visit, self, &self->found->is_damaged);
    if (error == MXP_OK) {
        error = take_points(self);
    }
    if (error == MXP_OK && self->found->carriers.count > self->first_carrier) {
        error = add_inside(self);
    }
    mxp__free(self->points, self->point_capacity * sizeof *self->points);
    mxp__wanted_arg_fini(&self->wanted);
    return error;
}

int mxp__collect_arg(mxp_source *process, const mxp_selected *within, const char *key,
                     size_t key_length, const char *value, mxp_collected *found)
{
    collecting self = {.process = process,
                       .within = within,
                       .found = found,
                       .first_carrier = found->carriers.count};
    mxp__arg_keys_fini(&found->keys);  // those of the last process are told
    found->keys_of = process;
    int error = mxp__wanted_arg_init(&self.wanted, process, key, key_length, value);
    return error == MXP_OK ? collect(&self, visit_arg) : error;
}

int mxp__collect_id(mxp_source *process, const mxp_selected *within, uint64_t id, const char *text,
                    mxp_collected *found)
{
    static const char key[] = "id";
    collecting self = {.process = process,
                       .within = within,
                       .found = found,
                       .id = id,
                       .first_carrier = found->carriers.count};
    int error = mxp__wanted_arg_init(&self.wanted, process, key, sizeof key - 1, "");
    self.wanted.bits = id;
    self.wanted.is_whole = true;
    if (error == MXP_OK) {
        error = find_imported_ids(&self, text);
    }
    if (error == MXP_OK) {
        error = find_points(&self);
    }
    mxp__free(self.imported_ids, process->name_count * sizeof *self.imported_ids);
    self.imported_ids = NULL;
    return error == MXP_OK ? collect(&self, visit_id) : error;
}

// ---- a time ------------------------------------------------------------------------------------
typedef struct in_time {
    int64_t begin_ns, end_ns;
    mxp_instances *rows;
} in_time;

static int visit_time(void *context, const mxp_instance *instance)
{
    const in_time *self = context;
    bool touches = instance->begin_ns < self->end_ns && instance->end_ns > self->begin_ns;
    return touches ? mxp__instances_add(self->rows, instance) : MXP_OK;
}

int mxp__collect_time(mxp_source *process, int64_t begin_ns, int64_t end_ns, mxp_collected *found)
{
    in_time context = {begin_ns, end_ns, &found->rows};
    return mxp__instances_read(process, visit_time, &context, &found->is_damaged);
}

int mxp__collected_finish(mxp_collected *found)
{
    mxp__instances_sort(&found->rows);
    return mxp__instances_nest(&found->rows);
}

void mxp__collected_fini(mxp_collected *found)
{
    mxp__instances_fini(&found->carriers);
    mxp__instances_fini(&found->rows);
    mxp__arg_keys_fini(&found->keys);
    *found = (mxp_collected){.is_damaged = false};
}
