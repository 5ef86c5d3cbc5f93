// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/statistics/correction.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct ranked_p {
    double p;
    size_t place;
} ranked_p;

static int ascending(const void *a, const void *b)
{
    const ranked_p *x = a, *y = b;
    const int by_place = (x->place > y->place) - (x->place < y->place);
    return x->p == y->p ? by_place : (x->p > y->p) - (x->p < y->p);
}

static double at_most_1(double p)
{
    return p < 1 ? p : 1;
}

// From the least p upwards, none below the one before it.
static void put_holm(const ranked_p *ranked, size_t count, double *adjusted)
{
    double least = 0;
    for (size_t i = 0; i < count; i++) {
        const double p = at_most_1((double)(count - i) * ranked[i].p);
        least = p > least ? p : least;
        adjusted[ranked[i].place] = least;
    }
}

// From the greatest p downwards, none above the one before it.
static void put_benjamini_hochberg(const ranked_p *ranked, size_t count, double *adjusted)
{
    double most = 1;
    for (size_t i = count; i-- > 0;) {
        const double p = at_most_1((double)count / (double)(i + 1) * ranked[i].p);
        most = p < most ? p : most;
        adjusted[ranked[i].place] = most;
    }
}

static int correct(const double *p, size_t count, double *adjusted,
                   void (*put)(const ranked_p *, size_t, double *))
{
    if (count == 0) {
        return MXP_OK;
    }
    ranked_p *ranked = mxp__alloc(count * sizeof *ranked);
    if (ranked == NULL) {
        return mxp__fail_memory("a correction for several tests");
    }
    for (size_t i = 0; i < count; i++) {
        ranked[i] = (ranked_p){p[i], i};
    }
    qsort(ranked, count, sizeof *ranked, ascending);
    put(ranked, count, adjusted);
    mxp__free(ranked, count * sizeof *ranked);
    return MXP_OK;
}

int mxp__correction_holm(const double *p, size_t count, double *adjusted)
{
    return correct(p, count, adjusted, put_holm);
}

int mxp__correction_benjamini_hochberg(const double *p, size_t count, double *adjusted)
{
    return correct(p, count, adjusted, put_benjamini_hochberg);
}
