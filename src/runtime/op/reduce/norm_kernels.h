// SPDX-License-Identifier: Apache-2.0
// A template of the gradients of norms and of nansum, for T float and double.
static void NAME(backward)(const mxn_job *job, bool one, mxn_iterator *it)
{
    const bool norm = kind_of(job->params) == NORM;
    const T *g = job->inputs[0].data, *x = job->inputs[1].data;
    const T *y = norm ? job->inputs[2].data : NULL;
    T *to = job->outputs[0].data;
    for (bool more = it->total > 0; more; more = mxn__iterator_next(it)) {
        for (int64_t i = 0; i < it->count; i++, x++) {
            const int64_t at = it->at[0] + i * it->step[0];
            const T sign = (T)((*x > 0) - (*x < 0));
            *to++ = !norm        ? (*x != *x ? 0 : g[at])
                    : one        ? g[at] * sign
                    : y[at] == 0 ? 0
                                 : g[at] * *x / y[at];
        }
    }
}
