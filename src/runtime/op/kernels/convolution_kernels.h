// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of convolutions. Rows of neighbours are vector code; the sums that the
// gradient of a weight is made of are one number after the other.
static inline void NAME(add_steps)(T *to, int64_t to_step, const T *from, int64_t from_step,
                                   T factor, int64_t count)
{
    MXN_EACH_ALONE
    for (int64_t x = 0; x < count; x++) {
        to[x * to_step] += factor * from[x * from_step];
    }
}

MXN_VECTOR_LOOP void NAME(add_row)(T *to, const T *from, T factor, int64_t count)
{
    NAME(add_steps)(to, 1, from, 1, factor, count);
}

static void NAME(add)(T *to, int64_t to_step, const T *from, int64_t from_step, T factor,
                      int64_t count)
{
    if (to_step == 1 && from_step == 1) {
        NAME(add_row)(to, from, factor, count);
    } else {
        NAME(add_steps)(to, to_step, from, from_step, factor, count);
    }
}

// One row: `count` places of the result, `out_step` apart, against the data's, `in_step` apart.
static void NAME(row)(int kind, T *out, int64_t out_step, T *in, int64_t in_step, T *weight,
                      int64_t count)
{
    if (kind == MXN_CONV_FORWARD) {
        NAME(add)(out, out_step, in, in_step, *weight, count);
        return;
    }
    if (kind == MXN_CONV_TO_DATA) {
        NAME(add)(in, in_step, out, out_step, *weight, count);
        return;
    }
    T sum = 0;
    for (int64_t x = 0; x < count; x++) {
        sum += out[x * out_step] * in[x * in_step];
    }
    *weight += sum;
}

// One place of a kernel: begin .. end of the result against the data that it then lies on.
static void NAME(place)(const mxn_window *w, const distances *s, int kind, T *out, T *in, T *weight,
                        const int64_t k[3], const int64_t begin[3], const int64_t end[3])
{
    const int64_t count = end[2] - begin[2];
    const int64_t x = begin[2] * w->stride[2] + k[2] * w->dilate[2] - w->pad[2];
    for (int64_t z = begin[0]; z < end[0] && count > 0; z++) {
        const int64_t iz = z * w->stride[0] + k[0] * w->dilate[0] - w->pad[0];
        for (int64_t y = begin[1]; y < end[1]; y++) {
            const int64_t iy = y * w->stride[1] + k[1] * w->dilate[1] - w->pad[1];
            const int64_t to = (z * w->out[1] + y) * w->out[2] + begin[2];
            const int64_t from = (iz * w->in[1] + iy) * w->in[2] + x;
            NAME(row)
            (kind, out + to * s->out, s->out, in + from * s->in, s->in * w->stride[2], weight,
             count);
        }
    }
}

// One image of a channel, one of a filter, one kernel between them.
static void NAME(plane)(const mxn_window *w, const distances *s, int kind, T *out, T *in, T *kernel)
{
    int64_t begin[3], end[3], k[3];
    for (k[0] = 0; k[0] < w->kernel[0]; k[0]++) {
        valid_range(w, 0, k[0], &begin[0], &end[0]);
        for (k[1] = 0; k[1] < w->kernel[1]; k[1]++) {
            valid_range(w, 1, k[1], &begin[1], &end[1]);
            for (k[2] = 0; k[2] < w->kernel[2]; k[2]++, kernel += s->kernel) {
                valid_range(w, 2, k[2], &begin[2], &end[2]);
                NAME(place)(w, s, kind, out, in, kernel, k, begin, end);
            }
        }
    }
}

static void NAME(all)(const mxn_conv *c, int kind)
{
    const distances s = distances_of(c);
    const int64_t filters = c->filters / c->groups;
    for (int64_t n = 0; n < c->images; n++) {
        for (int64_t f = 0; f < c->filters; f++) {
            T *out = (T *)c->result + n * s.out_image + f * s.out_channel;
            for (int64_t i = 0; i < c->channels; i++) {
                const int64_t channel = f / filters * c->channels + i;
                T *in = (T *)c->data + n * s.in_image + channel * s.in_channel;
                T *kernel =
                    (T *)c->weight + f * c->channels * c->kernel_size + i * s.kernel_channel;
                NAME(plane)(&c->window, &s, kind, out, in, kernel);
            }
        }
    }
}

// ---- a number for each plane --------------------------------------------------------------------
static void NAME(bias_plane)(int what, T *at, int64_t step, int64_t size, T *bias)
{
    if (what == MXN_BIAS_SUM) {
        T sum = *bias;
        for (int64_t k = 0; k < size; k++) {
            sum += at[k * step];
        }
        *bias = sum;
        return;
    }
    const T value = bias == NULL ? 0 : *bias;
    for (int64_t k = 0; k < size; k++) {
        at[k * step] = value + (what == MXN_BIAS_ADD ? at[k * step] : 0);
    }
}

static void NAME(bias)(const mxn_conv *c, int what, void *all, int64_t channels, int64_t size,
                       void *biases)
{
    const int64_t step = c->channels_last ? channels : 1;
    T *images = all, *bias = biases;
    for (int64_t i = 0; i < c->images * channels; i++) {
        const int64_t channel = i % channels;
        const int64_t at = c->channels_last ? (i - channel) * size + channel : i * size;
        NAME(bias_plane)(what, images + at, step, size, bias == NULL ? NULL : bias + channel);
    }
}
