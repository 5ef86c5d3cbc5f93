// SPDX-License-Identifier: Apache-2.0
// mxprof report: where the time of a profile went. Its options, and which layout they mean.
#include <mxprof/profiler.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "clock_lines.h"
#include "instances/instance_tables.h"
#include "profiler/analysis/ranks/counted.h"
#include "profiler/export/export.h"
#include "profiler/trace/merge.h"
#include "report/report.h"
#include "report/report_mxnet.h"
#include "report/report_ranks.h"
#include "same_step.h"

static const char help[] =
    "mxprof report shows where the time of a profile went: how long steps take, what each layer\n"
    "took, the largest operators and spans, and how far the figures can be trusted. It gives\n"
    "numbers and no verdict.\n"
    "\n"
    "usage: mxprof report [OPTIONS] FILE|DIRECTORY\n"
    "\n"
    "what is shown\n"
    "  --tree          scopes with their operators, and the program's threads with their spans\n"
    "  --by WHAT       one table: layer, scope, step or path (kinds of the critical path)\n"
    "  --sort KEY      total, path, self, waited, p99 or calls\n"
    "  --depth N       layers end at this depth of scopes (default 2); of a tree, how deep it is\n"
    "                  shown\n"
    "  --min SHARE     parts of a tree below, as 1%, are one row 'n others'\n"
    "  --top N         so many rows of a table\n"
    "  --unit UNIT     ns, us, ms or s for all times, instead of what fits each\n"
    "  --json, --csv   for programs: sums in ns, nothing folded\n"
    "  --per-process   a report for each process, where there are several, instead of one of all\n"
    "  --force         adds up runs that do not belong together\n"
    "  --memory SIZE   limit for finding the critical path of a step, as 2G (default 1G)\n"
    "\n"
    "from single spans\n" MXP_INSTANCE_TABLES_HELP "\n"
    "of which part\n" MXP_WINDOW_HELP MXP_FILTER_HELP "\n"
    "MXNet's table, which dumps() returns as well\n"
    "  --layout mxnet  one row for each name, in sections by category. With it: --sort total,\n"
    "                  avg, min, max or count; --ascending; --by name, scope or step;\n"
    "                  --percentiles; --json and --csv in MXNet's layout\n"
    "\n"
    "Times are means of a step where steps are marked, else sums; p50 and p99 are of calls, and\n"
    "exact unless '~' stands before them. The first steps are left out if they are slower than\n"
    "99 % of the others. wall: of the time by the clock; path: of the critical path, what the\n"
    "step waited for; waited: from push until its inputs were there, and queued: until a worker\n"
    "took it. Of a directory all native traces (*.mxp, *.mxpz) in it are added up.\n"
    "\n"
    "examples\n"
    "  mxprof report profile.mxp\n"
    "  mxprof report --step slowest profile.mxp\n"
    "  mxprof report --tree --min 1% --scope 'lenet:conv*' profile.mxp\n"
    "  mxprof report --layout mxnet --sort avg --percentiles profile.mxp\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or is damaged (what could be read is shown), 2 wrong "
    "call\n"
    "or a filter that fits nothing, 3 what was asked cannot be answered\n";

enum { LAYOUT_MXPROF, LAYOUT_MXNET };

typedef struct report_options {
    int layout, ascending, percentiles;
    const char *sort, *by, *depth, *least, *memory;
    mxp_report_wish wish;
    mxp_mxnet_options mxnet;
} report_options;

// ---- words -------------------------------------------------------------------------------------
// Place of `word` in `words`, or -1 after an error line, which also names the words of `also`.
static int place_of(const mxp_command *self, const char *option, const char *word,
                    const char *const *words, const char *of, const char *also)
{
    mxp_strbuf list = {0};
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], word) == 0) {
            mxp__strbuf_fini(&list);
            return i;
        }
        mxp__strbuf_printf(&list, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
    mxp__usage_error(self, "%s does not know '%s'; %sit takes one of: %s%s", option, word, of,
                     mxp__strbuf_text(&list), also);
    mxp__strbuf_fini(&list);
    return -1;
}

// MXNet's table has all names of all time; an option that would choose some of it is refused, or
// its sums would be taken for those of a part. Null: there is none.
static const char *not_of_mxnet(const report_options *chosen)
{
    const mxp_selection *selection = &chosen->wish.selection;
    const mxp_given_option options[] = {
        {"--step", selection->step != NULL},      {"--from", selection->from != NULL},
        {"--until", selection->until != NULL},    {"--name", selection->names.count > 0},
        {"--scope", selection->scopes.count > 0}, {"--thread", selection->threads.count > 0},
        {"--phase", selection->phases.count > 0}, {"--top", selection->top != NULL},
        {"--tree", chosen->wish.tree != 0},       {"--depth", chosen->depth != NULL},
        {"--min", chosen->least != NULL},         {"--unit", chosen->wish.screen.unit != 0},
        {"--memory", chosen->memory != NULL}};
    return mxp__first_given(options, sizeof options / sizeof options[0]);
}

static int mxnet_words(const mxp_command *self, report_options *chosen)
{
    const char *other = not_of_mxnet(chosen);
    if (other != NULL) {
        return mxp__usage_error(self,
                                "%s does not belong to --layout mxnet, whose table is of "
                                "everything; without that layout it does what it says",
                                other);
    }
    static const char *const sorts[] = {
        [MXP_SORT_TOTAL] = "total", [MXP_SORT_AVG] = "avg",     [MXP_SORT_MIN] = "min",
        [MXP_SORT_MAX] = "max",     [MXP_SORT_COUNT] = "count", NULL};
    static const char *const groups[] = {
        [MXP_GROUP_NAME] = "name", [MXP_GROUP_SCOPE] = "scope", [MXP_GROUP_STEP] = "step", NULL};
    static const char of[] = "with --layout mxnet ";
    mxp_mxnet_options *mxnet = &chosen->mxnet;
    *mxnet = (mxp_mxnet_options){.sort_by = MXP_SORT_TOTAL,
                                 .group = MXP_GROUP_NAME,
                                 .ascending = chosen->ascending,
                                 .percentiles = chosen->percentiles,
                                 .json = chosen->wish.json,
                                 .csv = chosen->wish.csv,
                                 .per_process = chosen->wish.per_process};
    if (chosen->sort != NULL) {
        mxnet->sort_by = place_of(self, "--sort", chosen->sort, sorts, of, "");
    }
    if (mxnet->sort_by >= 0 && chosen->by != NULL) {
        mxnet->group = place_of(self, "--by", chosen->by, groups, of, "");
    }
    return mxnet->sort_by < 0 || mxnet->group < 0 ? MXP_EXIT_USAGE : -1;
}

// An option that --by step and --by path, which have all steps and kinds, would take in silence, or
// null. JSON has the operators and spans as well, to which they belong.
static const char *not_of_by(const report_options *chosen)
{
    const mxp_report_wish *wish = &chosen->wish;
    const mxp_selection *selection = &wish->selection;
    const mxp_given_option options[] = {
        {"--sort", chosen->sort != NULL},         {"--depth", chosen->depth != NULL},
        {"--top", selection->top != NULL},        {"--name", selection->names.count > 0},
        {"--scope", selection->scopes.count > 0}, {"--thread", selection->threads.count > 0},
        {"--phase", selection->phases.count > 0}};
    if ((wish->by != MXP_BY_STEP && wish->by != MXP_BY_PATH) || wish->json) {
        return NULL;
    }
    return mxp__first_given(options, sizeof options / sizeof options[0]);
}

static bool parse_share(const char *text, double *share)
{
    char *end;
    const double value = strtod(text, &end);
    const bool is_percent = strcmp(end, "%") == 0;
    *share = is_percent ? value / 100 : value;
    return end != text && (is_percent || *end == '\0') && *share >= 0 && *share <= 1;
}

static bool parse_size(const char *text, uint64_t *bytes)
{
    static const char letters[] = "KMG";
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    const char *letter = *end == '\0' ? NULL : strchr(letters, *end);
    *bytes = value << (letter == NULL ? 0 : 10 * (letter - letters + 1));
    return text[0] >= '1' && text[0] <= '9' &&
           (*end == '\0' || (letter != NULL && end[1] == '\0')) && value < (UINT64_C(1) << 32);
}

static int own_words(const mxp_command *self, report_options *chosen)
{
    static const char *const keys[] = {[MXP_KEY_TOTAL] = "total",
                                       [MXP_KEY_PATH] = "path",
                                       [MXP_KEY_SELF] = "self",
                                       [MXP_KEY_WAITED] = "waited",
                                       [MXP_KEY_P99] = "p99",
                                       [MXP_KEY_CALLS] = "calls",
                                       NULL};
    static const char *const bys[] = {"layer", "scope", "step", "path", NULL};
    mxp_report_wish *wish = &chosen->wish;
    if (chosen->percentiles || chosen->ascending) {
        return mxp__usage_error(self, "%s belongs to --layout mxnet%s",
                                chosen->percentiles ? "--percentiles" : "--ascending",
                                chosen->percentiles ? "; p50 and p99 are there without it" : "");
    }
    if (chosen->sort != NULL &&
        (wish->key = place_of(self, "--sort", chosen->sort, keys, "", "")) < 0) {
        return MXP_EXIT_USAGE;
    }
    if (chosen->by != NULL &&
        (wish->by = place_of(self, "--by", chosen->by, bys, "", ", thread, arg:KEY") + 1) == 0) {
        return MXP_EXIT_USAGE;
    }
    if (wish->tree && wish->by != MXP_BY_NOTHING) {
        return mxp__usage_error(self, "--tree and --by are two ways to show it; give one of them");
    }
    if (wish->csv && (wish->tree || wish->by != MXP_BY_NOTHING)) {
        return mxp__usage_error(self, "--csv has the rows of operators and spans, and not those of "
                                      "--by and --tree, which --json has");
    }
    const char *other = not_of_by(chosen);
    if (other != NULL) {
        return mxp__usage_error(self, "%s does not belong to --by %s", other, chosen->by);
    }
    if (chosen->least != NULL && !wish->tree) {
        return mxp__usage_error(self, "--min belongs to --tree");
    }
    if (chosen->least != NULL && !parse_share(chosen->least, &wish->least)) {
        return mxp__usage_error(self, "--min takes a share such as 1%%, not '%s'", chosen->least);
    }
    if (chosen->memory != NULL && !parse_size(chosen->memory, &wish->memory_bytes)) {
        return mxp__usage_error(self, "--memory takes a size such as 2G, not '%s'", chosen->memory);
    }
    int code = mxp__count_option(self, "--depth", chosen->depth, &wish->depth);
    return code < 0 ? mxp__selection_check(self, &wish->selection) : code;
}

// ---- reports -----------------------------------------------------------------------------------
// What has no spans and no operators, but statistics or counters, is in MXNet's table alone. That
// table is of all time.
static bool is_only_in_the_table(const mxp_time_report *report)
{
    mxp_source *source = report->input->source;
    const mxp_selection *chosen = &report->wish->selection;
    return report->rows.operators + report->rows.spans == 0 && report->process_count == 1 &&
           mxp__counted_names(source) == 0 && report->wish->by == MXP_BY_NOTHING &&
           !report->wish->tree && chosen->from == NULL && chosen->until == NULL &&
           (source->stats_count > 0 || source->counter_count > 0 ||
            report->summary.by_kind[MXP_KIND_COUNTER] > 0);
}

static int cannot_answer(const mxp_time_report *report)
{
    const int by = report->wish->by;
    const char *why =
        by == MXP_BY_STEP && !mxp__report_has_steps(report)
            ? "no steps are marked in it, or --from and --until chose a time"
        : by == MXP_BY_PATH && report->no_path[0] != '\0' ? report->no_path
        : by == MXP_BY_PATH && !report->rows.has_path
            ? "there is no path without operators of libmxnet"
        : (by == MXP_BY_LAYER || by == MXP_BY_SCOPE) && !mxp__report_has_operators(report)
            ? "there are no operators of libmxnet in this window, and so no layers"
            : NULL;
    if (why == NULL || report->wish->json || report->wish->csv) {
        return -1;
    }
    fprintf(stderr, "mxprof %s: %s\n", report->command->name, why);
    return MXP_EXIT_UNKNOWN;
}

static int put_report(mxp_time_report *report, mxp_strbuf *out)
{
    int code = cannot_answer(report);
    if (code >= 0) {
        return code;
    }
    if (is_only_in_the_table(report)) {
        const mxp_mxnet_options options = {.json = report->wish->json, .csv = report->wish->csv};
        return mxp__report_mxnet(report->command, report->input, &options, out) == MXP_OK
                   ? -1
                   : mxp__command_failed(report->command);
    }
    int error = report->wish->json  ? mxp__report_json(report, out)
                : report->wish->csv ? mxp__report_csv(report, out)
                                    : mxp__report_text(report, out);
    return error == MXP_OK ? -1 : mxp__command_failed(report->command);
}

static int report_input(const mxp_command *self, mxp_input *input, const mxp_report_wish *wish,
                        mxp_strbuf *out)
{
    mxp_time_report report;
    int code = mxp__report_make(self, input, wish, &report);
    if (code < 0) {
        const bool is_passed_over = wish->selection.is_shared && !wish->json &&
                                    mxp__selection_filters(&wish->selection) &&
                                    report.rows.operators + report.rows.spans == 0;
        if (is_passed_over) {
            mxp__strbuf_puts(out, "nothing in it fits all of the filters in this window\n");
        } else {
            code = put_report(&report, out);
        }
        mxp__report_fini(&report);
    }
    return code;
}

static int report_processes(const mxp_command *self, mxp_input *input, const mxp_report_wish *wish,
                            mxp_strbuf *out)
{
    mxp_input one = *input;
    mxp_report_wish shared = *wish;  // one selection for all
    int code = mxp__selection_share(self, &shared.selection, input->source);
    mxp__strbuf_puts(out, wish->json ? "[\n" : "");
    for (size_t i = 0; code < 0; i++) {
        one.source = mxp__source_process(input->source, i);
        if (one.source == NULL) {
            break;
        }
        mxp__strbuf_puts(out, i == 0 ? "" : wish->json ? ",\n" : "\n");
        if (!wish->json) {
            mxp__strbuf_printf(out, "process %u\n", (unsigned)one.source->pid);
        }
        code = report_input(self, &one, &shared, out);
    }
    mxp__strbuf_puts(out, wish->json ? "]\n" : "");
    input->damaged = one.damaged;
    return code;
}

// What tells one run's configuration from another's, or null: they agree.
static const char *difference(mxp_source *source)
{
    static const char *const keys[] = {"command",    "machine.cpu", "machine.cores",
                                       "run.commit", "run.label",   "host"};
    const mxp_source *process;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        const char *first = mxp__source_info(mxp__source_process(source, 0), keys[k]);
        for (size_t i = 1; (process = mxp__source_process(source, i)) != NULL; i++) {
            const char *value = mxp__source_info(process, keys[k]);
            if (value != NULL && first != NULL && strcmp(value, first) != 0) {
                return keys[k];
            }
        }
    }
    return NULL;
}

static int report_own(const mxp_command *self, mxp_input *input, const mxp_report_wish *wish,
                      mxp_strbuf *out)
{
    const bool is_job = input->clocks != NULL;  // its processes may be on many machines
    const char *differs =
        input->source->process_count > 1 && !is_job ? difference(input->source) : NULL;
    const bool apart = wish->per_process || (differs != NULL && !wish->force);
    if (apart && !wish->per_process && wish->csv) {
        return mxp__usage_error(self,
                                "these runs do not belong together, they differ in %s, and "
                                "--csv holds one table; --force adds them up",
                                differs);
    }
    if (differs != NULL && !wish->json && !wish->csv) {
        mxp__strbuf_printf(out, "these runs do not belong together, they differ in %s: %s\n\n",
                           differs,
                           apart ? "each by itself (--force adds them up)" : "added up by --force");
    }
    if (is_job && !wish->json && !wish->csv) {
        mxp__clock_lines_put(input->clocks, &wish->screen, out);
        mxp__strbuf_putc(out, '\n');
        const bool is_whole = wish->by == MXP_BY_NOTHING && !wish->tree;
        const int code = is_whole ? mxp__report_ranks_put(self, input, wish, out) : -1;
        if (code >= 0) {
            return code;
        }
    }
    return apart ? report_processes(self, input, wish, out) : report_input(self, input, wish, out);
}

static int report_file(const mxp_command *self, const char *file, const report_options *chosen)
{
    mxp_input input;
    mxp_strbuf out = {0};
    mxp__input_take_jobs(chosen->wish.force != 0, true);
    if (mxp__input_open(self, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    int code = -1;
    mxp_report_wish wish = chosen->wish;  // of several processes the same step
    if ((input.clocks != NULL && mxp__one_clock_check(input.clocks) != MXP_OK) ||
        mxp__same_step(input.source, &wish.selection.window) != MXP_OK) {
        code = mxp__command_failed(self);
    } else if (chosen->layout == LAYOUT_MXPROF) {
        code = report_own(self, &input, &wish, &out);
    } else if (mxp__report_mxnet(self, &input, &chosen->mxnet, &out) != MXP_OK) {
        code = mxp__command_failed(self);
    }
    if (code < 0) {
        code = mxp__output_print(self, &out);
        code = code == MXP_EXIT_FINE ? mxp__input_exit_code(&input) : code;
    }
    mxp__strbuf_fini(&out);
    mxp__input_close(&input);
    return code;
}

static int check(const mxp_command *self, report_options *chosen)
{
    if (chosen->wish.json && chosen->wish.csv) {
        return mxp__usage_error(self, "--json and --csv are two formats; give one of them");
    }
    if (chosen->wish.per_process && chosen->wish.csv) {
        return mxp__usage_error(self, "--per-process prints several tables, which --csv cannot "
                                      "hold; report the files one by one");
    }
    return chosen->layout == LAYOUT_MXNET ? mxnet_words(self, chosen) : own_words(self, chosen);
}

// Whether the word after --percentiles is a list of them, and not the number of a process.
static bool is_list(const char *word, const char *next)
{
    return word != NULL && word[0] != '\0' && word[strspn(word, "0123456789.,")] == '\0' &&
           (strchr(word, ',') != NULL || (next != NULL && next[0] != '-'));
}

// Those who have read of --percentiles LIST give the list here too. -1: nobody has.
static int find_stray_list(const mxp_command *self, int count, char **arguments)
{
    for (int i = 0; i + 1 < count; i++) {
        if (strcmp(arguments[i], "--percentiles") == 0 &&
            is_list(arguments[i + 1], i + 2 < count ? arguments[i + 2] : NULL)) {
            return mxp__usage_error(self,
                                    "--percentiles takes a list only with --histogram GLOB or --by "
                                    "arg:KEY: mxprof report --histogram '*' --percentiles %s FILE",
                                    arguments[i + 1]);
        }
    }
    return -1;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    static const char *const layouts[] = {"mxprof", "mxnet", NULL};
    report_options chosen = {.wish = {.key = -1, .memory_bytes = MXP__GRAPH_BYTES_MAX}};
    mxp__screen_look(STDOUT_FILENO, &chosen.wish.screen);
    const mxp_option options[] = {
        {.name = "--tree", .number = &chosen.wish.tree},
        {.name = "--by", .text = &chosen.by},
        {.name = "--sort", .text = &chosen.sort},
        {.name = "--depth", .text = &chosen.depth},
        {.name = "--min", .text = &chosen.least},
        MXP_SELECTION_OPTIONS(&chosen.wish.selection),
        {.name = "--unit", .words = mxp__unit_words, .number = &chosen.wish.screen.unit},
        {.name = "--json", .number = &chosen.wish.json},
        {.name = "--csv", .number = &chosen.wish.csv},
        {.name = "--per-process", .number = &chosen.wish.per_process},
        {.name = "--force", .number = &chosen.wish.force},
        {.name = "--memory", .text = &chosen.memory},
        {.name = "--layout", .words = layouts, .number = &chosen.layout},
        {.name = "--ascending", .number = &chosen.ascending},
        {.name = "--percentiles", .number = &chosen.percentiles},
        {.name = NULL},
    };
    const char *file;
    if (mxp__instance_table_is_wanted(count, arguments)) {
        return mxp__instance_table_run(self, count, arguments);
    }
    int code = find_stray_list(self, count, arguments);
    code = code < 0 ? mxp__options_parse(self, options, count, arguments, &file) : code;
    if (code < 0) {
        code = check(self, &chosen);
    }
    chosen.wish.top = chosen.wish.selection.top_count;
    return code < 0 ? report_file(self, file, &chosen) : code;
}

const mxp_command mxp__command_report = {
    .name = "report",
    .summary = "where the time went: by layer, operator, scope or step",
    .help = help,
    .run = run,
    .run_also = mxp__instance_table_run,
};
