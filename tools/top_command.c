// SPDX-License-Identifier: Apache-2.0
// mxprof top: the slowest single instances.
#include <inttypes.h>
#include <mxprof/error.h>
#include <unistd.h>

#include "command.h"
#include "instances/arguments.h"
#include "instances/life_print.h"
#include "instances/slowest.h"
#include "instances/thread_labels.h"
#include "profiler/trace/merge.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

static const char help[] =
    "mxprof top lists the slowest single spans, operators and waits: how long each took, when, on\n"
    "which thread, with which arguments, and where most of it went.\n"
    "\n"
    "usage: mxprof top [OPTIONS] FILE|DIRECTORY\n"
    "\n"
    "  --top N         how many (default 10)\n"
    "  --min TIME      only those that took this long: 10ms, 1.5s, 300us\n"
    "  --percentiles LIST  which percentiles of all that fit (default "
    "50,90,99,99.9)\n" MXP_WINDOW_HELP MXP_FILTER_HELP
    "  --unit UNIT     one unit for all times: ns, us, ms or s; else each has one that fits\n"
    "  --json          as JSON, times in ns\n"
    "\n"
    "Without --name it is about what no other span of its thread encloses. The percentiles are\n"
    "exact; beyond 8 million spans they come from a histogram and have a ~ before them.\n"
    "\n"
    "examples\n"
    "  mxprof top --name request server.mxp\n"
    "  mxprof top --name '*Convolution' --step 20: --top 3 profile.mxp\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or is damaged (what could be read is shown), 2 wrong "
    "call\n"
    "or a filter that nothing fits, 3 nothing was recorded that lasts\n";

typedef struct top_options {
    const char *percentiles, *least;
    int json, unit;
    mxp_selection selection;
} top_options;

typedef struct topping {
    const mxp_command *command;
    const top_options *options;
    mxp_input *input;
    mxp_screen screen;
    mxp_percentiles percentiles;
    mxp_slowest slowest;
    mxp_strbuf out;
} topping;

// -1, or the exit code after an error line.
static int find(topping *self)
{
    mxp_source *source = self->input->source, *process;
    mxp_selection selection = self->options->selection;
    int code = mxp__selection_share(self->command, &selection, source);
    for (size_t i = 0; code < 0 && (process = mxp__source_process(source, i)) != NULL; i++) {
        mxp_selected selected;
        code = mxp__selected_make(self->command, &selection, process, &selected);
        if (code < 0 && mxp__slowest_add(&self->slowest, process, &selected) != MXP_OK) {
            code = mxp__command_failed(self->command);
        }
        mxp__selected_fini(&selected);
    }
    mxp__slowest_finish(&self->slowest);
    return code;
}

// ---- text --------------------------------------------------------------------------------------
static void put_summary(const topping *self, mxp_strbuf *out)
{
    const mxp_slowest *slowest = &self->slowest;
    mxp__look_begin(&self->screen, MXP_LOOK_TOTAL, out);
    mxp__put_grouped(slowest->durations.total, out);
    mxp__strbuf_puts(out, slowest->only_roots ? " in no other span:  " : " in all:  ");
    mxp__durations_put(&slowest->durations, &self->percentiles, &self->screen, out);
    mxp__look_end(&self->screen, MXP_LOOK_TOTAL, out);
    mxp__strbuf_puts(out, "\n\n");
}

// The largest part that is not the span itself, with its share.
static void put_where(const topping *self, size_t i, mxp_strbuf *out)
{
    const mxp_life *life = &self->slowest.lives[i];
    int64_t all = life->end_ns - life->begin_ns;
    const mxp_life_part *part = life->part_count > 0 ? &life->parts[0] : NULL;
    if (part == NULL || part->source == NULL || all <= 0) {
        return;
    }
    mxp__put_percent((double)part->ns / (double)all, out);
    mxp__strbuf_putc(out, ' ');
    mxp_name_view name = part->source->name(part->source, part->name);
    if (part->name == self->slowest.list.all[i].name) {
        mxp__strbuf_puts(out, "itself");
    } else {
        mxp__put_label(&self->screen, name.text, name.length, out);
    }
}

static void put_text(topping *self, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {
        {"took", MXP_COLUMN_RIGHT, 0},      {"at", MXP_COLUMN_RIGHT, 0},
        {"thread", MXP_COLUMN_NAME, 0},     {"what", MXP_COLUMN_NAME, 0},
        {"most of it", MXP_COLUMN_NAME, 2}, {"with", MXP_COLUMN_NAME, 1}};
    mxp_text_table table;
    mxp_thread_labels labels = {0};
    put_summary(self, out);
    mxp__text_table_init(&table, &self->screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < self->slowest.list.count; i++) {
        const mxp_instance *at = &self->slowest.list.all[i];
        mxp_name_view name = at->source->name(at->source, at->name);
        mxp__put_duration(&self->screen, (double)mxp__instance_ns(at), mxp__text_cell(&table));
        mxp__strbuf_printf(mxp__text_cell(&table), "%.6f s", (double)at->begin_ns / 1e9);
        mxp__put_thread(&labels, &self->screen, at->source, at->thread,
                        self->input->source->process_count > 1, mxp__text_cell(&table));
        mxp__put_label(&self->screen, name.text, name.length, mxp__text_cell(&table));
        put_where(self, i, mxp__text_cell(&table));
        mxp__put_args(&self->screen, at, mxp__text_cell(&table));
        mxp__text_row(&table, MXP_LOOK_PLAIN);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    mxp__thread_labels_fini(&labels);
}

static void put_json(topping *self, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__json_object(&json, NULL);
    mxp__json_u64(&json, "count", self->slowest.durations.total);
    mxp__json_bool(&json, "only_roots", self->slowest.only_roots);
    mxp__durations_json(&json, &self->slowest.durations, &self->percentiles);
    mxp__json_array(&json, "slowest");
    for (size_t i = 0; i < self->slowest.list.count; i++) {
        mxp__json_row(&json, NULL);
        mxp__instance_json(&json, &self->slowest.list.all[i]);
        mxp__life_json_parts(&json, &self->slowest.lives[i]);
        mxp__json_end(&json);
    }
    mxp__json_end(&json);
    mxp__json_end(&json);
}

// Of the longest one that has too many spans inside.
static void warn(const topping *self)
{
    for (size_t i = 0; i < self->slowest.list.count; i++) {
        const mxp_instance *at = &self->slowest.list.all[i];
        if (self->slowest.lives[i].left_out > 0) {
            mxp_strbuf label = {0};
            mxp_name_view name = at->source->name(at->source, at->name);
            mxp__put_label(&self->screen, name.text, name.length, &label);
            mxp__life_warn(&self->slowest.lives[i], self->command->name, mxp__strbuf_text(&label));
            mxp__strbuf_fini(&label);
            break;
        }
    }
}

// ---- the command -------------------------------------------------------------------------------
static int print(topping *self)
{
    int code = find(self);
    if (code < 0 && self->slowest.list.count == 0) {
        fprintf(stderr, "mxprof %s: no span is in what was chosen\n", self->command->name);
        code = MXP_EXIT_UNKNOWN;
    }
    if (code < 0 && mxp__slowest_look(&self->slowest, self->input->source) != MXP_OK) {
        code = mxp__command_failed(self->command);
    }
    if (self->slowest.is_damaged) {
        mxp__input_cut_short(self->command, self->input);
    }
    if (code < 0) {
        warn(self);
        (self->options->json ? put_json : put_text)(self, &self->out);
        code = mxp__output_print(self->command, &self->out);
    }
    return mxp__input_end(self->input, code);
}

static int top(const mxp_command *command, const char *file, const top_options *options,
               topping *self)
{
    mxp_input input;
    if (mxp__input_open(command, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    self->command = command;
    self->options = options;
    self->input = &input;
    mxp__screen_look(STDOUT_FILENO, &self->screen);
    self->screen.unit = options->unit;
    self->slowest.only_roots = options->selection.names.count == 0;
    self->slowest.wanted = options->selection.top_count > 0 ? options->selection.top_count : 10;
    int code = print(self);
    mxp__slowest_fini(&self->slowest);
    mxp__strbuf_fini(&self->out);
    mxp__input_close(&input);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    enum { MOST = 1000 };
    top_options chosen = {0};
    topping state = {0};
    const mxp_option options[] = {
        MXP_SELECTION_OPTIONS(&chosen.selection),
        {.name = "--min", .text = &chosen.least},
        {.name = "--percentiles", .text = &chosen.percentiles},
        {.name = "--unit", .words = mxp__unit_words, .number = &chosen.unit},
        {.name = "--json", .number = &chosen.json},
        {.name = NULL},
    };
    const char *file;
    int code = mxp__options_parse(self, options, count, arguments, &file);
    code = code < 0 ? mxp__selection_check(self, &chosen.selection) : code;
    if (code >= 0) {
        return code;
    }
    if (chosen.selection.top_count > MOST) {
        return mxp__usage_error(
            self, "--top lists at most %d; `mxprof convert --to sqlite` has all", MOST);
    }
    if (chosen.least != NULL && !mxp__duration_parse(chosen.least, &state.slowest.least_ns)) {
        return mxp__usage_error(self, "--min takes a time such as 10ms, 1.5s or 300us, not '%s'",
                                chosen.least);
    }
    if (!mxp__percentiles_parse(chosen.percentiles, &state.percentiles)) {
        return mxp__usage_error(self,
                                "--percentiles takes numbers above 0 up to 100, such as "
                                "50,99,99.9, at most %d, not '%s'",
                                MXP__PERCENTILES_MOST, chosen.percentiles);
    }
    mxp__input_take_args();
    return top(self, file, &chosen, &state);
}

const mxp_command mxp__command_top = {
    .name = "top",
    .summary = "the slowest single spans: when, where, with which arguments",
    .help = help,
    .example = "--name request profile.mxp",
    .run = run,
};
