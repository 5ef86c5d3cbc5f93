// SPDX-License-Identifier: Apache-2.0
// What a reader of the imported trace has to know: what was not understood, left out or mended.
#include <inttypes.h>

#include "import/import_state.h"

static void print_phases(const mxp_import_notes *notes, mxp_strbuf *out)
{
    uint64_t sum = notes->metadata;
    for (size_t i = 0; i < 256; i++) {
        sum += notes->phases[i];
    }
    if (sum == 0) {
        return;
    }
    mxp__strbuf_printf(out, "%" PRIu64 " events are not understood and left out:", sum);
    const char *between = " phase";
    for (size_t i = 0; i < 256; i++) {
        if (notes->phases[i] > 0) {
            mxp__strbuf_printf(
                out, i > ' ' && i < 127 ? "%s %c (%" PRIu64 ")" : "%s 0x%02x (%" PRIu64 ")",
                between, (int)i, notes->phases[i]);
            between = ",";
        }
    }
    if (notes->metadata > 0) {
        mxp__strbuf_printf(out, "%s metadata (%" PRIu64 ")", between[0] == ',' ? "," : "",
                           notes->metadata);
    }
    mxp__strbuf_putc(out, '\n');
}

static void print_count(mxp_strbuf *out, uint64_t count, const char *one, const char *several)
{
    if (count > 0) {
        mxp__strbuf_printf(out, "%" PRIu64 " %s\n", count, count == 1 ? one : several);
    }
}

static void print_if(mxp_strbuf *out, bool is_so, const char *line)
{
    mxp__strbuf_puts(out, is_so ? line : "");
}

static uint64_t names_full(const mxp_import *import)
{
    uint64_t full = 0;
    for (size_t i = 0; i < import->rows.count; i++) {
        full += import->rows.processes[i].names.full;
    }
    return full;
}

static void print_texts(const mxp_import *import, mxp_strbuf *out)
{
    const mxp_import_notes *notes = &import->notes;
    print_if(out, notes->bom, "a byte order mark stands before the text\n");
    print_if(out, (notes->met & MXP__JSON_SURROGATES) != 0,
             "texts have halves of surrogate pairs; each is shown as U+FFFD\n");
    print_if(out, (notes->met & MXP__JSON_CONTROLS) != 0,
             "texts have control characters or escapes that JSON does not allow; they are taken\n");
    print_if(out, (notes->met & MXP__JSON_CUT) != 0, "texts longer than 4096 bytes were cut\n");
    print_if(out, notes->frames || notes->samples,
             notes->frames && notes->samples ? "stackFrames and samples are not taken\n"
             : notes->frames                 ? "stackFrames are not taken\n"
                                             : "samples are not taken\n");
    print_if(
        out, notes->open_list,
        "the list of events has no end, as the format allows: whether it was cut there, nobody "
        "can tell\n");
    print_if(out, notes->twice, "traceEvents are there more than once; all are taken\n");
}

void mxp__import_incomplete(const mxp_import *import, mxp_strbuf *out)
{
    const mxp_import_notes *notes = &import->notes;
    if (notes->over_limit > 0) {
        mxp__strbuf_printf(out,
                           "it had reached trace_limit_bytes: %" PRIu64 " events are not in it",
                           notes->over_limit);
    }
    if (notes->made_room > 0) {
        mxp__strbuf_printf(out, "%sit is of a ring: %" PRIu64 " older records had made room",
                           notes->over_limit > 0 ? "; " : "", notes->made_room);
    }
    mxp__strbuf_puts(out, notes->overflow
                              ? "viztracer's buffer was full: what was recorded first is not in it"
                              : "");
}

static void print_incomplete(const mxp_import *import, mxp_strbuf *out)
{
    const size_t before = out->length;
    mxp__import_incomplete(import, out);
    mxp__strbuf_puts(out, out->length > before ? "\n" : "");
}

void mxp__import_notes_print(const mxp_import *import, mxp_strbuf *out)
{
    const mxp_import_notes *notes = &import->notes;
    print_incomplete(import, out);
    print_phases(notes, out);
    print_count(
        out, notes->beyond,
        "event has a time of more than 126 years; those of the format are in microseconds",
        "events have times of more than 126 years; those of the format are in microseconds");
    print_count(out, notes->durations, "complete span has no duration; 0 is taken",
                "complete spans have no duration; 0 is taken");
    print_count(out, notes->bound, "span has a flow in its own fields (bind_id), which is left out",
                "spans have a flow in their own fields (bind_id), which is left out");
    print_count(out, notes->ends, "end has no begin and is left out",
                "ends have no begin and are left out");
    print_count(out, notes->begins, "span has no end; it ends at the last moment of its thread",
                "spans have no end; they end at the last moment of their thread");
    print_count(out, import->open.left_out, "begin is left out: too many spans are open",
                "begins are left out: too many spans are open");
    print_count(out, notes->values, "value of a counter is no finite number and is left out",
                "values of counters are no finite numbers and are left out");
    print_count(out, notes->args_lost, "event has arguments of more than 1 MiB, which are left out",
                "events have arguments of more than 1 MiB, which are left out");
    print_count(out, import->rows.folded,
                "event is of a thread for which there is no room, and stands under another",
                "events are of threads for which there is no room, and stand under others");
    print_count(out, names_full(import), "name has no room: <names full> stands for it",
                "names have no room: <names full> stands for them");
    print_count(out, notes->copies, "operator is there a second time, as a task; it is taken once",
                "operators are there a second time, as tasks; each is taken once");
    print_texts(import, out);
}
