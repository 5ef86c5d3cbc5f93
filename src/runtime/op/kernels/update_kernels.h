// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of the rules of updates. What a rule reads of `given` is copied first: a
// store to an array of doubles could change it, as far as the compiler knows.

// w - lr (g + wd w)
MXN_VECTOR_LOOP void NAME(sgd)(const mxn_update *given)
{
    const mxn_update u = *given;
    const T *w = u.weight, *raw = u.gradient;
    T *to = u.to;
    MXN_EACH_ALONE
    for (size_t i = 0; i < u.count; i++) {
        const double g = cut((double)raw[i] * u.scale, u.clip);
        to[i] = (T)((1 - u.lr * u.wd) * (double)w[i] - u.lr * g);
    }
}

// m = momentum m - lr (g + wd w); w + m
MXN_VECTOR_LOOP void NAME(sgd_mom)(const mxn_update *given)
{
    const mxn_update u = *given;
    const T *w = u.weight, *raw = u.gradient;
    T *m = u.state, *to = u.to;
    MXN_EACH_ALONE
    for (size_t i = 0; i < u.count; i++) {
        const double g = cut((double)raw[i] * u.scale, u.clip);
        const T next = (T)(u.momentum * (double)m[i] - u.lr * (u.wd * (double)w[i] + g));
        m[i] = next;
        to[i] = w[i] + next;
    }
}

// The clip is of g + wd w, as the original does it.
MXN_VECTOR_LOOP void NAME(adam)(const mxn_update *given)
{
    const mxn_update u = *given;
    const T *w = u.weight, *raw = u.gradient;
    T *mean = u.state, *var = u.second_state, *to = u.to;
    MXN_EACH_ALONE
    for (size_t i = 0; i < u.count; i++) {
        const double g = cut((double)raw[i] * u.scale + u.wd * (double)w[i], u.clip);
        const T first = (T)(u.beta1 * (double)mean[i] + (1 - u.beta1) * g);
        const T second = (T)(u.beta2 * (double)var[i] + (1 - u.beta2) * g * g);
        mean[i] = first;
        var[i] = second;
        to[i] = (T)((double)w[i] - u.lr * (double)first / (sqrt((double)second) + u.epsilon));
    }
}

// Nesterov's: m = momentum m - lr (g + wd w); w + momentum m - lr (g + wd w)
MXN_VECTOR_LOOP void NAME(nag)(const mxn_update *given)
{
    const mxn_update u = *given;
    const T *w = u.weight, *raw = u.gradient;
    T *m = u.state, *to = u.to;
    MXN_EACH_ALONE
    for (size_t i = 0; i < u.count; i++) {
        const double g = cut((double)raw[i] * u.scale, u.clip);
        const double step = u.lr * (u.wd * (double)w[i] + g);
        const double next = u.momentum * (double)m[i] - step;
        m[i] = (T)next;
        to[i] = (T)((double)w[i] + u.momentum * next - step);
    }
}

MXN_VECTOR_LOOP void NAME(signsgd)(const mxn_update *given)
{
    const mxn_update u = *given;
    const T *w = u.weight, *raw = u.gradient;
    T *to = u.to;
    MXN_EACH_ALONE
    for (size_t i = 0; i < u.count; i++) {
        to[i] = (T)((1 - u.lr * u.wd) * (double)w[i] - u.lr * sign_of((double)raw[i]));
    }
}

// m = momentum m - (1 - momentum) (g + wd w); a step along its sign
MXN_VECTOR_LOOP void NAME(signum)(const mxn_update *given)
{
    const mxn_update u = *given;
    const T *weight = u.weight, *raw = u.gradient;
    T *m = u.state, *to = u.to;
    MXN_EACH_ALONE
    for (size_t i = 0; i < u.count; i++) {
        const double w = (double)weight[i], g = cut((double)raw[i] * u.scale, u.clip);
        const T next = (T)(u.momentum * (double)m[i] - (1 - u.momentum) * (u.wd * w + g));
        m[i] = next;
        to[i] = (T)((1 - u.lr * u.weight_decay) * w + u.lr * sign_of((double)next));
    }
}

// The clip is of g + wd w, as the original does it; a second one, of the weight, comes last.
MXN_VECTOR_LOOP void NAME(rmsprop)(const mxn_update *given)
{
    const mxn_update u = *given;
    const T *weight = u.weight, *raw = u.gradient;
    T *n = u.state, *to = u.to;
    MXN_EACH_ALONE
    for (size_t i = 0; i < u.count; i++) {
        const double w = (double)weight[i];
        const double g = cut((double)raw[i] * u.scale + u.wd * w, u.clip);
        const T next = (T)(u.rho * (double)n[i] + (1 - u.rho) * g * g);
        n[i] = next;
        to[i] = (T)cut(w - u.lr * g / sqrt((double)next + u.epsilon), u.weight_clip);
    }
}

MXN_VECTOR_LOOP void NAME(rmspropalex)(const mxn_update *given)
{
    const mxn_update u = *given;
    const T *weight = u.weight, *raw = u.gradient;
    T *n = u.state, *mean = u.second_state, *delta = u.third_state, *to = u.to;
    MXN_EACH_ALONE
    for (size_t i = 0; i < u.count; i++) {
        const double w = (double)weight[i];
        const double g = cut((double)raw[i] * u.scale + u.wd * w, u.clip);
        const T square = (T)(u.rho * (double)n[i] + (1 - u.rho) * g * g);
        const T middle = (T)(u.rho * (double)mean[i] + (1 - u.rho) * g);
        const double spread = (double)square - (double)middle * (double)middle + u.epsilon;
        const T next = (T)(u.momentum * (double)delta[i] - u.lr * g / sqrt(spread));
        n[i] = square;
        mean[i] = middle;
        delta[i] = next;
        to[i] = (T)cut(w + (double)next, u.weight_clip);
    }
}

// Follows the regularized leader: z sums what weights the gradients ask for, n their squares; where
// z is no more than lamda1, the weight is 0.
MXN_VECTOR_LOOP void NAME(ftrl)(const mxn_update *given)
{
    const mxn_update u = *given;
    const T *w = u.weight, *raw = u.gradient;
    T *z = u.state, *n = u.second_state, *to = u.to;
    MXN_EACH_ALONE
    for (size_t i = 0; i < u.count; i++) {
        const double g = cut((double)raw[i] * u.scale, u.clip), before = (double)n[i];
        const double faster = (sqrt(before + g * g) - sqrt(before)) / u.lr;
        const T asked = (T)((double)z[i] + g - faster * (double)w[i]);
        const T squares = (T)(before + g * g);
        const double far = fabs((double)asked) - u.lamda1;
        const double next =
            -sign_of((double)asked) * far / ((u.beta + sqrt((double)squares)) / u.lr + u.wd);
        z[i] = asked;
        n[i] = squares;
        to[i] = far > 0 ? (T)next : 0;
    }
}

// Follows the moving leader. The clip is of g + wd w, as the original does it.
MXN_VECTOR_LOOP void NAME(ftml)(const mxn_update *given)
{
    const mxn_update u = *given;
    const T *weight = u.weight, *raw = u.gradient;
    T *d = u.state, *v = u.second_state, *z = u.third_state, *to = u.to;
    const double rate = (1 - pow(u.beta1, u.t)) / u.lr, whole = 1 - pow(u.beta2, u.t);
    MXN_EACH_ALONE
    for (size_t i = 0; i < u.count; i++) {
        const double w = (double)weight[i];
        const double g = cut((double)raw[i] * u.scale + u.wd * w, u.clip);
        const T square = (T)(u.beta2 * (double)v[i] + (1 - u.beta2) * g * g);
        const T scale = (T)(rate * (sqrt((double)square / whole) + u.epsilon));
        const T next = (T)(u.beta1 * (double)z[i] + (1 - u.beta1) * g -
                           ((double)scale - u.beta1 * (double)d[i]) * w);
        v[i] = square;
        d[i] = scale;
        z[i] = next;
        to[i] = (T)(-(double)next / (double)scale);
    }
}

// Not the new weight but the direction of its step, whose length depends on both norms.
MXN_VECTOR_LOOP void NAME(lamb)(const mxn_update *given)
{
    const mxn_update u = *given;
    const T *w = u.weight, *raw = u.gradient;
    T *mean = u.state, *var = u.second_state, *to = u.to;
    const double first_whole = u.t > 0 ? 1 - pow(u.beta1, u.t) : 1;
    const double second_whole = u.t > 0 ? 1 - pow(u.beta2, u.t) : 1;
    MXN_EACH_ALONE
    for (size_t i = 0; i < u.count; i++) {
        const double g = cut((double)raw[i] * u.scale, u.clip);
        const T first = (T)(u.beta1 * (double)mean[i] + (1 - u.beta1) * g);
        const T second = (T)(u.beta2 * (double)var[i] + (1 - u.beta2) * g * g);
        const double root = sqrt((double)second / second_whole) + u.epsilon;
        mean[i] = first;
        var[i] = second;
        to[i] = (T)((double)first / first_whole / root + u.wd * (double)w[i]);
    }
}
