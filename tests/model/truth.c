// SPDX-License-Identifier: Apache-2.0
#include "truth.h"

#include <stdlib.h>
#include <string.h>

static truth_row *find(truth *all, truth_kind kind, const char *name)
{
    for (int i = 0; i < all->rows; i++) {
        if (all->row[i].kind == kind && strcmp(all->row[i].name, name) == 0) {
            return &all->row[i];
        }
    }
    if (all->rows == TRUTH_ROWS_MAX) {
        fputs("the model has too few rows\n", stderr);
        abort();
    }
    truth_row *row = &all->row[all->rows++];
    *row = (truth_row){.kind = kind};
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

void truth_add(truth *all, truth_kind kind, const char *name, uint64_t count, uint64_t last)
{
    if (count != 0) {
        truth_row *row = find(all, kind, name);
        row->count += count;
        row->last = last;
    }
}

void truth_add_all(truth *all, const truth *more)
{
    for (int i = 0; i < more->rows; i++) {
        const truth_row *row = &more->row[i];
        truth_add(all, row->kind, row->name, row->count, row->last);
    }
}

void truth_print(const truth *all, FILE *out)
{
    static const char *const kinds[TRUTH_KINDS] = {"span",   "task",    "frame",  "event",
                                                   "marker", "instant", "counter"};
    for (int kind = 0; kind < TRUTH_KINDS; kind++) {
        fprintf(out, "%s\"%s\": {", kind == 0 ? "{" : ", ", kinds[kind]);
        const char *between = "";
        for (int i = 0; i < all->rows; i++) {
            const truth_row *row = &all->row[i];
            if ((int)row->kind == kind) {
                fprintf(out, "%s\"%s\": [%llu, %llu]", between, row->name,
                        (unsigned long long)row->count, (unsigned long long)row->last);
                between = ", ";
            }
        }
        fputc('}', out);
    }
    fputc('}', out);
}
