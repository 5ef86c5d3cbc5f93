// SPDX-License-Identifier: Apache-2.0
// Finding rows.
#include "rows.h"

#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"

mxp_aggregate *rows_of(mxp_source *source, int group, const mxp_row **rows, size_t *count)
{
    mxp_aggregate *aggregate;
    assert_int_equal(mxp__aggregate_create(group, &aggregate), MXP_OK);
    assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
    assert_int_equal(mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, INT64_MIN, rows, count),
                     MXP_OK);
    return aggregate;
}

const mxp_row *row_find(const mxp_row *rows, size_t count, const char *section, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].section_length == strlen(section) && rows[i].name_length == strlen(name) &&
            memcmp(rows[i].section, section, rows[i].section_length) == 0 &&
            memcmp(rows[i].name, name, rows[i].name_length) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

const mxp_row *row_get(const mxp_row *rows, size_t count, const char *section, const char *name)
{
    const mxp_row *row = row_find(rows, count, section, name);
    if (row == NULL) {
        char *order = row_order(rows, count);
        print_error("no row %s/%s in: %s\n", section, name, order);
        free(order);
    }
    assert_non_null(row);
    return row;
}

char *row_order(const mxp_row *rows, size_t count)
{
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++) {
        bytes += rows[i].section_length + rows[i].name_length + 2;
    }
    char *order = calloc(1, bytes);
    assert_non_null(order);
    for (size_t i = 0; i < count; i++) {
        strcat(order, i > 0 ? " " : "");
        strncat(order, rows[i].section, rows[i].section_length);
        strcat(order, "/");
        strncat(order, rows[i].name, rows[i].name_length);
    }
    return order;
}
