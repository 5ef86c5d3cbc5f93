// SPDX-License-Identifier: Apache-2.0
// A template of images whose channels are normalised, for T float and double.
static void NAME(normalize)(const mxn_job *job, bool backward, int64_t planes, int64_t channels,
                            int64_t pixels)
{
    const normalize_params *p = mxn__values(job);
    for (int64_t plane = 0; plane < planes; plane++) {
        const T *from = (const T *)job->inputs[0].data + plane * pixels;
        T *to = (T *)job->outputs[0].data + plane * pixels;
        const T mean = backward ? 0 : (T)element_of(&p->mean, plane % channels);
        const T std = (T)element_of(&p->std, plane % channels);
        for (int64_t i = 0; i < pixels; i++) {
            to[i] = (from[i] - mean) / std;
        }
    }
}
