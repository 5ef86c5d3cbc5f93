// SPDX-License-Identifier: Apache-2.0
// CTCLoss: minus the logarithm of the chance that a sequence of classes, once repetitions are
// joined and blanks left out, reads as a label (Graves, Fernandez, Gomez, Schmidhuber 2006). A path
// goes through blank, label 0, blank, label 1 ... blank; sums over paths are kept as logarithms.
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct ctc_params {
    bool use_data_lengths, use_label_lengths;
    int32_t blank_label;
} ctc_params;

enum { FIRST, LAST };
static const mxn_word blanks[] = {{"first", FIRST}, {"last", LAST}, {0}};

static const mxn_field ctc_fields[] = {
    {MXN_FIELD(ctc_params, use_data_lengths, BOOL, "0")},
    {MXN_FIELD(ctc_params, use_label_lengths, BOOL, "0")},
    {MXN_FIELD(ctc_params, blank_label, ENUM, "first"), .words = blanks},
    {0},
};

enum { DATA, LABEL, DATA_LENGTHS, LABEL_LENGTHS };  // names of inputs

static uint32_t ctc_inputs(const void *values)
{
    const ctc_params *p = values;
    return 2u + p->use_data_lengths + p->use_label_lengths;
}

static uint32_t ctc_name(const void *values, uint32_t input)
{
    const ctc_params *p = values;
    return input == DATA_LENGTHS && !p->use_data_lengths ? LABEL_LENGTHS : input;
}

static uint32_t backward_inputs(const void *values)
{
    return 1 + ctc_inputs(values);
}

// ---- shapes -------------------------------------------------------------------------------------
static int ctc_shapes(const mxn_shapes *shapes)
{
    const ctc_params *p = (const void *)shapes->params->values;
    const mxn_shape *data = shapes->inputs[DATA], *label = shapes->inputs[LABEL];
    if (!mxn_shape_known(data)) {
        return 0;
    }
    if (data->ndim != 3) {
        return mxn__shape_refused(shapes, DATA, "it must be times, samples and classes");
    }
    if (data->dims[2] == 0) {
        return mxn__shape_refused(shapes, DATA, "it must have a class, the blank");
    }
    const mxn_shape samples = {.ndim = 1, .dims = {data->dims[1]}};
    if (mxn_shape_known(label) && (label->ndim != 2 || label->dims[0] != data->dims[1])) {
        return mxn__shape_refused(shapes, LABEL, "it must be %lld samples of labels",
                                  (long long)data->dims[1]);
    }
    if (mxn_shape_known(label) && label->dims[1] > data->dims[0]) {
        return mxn__shape_refused(shapes, LABEL, "it has more labels than the %lld times",
                                  (long long)data->dims[0]);
    }
    int error = mxn__shape_output(shapes, 0, &samples);
    for (uint32_t i = DATA_LENGTHS; error == 0 && i < ctc_inputs(p); i++) {
        error = mxn__shape_input(shapes, i, &samples);
    }
    return error;
}

// ---- one sample ---------------------------------------------------------------------------------
typedef struct ctc_view {
    const ctc_params *params;
    const mxn_operand *inputs;  // DATA and so on
    int64_t times, samples, classes, labels;
} ctc_view;

typedef struct ctc_sample {
    int64_t index, times, count, classes;  // `count`: labels
    int64_t *states;  // the class of each of 2 * count + 1
    double *chances;  // logarithms: of each time and class
    double *ways;  // of each time and state: of what leads there
    double *row, *before;  // of each state
} ctc_sample;

static ctc_view view_of(const mxn_job *job, const mxn_operand *inputs)
{
    const mxn_shape *data = inputs[DATA].shape;
    return (ctc_view){
        .params = mxn__values(job),
        .inputs = inputs,
        .times = data->dims[0],
        .samples = data->dims[1],
        .classes = data->dims[2],
        .labels = inputs[LABEL].shape->dims[1],
    };
}

static uint64_t workspace_of(const ctc_view *v)
{
    const uint64_t states = 2 * (uint64_t)v->labels + 1, times = (uint64_t)v->times;
    return (times * (uint64_t)v->classes + (times + 3) * states) * sizeof(double);
}

static ctc_sample sample_in(const ctc_view *v, void *workspace)
{
    const int64_t states = 2 * v->labels + 1;
    ctc_sample s = {.classes = v->classes, .chances = workspace};
    s.ways = s.chances + v->times * v->classes;
    s.row = s.ways + v->times * states;
    s.before = s.row + states;
    s.states = (int64_t *)(void *)(s.before + states);
    return s;
}

static int64_t number_at(const mxn_operand *from, int64_t place)
{
    int64_t number;
    mxn_cast(&number, MXN_INT64,
             (const char *)from->data + (size_t)place * mxn_dtype_size(from->dtype), from->dtype,
             1);
    return number;
}

static int read_length(const ctc_view *v, uint32_t input, int64_t sample, int64_t most,
                       int64_t *length)
{
    *length = number_at(&v->inputs[input], sample);
    if (*length >= 0 && *length <= most) {
        return 0;
    }
    return mxp__fail(MXP_EINVAL,
                     "Operator CTCLoss: sample %lld has the length %lld, which is not 0 to %lld",
                     (long long)sample, (long long)*length, (long long)most);
}

static int read_lengths(const ctc_view *v, ctc_sample *s)
{
    const ctc_params *p = v->params;
    s->times = v->times;
    s->count = v->labels;
    int error = p->use_data_lengths ? read_length(v, 2, s->index, v->times, &s->times) : 0;
    if (error == 0 && p->use_label_lengths) {
        error = read_length(v, 2 + p->use_data_lengths, s->index, v->labels, &s->count);
    }
    return error;
}

// Labels up to the length, or to the first that says that there is none.
static int read_labels(const ctc_view *v, ctc_sample *s)
{
    const bool last = v->params->blank_label == LAST;
    const int64_t blank = last ? v->classes - 1 : 0, none = last ? -1 : 0, most = s->count;
    s->states[0] = blank;
    for (s->count = 0; s->count < most; s->count++) {
        const int64_t label = number_at(&v->inputs[LABEL], s->index * v->labels + s->count);
        if (!v->params->use_label_lengths && label == none) {
            break;
        }
        if (label < 0 || label >= v->classes) {
            return mxp__fail(MXP_EINVAL,
                             "Operator CTCLoss: label %lld of sample %lld is none of %lld classes",
                             (long long)label, (long long)s->index, (long long)v->classes);
        }
        s->states[2 * s->count + 1] = label;
        s->states[2 * s->count + 2] = blank;
    }
    return 0;
}

// Softmax over the classes, as logarithms.
static void read_chances(const ctc_view *v, const ctc_sample *s)
{
    const mxn_operand *data = &v->inputs[DATA];
    for (int64_t t = 0; t < s->times; t++) {
        double *to = s->chances + t * s->classes, largest = -INFINITY, sum = 0;
        const size_t place = (size_t)((t * v->samples + s->index) * s->classes);
        mxn_cast(to, MXN_FLOAT64, (const char *)data->data + place * mxn_dtype_size(data->dtype),
                 data->dtype, (size_t)s->classes);
        for (int64_t c = 0; c < s->classes; c++) {
            largest = fmax(largest, to[c]);
        }
        for (int64_t c = 0; c < s->classes; c++) {
            sum += exp(to[c] - largest);
        }
        for (int64_t c = 0; c < s->classes; c++) {
            to[c] -= largest + log(sum);
        }
    }
}

// log(exp(a) + exp(b))
static double either(double a, double b)
{
    const double high = fmax(a, b), low = fmin(a, b);
    return low == -INFINITY ? high : high + log1p(exp(low - high));
}

static bool may_skip(const ctc_sample *s, int64_t state)  // the blank before it
{
    return state >= 2 && state % 2 == 1 && s->states[state] != s->states[state - 2];
}

// Fills in `ways`; the loss. Infinite: there is no path.
static double forward_ways(const ctc_sample *s)
{
    const int64_t states = 2 * s->count + 1;
    for (int64_t t = 0; t < s->times; t++) {
        const double *chances = s->chances + t * s->classes, *from = s->ways + (t - 1) * states;
        double *to = s->ways + t * states;
        for (int64_t k = 0; k < states; k++) {
            double way = t == 0 ? (k < 2 ? 0 : -INFINITY) : from[k];
            way = t > 0 && k > 0 ? either(way, from[k - 1]) : way;
            way = t > 0 && may_skip(s, k) ? either(way, from[k - 2]) : way;
            to[k] = way + chances[s->states[k]];
        }
    }
    if (s->times == 0) {
        return s->count == 0 ? 0 : INFINITY;
    }
    const double *end = s->ways + (s->times - 1) * states;
    return -(states > 1 ? either(end[states - 1], end[states - 2]) : end[0]);
}

// The row before, of what leads from each state to the end, from that of the time after.
static void step_back(ctc_sample *s, int64_t t)
{
    const int64_t states = 2 * s->count + 1;
    const double *next = s->chances + (t + 1) * s->classes;
    for (int64_t k = 0; k < states; k++) {
        double way = s->row[k] + next[s->states[k]];
        way = k + 1 < states ? either(way, s->row[k + 1] + next[s->states[k + 1]]) : way;
        way = k + 2 < states && may_skip(s, k + 2)
                  ? either(way, s->row[k + 2] + next[s->states[k + 2]])
                  : way;
        s->before[k] = way;
    }
    double *swap = s->row;
    s->row = s->before;
    s->before = swap;
}

// The gradient of `loss` takes the place of `chances`.
static void to_gradient(ctc_sample *s, double loss, double head)
{
    const int64_t states = 2 * s->count + 1;
    for (int64_t k = 0; k < states; k++) {
        s->row[k] = k >= states - 2 ? 0 : -INFINITY;
    }
    for (int64_t t = s->times - 1; t >= 0; t--) {
        if (t < s->times - 1) {
            step_back(s, t);
            double *done = s->chances + (t + 1) * s->classes;
            for (int64_t c = 0; c < s->classes; c++) {  // taken by step_back for the last time
                done[c] = exp(done[c]) * head;
            }
            for (int64_t k = 0; k < states; k++) {
                done[s->states[k]] -= s->ways[(t + 1) * states + k] * head;
            }
        }
        double *ways = s->ways + t * states;
        for (int64_t k = 0; k < states; k++) {
            ways[k] = exp(ways[k] + s->row[k] + loss);
        }
    }
    for (int64_t c = 0; s->times > 0 && c < s->classes; c++) {
        s->chances[c] = exp(s->chances[c]) * head;
    }
    for (int64_t k = 0; s->times > 0 && k < states; k++) {
        s->chances[s->states[k]] -= s->ways[k] * head;
    }
}

static int begin_sample(const ctc_view *v, ctc_sample *s, int64_t index)
{
    s->index = index;
    int error = read_lengths(v, s);
    error = error != 0 ? error : read_labels(v, s);
    if (error == 0) {
        read_chances(v, s);
    }
    return error;
}

// ---- kernels ------------------------------------------------------------------------------------
static uint64_t forward_workspace(const mxn_job *job)
{
    const ctc_view v = view_of(job, job->inputs);
    return workspace_of(&v);
}

// A label that no path reads as counts for nothing, as in MXNet.
static int ctc_forward(mxn_job *job)
{
    const ctc_view v = view_of(job, job->inputs);
    ctc_sample s = sample_in(&v, job->workspace);
    const mxn_operand *out = &job->outputs[0];
    const size_t size = mxn_dtype_size(out->dtype);
    int error = 0;
    for (int64_t n = 0; error == 0 && n < v.samples; n++) {
        error = begin_sample(&v, &s, n);
        const double loss = error == 0 ? forward_ways(&s) : 0, kept = loss == INFINITY ? 0 : loss;
        mxn_cast((char *)out->data + (size_t)n * size, out->dtype, &kept, MXN_FLOAT64, 1);
    }
    return error;
}

static uint64_t backward_workspace(const mxn_job *job)
{
    const ctc_view v = view_of(job, job->inputs + 1);
    return workspace_of(&v);
}

static int ctc_backward(mxn_job *job)
{
    const ctc_view v = view_of(job, job->inputs + 1);
    const mxn_operand *out = &job->outputs[0], *heads = &job->inputs[0];
    const size_t size = mxn_dtype_size(out->dtype);
    int error = 0;
    memset(out->data, 0, mxn_shape_size(out->shape) * size);
    for (int64_t n = 0; error == 0 && n < v.samples; n++) {
        ctc_sample s = sample_in(&v, job->workspace);
        error = begin_sample(&v, &s, n);
        const double loss = error == 0 ? forward_ways(&s) : INFINITY;
        if (loss == INFINITY) {
            continue;
        }
        double head;
        mxn_cast(&head, MXN_FLOAT64, (const char *)heads->data + (size_t)n * size, heads->dtype, 1);
        to_gradient(&s, loss, head);
        for (int64_t t = 0; t < s.times; t++) {
            mxn_cast((char *)out->data + (size_t)((t * v.samples + n) * v.classes) * size,
                     out->dtype, s.chances + t * v.classes, MXN_FLOAT64, (size_t)v.classes);
        }
    }
    return error;
}

static const mxn_gradient_step *ctc_gradient(const void *values)
{
    static const mxn_gradient_step steps[][2] = {
        {{.op = "_backward_ctc_loss", .takes = "g0 i0 i1", .gives = "0"}, {0}},
        {{.op = "_backward_ctc_loss", .takes = "g0 i0 i1 i2", .gives = "0"}, {0}},
        {{.op = "_backward_ctc_loss", .takes = "g0 i0 i1 i2 i3", .gives = "0"}, {0}},
    };
    return steps[ctc_inputs(values) - 2];
}

// ---- the table ----------------------------------------------------------------------------------
static const mxn_op_def table[] = {
    {
        .name = "CTCLoss",
        .aliases = "_contrib_CTCLoss _contrib_ctc_loss _npx_ctc_loss ctc_loss",
        .inputs = "data label data_lengths label_lengths",
        .description = "How unlikely sequences of classes are to read as labels, blanks left out.",
        .fields = ctc_fields,
        .params_bytes = sizeof(ctc_params),
        .inputs_of = ctc_inputs,
        .name_of = ctc_name,
        .shapes = ctc_shapes,
        .types = mxn__types_of_first,
        .flags = MXN_OP_ANY_TYPE,
        .takes = MXN_TAKES_REALS,
        .gradient_of = ctc_gradient,
        .forward = ctc_forward,
        .workspace = forward_workspace,
        .flops_each = 1000,
    },
    {
        .name = "_backward_ctc_loss",
        .fields = ctc_fields,
        .params_bytes = sizeof(ctc_params),
        .inputs_of = backward_inputs,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE,
        .takes = MXN_TAKES_REALS,
        .forward = ctc_backward,
        .workspace = backward_workspace,
        .flops_each = 50,
    },
};

MXN_FAMILY(ctc_loss, table);
