// SPDX-License-Identifier: Apache-2.0
#include "run_figures.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "text/figure.h"

enum { COMMAND_MAX = 60, NAME_MAX_BYTES = 90, CATEGORIES_SHOWN = 4 };

// ---- words -------------------------------------------------------------------------------------
static void put_count(mxp_strbuf *out, const char *before, uint64_t count, const char *one,
                      const char *several)
{
    mxp__strbuf_puts(out, before);
    mxp__put_grouped(count, out);
    mxp__strbuf_printf(out, " %s", count == 1 ? one : several);
}

// On one line, whatever it contains, and cut where it is long.
static void put_clipped(mxp_strbuf *out, const char *text, size_t limit)
{
    size_t length = strlen(text);
    const bool is_cut = length > limit;
    if (is_cut) {
        for (length = limit; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;) {
            length--;
        }
    }
    const size_t from = out->length;
    mxp__utf8_string(out, text, length);
    for (size_t i = from; i < out->length && !out->failed; i++) {
        if ((unsigned char)out->data[i] < ' ' || out->data[i] == 0x7f) {
            out->data[i] = ' ';
        }
    }
    mxp__strbuf_puts(out, is_cut ? "..." : "");
}

// As it can be typed in a shell.
void mxp__run_put_typed(mxp_strbuf *out, const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-:=,@%";
    if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        mxp__strbuf_puts(out, text);
        return;
    }
    mxp__strbuf_putc(out, '\'');
    for (const char *c = text; *c != '\0'; c++) {
        mxp__strbuf_puts(out, *c == '\'' ? "'\\'" : "");
        mxp__strbuf_putc(out, *c);
    }
    mxp__strbuf_putc(out, '\'');
}

static void put_command(mxp_strbuf *out, char *const *arguments)
{
    mxp_strbuf command = {0};
    const char *slash = strrchr(arguments[0], '/');
    mxp__strbuf_puts(&command, slash != NULL ? slash + 1 : arguments[0]);
    for (size_t i = 1; arguments[i] != NULL; i++) {
        mxp__strbuf_printf(&command, " %s", arguments[i]);
    }
    put_clipped(out, mxp__strbuf_text(&command), COMMAND_MAX);
    mxp__strbuf_fini(&command);
}

// ---- lines -------------------------------------------------------------------------------------
void mxp__run_put_end(const mxp_run_result *result, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "mxprof: ");
    put_command(out, result->arguments);
    if (WIFSIGNALED(result->status)) {
        mxp__strbuf_printf(out, " was ended by signal %d", WTERMSIG(result->status));
    } else {
        mxp__strbuf_printf(out, " ended with %d", WEXITSTATUS(result->status));
    }
    mxp__strbuf_printf(out, " after %.2f s", result->seconds);
}

void mxp__run_put_others(const mxp_run_result *result, mxp_strbuf *out)
{
    if (result->is_beside_others) {
        mxp__strbuf_puts(out, "mxprof: files of earlier runs in ");
        mxp__run_put_typed(out, result->folder);
        mxp__strbuf_puts(out, " count in these, too\n");
    }
}

// Beside others' files a run of one process is its file.
void mxp__run_put_next(const mxp_run_result *result, mxp_strbuf *out)
{
    const bool is_file = result->is_beside_others && result->traces->count == 1;
    mxp_strbuf path = {0};
    mxp__strbuf_puts(&path, result->folder);
    if (is_file) {
        mxp__strbuf_printf(&path, "/%s", result->traces->all[0]);
    }
    mxp__strbuf_puts(out, "mxprof: next   mxprof report ");
    mxp__run_put_typed(out, mxp__strbuf_text(&path));
    mxp__strbuf_puts(out, "   |   mxprof convert ");
    mxp__run_put_typed(out, mxp__strbuf_text(&path));
    mxp__strbuf_puts(out, " -o trace.json\n");
    out->failed = out->failed || path.failed;
    mxp__strbuf_fini(&path);
    if (!is_file) {
        mxp__run_put_others(result, out);
    }
}

static void put_totals(const mxp_run_result *result, const mxp_run_figures *figures,
                       mxp_strbuf *out)
{
    const mxp_summary *summary = &figures->summary;
    mxp__run_put_end(result, out);
    put_count(out, "; ", figures->processes, "process", "processes");
    put_count(out, ", ", figures->times.spans, "span", "spans");
    put_count(out, ", ", figures->times.row_count, "name", "names");
    if (figures->times.spans == 0) {
        put_count(out, ", ", summary->records, "other record", "other records");
    }
    if (summary->lost > figures->foreign) {
        put_count(out, "; lost ", summary->lost - figures->foreign, "record", "records");
        mxp__strbuf_puts(out, " ('mxprof info' tells why)\n");
    } else {
        mxp__strbuf_puts(out, "; lost nothing\n");
    }
}

// Of a path, which is a module whose functions were recorded, the last part.
static void put_category(mxp_strbuf *out, const char *text)
{
    const char *slash = text[0] == '/' ? strrchr(text, '/') : NULL;
    put_clipped(out,
                slash != NULL     ? slash + 1
                : text[0] != '\0' ? text
                                  : "<no category>",
                NAME_MAX_BYTES);
}

static void put_marks(const mxp_run_figures *figures, mxp_strbuf *out)
{
    const mxp_own_times *times = &figures->times;
    uint64_t others = 0;
    for (size_t i = 0; i < times->category_count; i++) {
        const mxp_own_category *category = &times->categories[i];
        if (i >= CATEGORIES_SHOWN) {
            others += category->count;
            continue;
        }
        const char *text = mxp__own_times_text(times, category->text);
        mxp__strbuf_puts(out, i == 0 ? "mxprof: marks from " : ", ");
        put_category(out, text);
        mxp__strbuf_puts(out, " (");
        mxp__put_grouped(category->count, out);
        mxp__strbuf_puts(out, ")");
    }
    if (others > 0) {
        put_count(out, ", ", times->category_count - CATEGORIES_SHOWN, "other (", "others (");
        mxp__put_grouped(others, out);
        mxp__strbuf_puts(out, ")");
    }
    if (figures->foreign > 0) {
        put_count(out, times->category_count > 0 ? "; " : "mxprof: ", figures->foreign,
                  "mark that fits nothing, as an end without a begin",
                  "marks that fit nothing, as ends without a begin");
    }
    mxp__strbuf_puts(out, times->category_count > 0 || figures->foreign > 0 ? "\n" : "");
}

// What came after the last name that there was room for.
static void put_unnamed(const mxp_run_figures *figures, mxp_strbuf *out)
{
    if (figures->summary.unnamed == 0) {
        return;
    }
    put_count(out, "mxprof: ", figures->summary.unnamed, "record has", "records have");
    mxp__strbuf_puts(out, " no name, because names were used up");
    if (figures->names_full[0] != '\0') {
        mxp__strbuf_puts(out, ": ");
        put_clipped(out, figures->names_full, NAME_MAX_BYTES);
    }
    mxp__strbuf_puts(out, "; --max-names gives more\n");
}

// The milliseconds, grouped, in a column that ends after `width` characters.
static void put_ms(mxp_strbuf *out, uint64_t ns, int width)
{
    mxp_strbuf text = {0};
    const uint64_t tenths = (ns + 50000) / 100000;
    mxp__put_grouped(tenths / 10, &text);
    if (tenths < 10) {
        mxp__strbuf_printf(&text, ".%03u", (unsigned)((ns + 500) / 1000));
    } else {
        mxp__strbuf_printf(&text, ".%u", (unsigned)(tenths % 10));
    }
    mxp__strbuf_printf(out, "%*s", width, mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
}

static double share_of(const mxp_run_result *result, const mxp_own_row *row)
{
    return result->seconds > 0 ? (double)row->own_ns / 1e7 / result->seconds : 0;
}

// Asynchronous spans overlap each other, so their times say something only where there is nothing
// else.
static size_t rows_shown(const mxp_run_result *result, const mxp_own_times *times)
{
    size_t nested = 0;
    while (nested < times->row_count && !times->rows[nested].overlaps) {
        nested++;
    }
    const size_t count = nested > 0 ? nested : times->row_count;
    return count < result->rows ? count : result->rows;
}

// Everything of a row but its name.
static void put_figures(const mxp_run_result *result, const mxp_own_row *row, mxp_strbuf *out)
{
    mxp_strbuf count = {0};
    mxp__put_grouped(row->count, &count);
    put_ms(out, row->own_ns, 15);
    mxp__strbuf_printf(out, "  %5.1f %%  %10s  ", share_of(result, row), mxp__strbuf_text(&count));
    mxp__strbuf_fini(&count);
}

static void put_row(const mxp_run_result *result, const mxp_own_times *times,
                    const mxp_own_row *row, mxp_strbuf *out)
{
    put_figures(result, row, out);
    put_clipped(out, mxp__own_times_text(times, row->text), NAME_MAX_BYTES);
    if (times->category_count > 1) {
        mxp__strbuf_puts(out, "  [");
        put_category(out, mxp__own_times_text(times, row->category));
        mxp__strbuf_putc(out, ']');
    }
    mxp__strbuf_putc(out, '\n');
}

// Those that were not shown, together, so that the column adds up.
static void put_others(const mxp_run_result *result, const mxp_own_times *times, size_t shown,
                       mxp_strbuf *out)
{
    mxp_own_row others = {0};
    size_t names = 0;
    for (size_t i = shown; i < times->row_count; i++) {
        const mxp_own_row *row = &times->rows[i];
        if (row->overlaps == times->rows[0].overlaps) {
            others.count += row->count;
            others.own_ns += row->own_ns;
            names++;
        }
    }
    if (names > 0) {
        put_figures(result, &others, out);
        put_count(out, "(", names, "other name)\n", "other names)\n");
    }
}

static void put_table(const mxp_run_result *result, const mxp_own_times *times, mxp_strbuf *out)
{
    const size_t count = rows_shown(result, times);
    if (count > 0) {
        mxp__strbuf_printf(out, "%15s  %7s  %10s  %s\n", times->rows[0].overlaps ? "ms" : "own ms",
                           "of run", "count", "name");
    }
    for (size_t i = 0; i < count; i++) {
        put_row(result, times, &times->rows[i], out);
    }
    if (count > 0) {
        put_others(result, times, count, out);
    }
}

static double cost_ms(const mxp_run_figures *figures)
{
    return (double)figures->summary.records * figures->summary.record_cost_ns / 1e6;
}

// What was left behind by the program, and records on.
static void put_living(const mxp_run_result *result, const mxp_run_figures *figures,
                       mxp_strbuf *out)
{
    if (figures->living == 0) {
        return;
    }
    mxp__strbuf_printf(out, "mxprof: process %" PRIu32 " still runs and records",
                       figures->living_pid);
    if (figures->living > 1) {
        put_count(out, ", and ", figures->living - 1, "more", "more");
    }
    mxp__strbuf_puts(out, ": 'mxprof report ");
    mxp__run_put_typed(out, result->folder);
    mxp__strbuf_puts(out, "' reads what there is\n");
}

void mxp__run_put_text(const mxp_run_result *result, const mxp_run_figures *figures,
                       mxp_strbuf *out)
{
    put_totals(result, figures, out);
    put_marks(figures, out);
    put_unnamed(figures, out);
    put_table(result, &figures->times, out);
    put_living(result, figures, out);
    mxp__strbuf_printf(out, "mxprof: cost about %.3g ms of %.3g s", cost_ms(figures),
                       result->seconds);
    if (figures->brief > 0) {
        put_count(out, "; ", figures->brief, "function", "functions");
        mxp__strbuf_puts(out, " took less a call than 20 records cost: see --min-us, --depth");
    }
    mxp__strbuf_putc(out, '\n');
    mxp__run_put_next(result, out);
}

// ---- JSON --------------------------------------------------------------------------------------
static void json_text(mxp_strbuf *out, const char *key, const char *text)
{
    mxp__strbuf_printf(out, "\"%s\": ", key);
    mxp__json_string(out, text, strlen(text));
}

static void json_row(const mxp_run_result *result, const mxp_own_times *times,
                     const mxp_own_row *row, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "        {");
    json_text(out, "Category", mxp__own_times_text(times, row->category));
    mxp__strbuf_puts(out, ", ");
    json_text(out, "Name", mxp__own_times_text(times, row->text));
    mxp__strbuf_printf(out, ", \"Count\": %" PRIu64 ", \"Own ms\": ", row->count);
    mxp__json_double(out, (double)row->own_ns / 1e6);
    mxp__strbuf_puts(out, ", \"Percent of Run\": ");
    mxp__json_double(out, share_of(result, row));
    mxp__strbuf_puts(out, "}");
}

static void json_figures(const mxp_run_result *result, const mxp_run_figures *figures,
                         mxp_strbuf *out)
{
    const mxp_own_times *times = &figures->times;
    mxp__strbuf_printf(out,
                       ",\n    \"Processes\": %zu,\n    \"Records\": %" PRIu64
                       ",\n    \"Spans\": %" PRIu64 ",\n    \"Names\": %zu,\n    \"Lost\": %" PRIu64
                       ",\n    \"Fit Nothing\": %" PRIu64 ",\n    \"Estimated Overhead ms\": ",
                       figures->processes, figures->summary.records, times->spans, times->row_count,
                       figures->summary.lost - figures->foreign, figures->foreign);
    mxp__json_double(out, cost_ms(figures));
    mxp__strbuf_puts(out, ",\n    \"Categories\": {");
    for (size_t i = 0; i < times->category_count; i++) {
        const char *text = mxp__own_times_text(times, times->categories[i].text);
        mxp__strbuf_puts(out, i > 0 ? ", " : "");
        mxp__json_string(out, text, strlen(text));
        mxp__strbuf_printf(out, ": %" PRIu64, times->categories[i].count);
    }
    mxp__strbuf_puts(out, "},\n    \"Rows\": [");
    const size_t count = rows_shown(result, times);
    for (size_t i = 0; i < count; i++) {
        mxp__strbuf_puts(out, i > 0 ? ",\n" : "\n");
        json_row(result, times, &times->rows[i], out);
    }
    mxp__strbuf_puts(out, count > 0 ? "\n    ]" : "]");
}

void mxp__run_put_json(const mxp_run_result *result, const mxp_run_figures *figures,
                       mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "{\n    \"Command\": [");
    for (size_t i = 0; result->arguments[i] != NULL; i++) {
        mxp__strbuf_puts(out, i > 0 ? ", " : "");
        mxp__json_string(out, result->arguments[i], strlen(result->arguments[i]));
    }
    const bool by_signal = WIFSIGNALED(result->status);
    mxp__strbuf_printf(out,
                       "],\n    \"%s\": %d,\n    \"Seconds\": ", by_signal ? "Signal" : "Exit Code",
                       by_signal ? WTERMSIG(result->status) : WEXITSTATUS(result->status));
    mxp__json_double(out, result->seconds);
    mxp__strbuf_puts(out, ",\n    ");
    json_text(out, "Folder", result->folder);
    mxp__strbuf_printf(out, ",\n    \"Complete\": %s", figures != NULL ? "true" : "false");
    if (figures != NULL) {
        json_figures(result, figures, out);
    }
    mxp__strbuf_puts(out, "\n}\n");
}
