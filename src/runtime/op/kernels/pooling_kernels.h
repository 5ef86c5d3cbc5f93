// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of poolings, place by place. Neighbours of a plane lie `step` apart. No
// loop is vector code: windows are short, and their elements are taken in order.
static T NAME(power)(T x, int power)
{
    return power == 1 ? x : power == 2 ? x * x : x * x * x;
}

// Where row r of the image's part z begins.
static int64_t NAME(row_at)(const mxn_window *w, int64_t z, int64_t r)
{
    return (z * w->in[1] + r) * w->in[2];
}

// The first of the largest; where it is goes to `where`, or -1 if the window sees nothing but pad.
static T NAME(largest)(const mxn_pool *pool, const place *p, int64_t step, const T *in,
                       int64_t *where)
{
    T result = NAME(lowest);
    int64_t found = -1;
    for (int64_t z = p->begin[0]; z < p->end[0]; z++) {
        for (int64_t r = p->begin[1]; r < p->end[1]; r++) {
            const int64_t row = NAME(row_at)(&pool->window, z, r);
            for (int64_t x = p->begin[2]; x < p->end[2]; x++) {
                const int64_t at = (row + x) * step;
                if (found < 0 || in[at] > result) {
                    result = in[at];
                    found = at;
                }
            }
        }
    }
    *where = found;
    return result;
}

static T NAME(scale_of)(const mxn_pool *pool, const place *p)
{
    return pool->kind == MXN_POOL_AVG && p->count > 0 ? (T)(1.0 / p->count) : 1;
}

static T NAME(sum)(const mxn_pool *pool, const place *p, int64_t step, const T *in)
{
    const bool is_norm = pool->kind == MXN_POOL_LP;
    const T scale = NAME(scale_of)(pool, p);
    T result = 0;
    for (int64_t z = p->begin[0]; z < p->end[0]; z++) {
        for (int64_t r = p->begin[1]; r < p->end[1]; r++) {
            const T *row = in + NAME(row_at)(&pool->window, z, r) * step;
            for (int64_t x = p->begin[2]; x < p->end[2]; x++) {
                const T value = row[x * step];
                result += is_norm ? NAME(power)(value, pool->power) : value * scale;
            }
        }
    }
    return is_norm ? (T)root((double)result, pool->power) : result;
}

// What one element of a sum or, with the result y, of a norm adds to the gradient of x.
static T NAME(slope)(const mxn_pool *pool, T x, T y, T g, T scale)
{
    if (pool->kind != MXN_POOL_LP) {
        return g * scale;
    }
    return pool->power == 1 ? g : g * NAME(power)(x / y, pool->power - 1);
}

static void NAME(place_back)(const mxn_pool *pool, const place *p, int64_t step, const T *in, T y,
                             T g, T *back)
{
    if (pool->kind == MXN_POOL_MAX) {
        int64_t where;
        NAME(largest)(pool, p, step, in, &where);
        if (where >= 0) {
            back[where] += g;
        }
        return;
    }
    const T scale = NAME(scale_of)(pool, p);
    for (int64_t z = p->begin[0]; z < p->end[0]; z++) {
        for (int64_t r = p->begin[1]; r < p->end[1]; r++) {
            const int64_t row = NAME(row_at)(&pool->window, z, r);
            for (int64_t x = p->begin[2]; x < p->end[2]; x++) {
                const int64_t at = (row + x) * step;
                back[at] += NAME(slope)(pool, in[at], y, g, scale);
            }
        }
    }
}

static void NAME(plane)(const mxn_pool *pool, int64_t step, const T *in, const T *g, T *out,
                        T *back)
{
    const mxn_window *w = &pool->window;
    int64_t at[3], where;
    for (at[0] = 0; at[0] < w->out[0]; at[0]++) {
        for (at[1] = 0; at[1] < w->out[1]; at[1]++) {
            for (at[2] = 0; at[2] < w->out[2]; at[2]++, out += step) {
                const place p = place_at(pool, at);
                if (g != NULL) {
                    NAME(place_back)(pool, &p, step, in, *out, *g, back);
                    g += step;
                } else if (pool->kind == MXN_POOL_MAX) {
                    *out = NAME(largest)(pool, &p, step, in, &where);
                } else {
                    *out = NAME(sum)(pool, &p, step, in);
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
