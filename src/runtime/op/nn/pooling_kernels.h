// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of poolings, place by place. Neighbours of a plane lie `step` apart. No
// loop is vector code: windows are short, and their elements are taken in order.
static T NAME(power)(T x, int power)
{
    return power == 1 ? x : power == 2 ? x * x : x * x * x;
}

// What an element of a sum or a norm adds to it; with `g` to the gradient of that element.
static inline T NAME(part)(const mxn_pool *pool, T x, T y, T scale, const T *g)
{
    const bool is_norm = pool->kind == MXN_POOL_LP;
    if (g == NULL) {
        return is_norm ? NAME(power)(x, pool->power) : x * scale;
    }
    return !is_norm ? *g * scale : pool->power == 1 ? *g : *g * NAME(power)(x / y, pool->power - 1);
}

// Forward; or with `g` the gradient, which is added to `back`.
static T NAME(place)(const mxn_pool *pool, const place *p, int64_t step, const T *in, T y,
                     const T *g, T *back)
{
    const mxn_window *w = &pool->window;
    const int kind = pool->kind;
    const T scale = kind == MXN_POOL_AVG && p->count > 0 ? (T)(1.0 / p->count) : 1;
    T result = kind == MXN_POOL_MAX ? NAME(lowest) : 0;
    int64_t where = -1;
    for (int64_t z = p->begin[0]; z < p->end[0]; z++) {
        for (int64_t r = p->begin[1]; r < p->end[1]; r++) {
            for (int64_t x = p->begin[2]; x < p->end[2]; x++) {
                const int64_t at = ((z * w->in[1] + r) * w->in[2] + x) * step;
                if (kind == MXN_POOL_MAX) {
                    if (where < 0 || in[at] > result) {
                        result = in[at];
                        where = at;
                    }
                } else if (g == NULL) {
                    result += NAME(part)(pool, in[at], y, scale, NULL);
                } else {
                    back[at] += NAME(part)(pool, in[at], y, scale, g);
                }
            }
        }
    }
    if (kind == MXN_POOL_MAX && g != NULL && where >= 0) {
        back[where] += *g;
    }
    return kind == MXN_POOL_LP ? (T)root((double)result, pool->power) : result;
}

static void NAME(plane)(const mxn_pool *pool, int64_t step, const T *in, const T *g, T *out,
                        T *back)
{
    const mxn_window *w = &pool->window;
    int64_t at[3];
    for (at[0] = 0; at[0] < w->out[0]; at[0]++) {
        for (at[1] = 0; at[1] < w->out[1]; at[1]++) {
            for (at[2] = 0; at[2] < w->out[2]; at[2]++, out += step) {
                const place p = place_at(pool, at);
                if (g == NULL) {
                    *out = NAME(place)(pool, &p, step, in, 0, NULL, NULL);
                } else {
                    NAME(place)(pool, &p, step, in, *out, g, back);
                    g += step;
                }
            }
        }
    }
}

static void NAME(all)(const mxn_pool *pool, const void *data, const void *gradient, void *result,
                      void *to_data)
{
    const mxn_window *w = &pool->window;
    const T *in = data, *g = gradient;
    T *out = result, *back = to_data;
    const int64_t in_size = w->in[0] * w->in[1] * w->in[2];
    const int64_t out_size = w->out[0] * w->out[1] * w->out[2];
    const int64_t step = pool->channels_last ? pool->channels : 1;
    for (int64_t i = 0; i < pool->images * pool->channels; i++) {
        const int64_t plane = i % pool->channels, image = i - plane;
        const int64_t from = pool->channels_last ? image * in_size + plane : i * in_size;
        const int64_t to = pool->channels_last ? image * out_size + plane : i * out_size;
        NAME(plane)
        (pool, step, in + from, g == NULL ? NULL : g + to, out + to,
         back == NULL ? NULL : back + from);
    }
}
