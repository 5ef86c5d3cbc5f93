// SPDX-License-Identifier: Apache-2.0
// A template of the gradient of the extreme element.
static void NAME(spread_extreme)(const mxn_job *job, mxn_iterator *it)
{
    const T *g = job->inputs[0].data, *in = job->inputs[1].data, *out = job->inputs[2].data;
    T *to = job->outputs[0].data;
    for (bool more = it->total > 0; more; more = mxn__iterator_next(it)) {
        for (int64_t i = 0; i < it->count; i++) {
            int64_t from = it->at[0] + i * it->step[0];
            *to++ = *in++ == out[from] ? g[from] : 0;
        }
    }
}
