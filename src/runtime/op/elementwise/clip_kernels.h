// SPDX-License-Identifier: Apache-2.0
// A template of clip and its gradient; limits are numbers of the type.
static void NAME(clip)(const void *from, const void *low, const void *high, void *to, size_t count)
{
    const T *x = from, *least = low, *most = high;
    const T below = *least, above = *most;
    T *out = to;
    MXN_EACH_ALONE for (size_t i = 0; i < count; i++)
    {
        const T no_less = x[i] < below ? below : x[i];
        out[i] = x[i] > above ? above : no_less;
    }
}

static void NAME(clip_back)(const mxn_job *job, const void *low, const void *high, size_t count)
{
    const T *g = job->inputs[0].data, *x = job->inputs[1].data;
    const T *least = low, *most = high;
    T *out = job->outputs[0].data;
    for (size_t i = 0; i < count; i++) {
        out[i] = x[i] < *least || x[i] > *most ? 0 : g[i];
    }
}
