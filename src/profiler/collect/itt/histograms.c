// SPDX-License-Identifier: Apache-2.0
// Histograms: a counter for each bucket would be noise, so what is submitted is a moment with the
// number of its values, their sum and their range.
#include <mxprof/record.h>
#include <string.h>

#include "profiler/collect/arena.h"
#include "profiler/collect/itt/handles.h"
#include "profiler/collect/itt/marks.h"
#include "profiler/collect/itt/values.h"

itt_histogram *mxp__itt_histogram_create(itt_domain *domain, const char *name, int x_type,
                                         int y_type)
{
    const char *text = name != NULL ? name : "(null)";
    itt_histogram *histogram = mxp__arena_take(sizeof *histogram);
    if (histogram != NULL) {
        const mxp_name id = mxp_intern_in(mxp__itt_category(domain), text, strlen(text),
                                          MXP_STYLE_SPAN, MXP_UNIT_NONE);
        *histogram = (itt_histogram){
            .domain = domain, .name = mxp_name_text(id), .x_type = x_type, .y_type = y_type};
        mxp_atomic_set(&histogram->id, id);
    }
    return histogram;
}

static double number_of(const mxp_arg *value)
{
    return value->type == MXP_ARG_F64   ? value->value.f64
           : value->type == MXP_ARG_I64 ? (double)value->value.i64
                                        : (double)value->value.u64;
}

// Sum, smallest and largest of the values. False: their type is unknown.
static bool sum_up(const void *data, size_t count, int type, double *sums)
{
    mxp_arg value;
    for (size_t i = 0; i < count; i++) {
        if (!mxp__itt_value(data, i, type, MXP_NAME_NONE, &value)) {
            return false;
        }
        const double number = number_of(&value);
        sums[0] += number;
        sums[1] = i == 0 || number < sums[1] ? number : sums[1];
        sums[2] = i == 0 || number > sums[2] ? number : sums[2];
    }
    return count != 0;
}

void mxp__itt_histogram_submit(itt_histogram *histogram, size_t count, void *x, void *y)
{
    double sums[3] = {0, 0, 0}, places[3] = {0, 0, 0};
    if (histogram == NULL || y == NULL || !mxp_enabled(MXP_CLASS_USER) ||
        !sum_up(y, count, histogram->y_type, sums)) {
        return;
    }
    mxp_arg args[6] = {mxp_u64(mxp_string("count"), count), mxp_f64(mxp_string("sum"), sums[0]),
                       mxp_f64(mxp_string("min"), sums[1]), mxp_f64(mxp_string("max"), sums[2])};
    uint32_t used = 4;
    if (x != NULL && sum_up(x, count, histogram->x_type, places)) {
        args[used++] = mxp_f64(mxp_string("x.min"), places[1]);
        args[used++] = mxp_f64(mxp_string("x.max"), places[2]);
    }
    const uint64_t now = mxp_ticks();
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = mxp_atomic_load(&histogram->id),
                                              .begin_ticks = now,
                                              .end_ticks = now,
                                              .arg_count = used,
                                              .args = args});
}
