// SPDX-License-Identifier: Apache-2.0
// A template of the gradient of the extreme element.
static void NAME(spread_extreme)(const mxn_job *job, mxn_walk *walk)
{
    const T *g = job->inputs[0].data, *in = job->inputs[1].data, *out = job->inputs[2].data;
    T *to = job->outputs[0].data;
    for (bool more = walk->total > 0; more; more = mxn__walk_next(walk)) {
        for (int64_t i = 0; i < walk->count; i++) {
            int64_t from = walk->at[0] + i * walk->step[0];
            *to++ = *in++ == out[from] ? g[from] : 0;
        }
    }
}
