// SPDX-License-Identifier: Apache-2.0
// The critical path in a trace that one can look at: the whole trace as Chrome JSON, with the
// path's pieces as a row of its own and arrows from piece to piece where the thread changes.
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "path_view.h"
#include "profiler/export/export.h"

// Passes on what the exporter writes, and puts `text` behind the begin of the list of events.
typedef struct path_sink {
    mxp_sink sink;  // must stay first
    mxp_sink *to;
    const mxp_strbuf *text;
    bool is_begun;
} path_sink;

static int write_with_path(mxp_sink *sink, const char *data, size_t size)
{
    path_sink *self = (path_sink *)sink;
    const char *begin = self->is_begun ? NULL : memchr(data, '[', size);
    if (begin == NULL) {
        return self->to->write(self->to, data, size);
    }
    const size_t head = (size_t)(begin - data) + 1;
    self->is_begun = true;
    int error = self->to->write(self->to, data, head);
    if (error == MXP_OK) {
        error = self->to->write(self->to, self->text->data, self->text->length);
    }
    return error == MXP_OK && size > head ? self->to->write(self->to, data + head, size - head)
                                          : error;
}

// ---- events ------------------------------------------------------------------------------------
// Linux numbers threads up to 4194304, and rows of asynchronous spans have 10000000 and more. 0
// would not do: Perfetto takes it for the main thread.
enum { PATH_TID = 9999999 };

static void put_us(mxp_strbuf *out, int64_t ns)
{
    mxp__strbuf_printf(out, "%.3f", (double)ns / 1e3);
}

static void put_head(const mxp_path_view *view, mxp_strbuf *out)
{
    mxp__strbuf_printf(out,
                       "\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu32
                       ",\"tid\":%d,\"args\":{\"name\":\"critical path\"}},"
                       "\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%" PRIu32
                       ",\"tid\":%d,\"args\":{\"sort_index\":-1}},",
                       view->process->pid, PATH_TID, view->process->pid, PATH_TID);
}

static void put_slice(const mxp_path_view *view, const mxp_path_long *kept, mxp_strbuf *out)
{
    const mxp_path_piece *piece = &kept->piece;
    mxp_strbuf label = {0};
    mxp__path_view_label(view, piece->kind, kept->name, kept->scope, &label);
    mxp__strbuf_puts(out, "\n{\"ph\":\"X\",\"cat\":\"critical path\",\"name\":");
    mxp__json_string(out, mxp__strbuf_text(&label), label.length);
    mxp__strbuf_printf(out, ",\"pid\":%" PRIu32 ",\"tid\":%d,\"ts\":", view->process->pid,
                       PATH_TID);
    put_us(out, piece->from_ns);
    mxp__strbuf_puts(out, ",\"dur\":");
    put_us(out, piece->to_ns - piece->from_ns);
    mxp__strbuf_printf(out, ",\"args\":{\"what\":\"%s\"}},", mxp__path_kind_name(piece->kind));
    out->failed |= label.failed;
    mxp__strbuf_fini(&label);
}

static void put_end_of_arrow(const mxp_path_view *view, const char *phase, uint32_t thread,
                             int64_t ns, size_t number, mxp_strbuf *out)
{
    const uint32_t tid =
        thread < view->process->thread_count ? view->process->threads[thread].tid : 0;
    mxp__strbuf_printf(out,
                       "\n{\"ph\":\"%s\",\"cat\":\"critical path\",\"name\":\"critical path\","
                       "\"id\":%zu,\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":",
                       phase, number, view->process->pid, tid);
    put_us(out, ns);
    mxp__strbuf_puts(out, strcmp(phase, "f") == 0 ? ",\"bp\":\"e\"}," : "},");
}

// From the middle of a piece to that of the next one on another thread, so that both ends are in
// what runs there.
static void put_arrow(const mxp_path_view *view, size_t i, mxp_strbuf *out)
{
    const mxp_path_piece *from = &view->pieces[i].piece, *to = &view->pieces[i + 1].piece;
    if (from->thread == to->thread || from->to_ns != to->from_ns) {
        return;
    }
    put_end_of_arrow(view, "s", from->thread, from->from_ns + (from->to_ns - from->from_ns) / 2, i,
                     out);
    put_end_of_arrow(view, "f", to->thread, to->from_ns + (to->to_ns - to->from_ns) / 2, i, out);
}

static void put_path(const mxp_path_view *view, mxp_strbuf *out)
{
    put_head(view, out);
    for (size_t i = 0; i < view->piece_count; i++) {
        put_slice(view, &view->pieces[i], out);
        if (i + 1 < view->piece_count) {
            put_arrow(view, i, out);
        }
    }
}

int mxp__path_view_trace(const mxp_command *command, const mxp_path_view *view, const char *path)
{
    const mxp_export_options options = {0};
    mxp_strbuf text = {0};
    mxp_output output;
    put_path(view, &text);
    if (text.failed || mxp__output_open(path, &output) != MXP_OK) {
        mxp__strbuf_fini(&text);
        return mxp__command_failed(command);
    }
    path_sink sink = {
        .sink = {.write = write_with_path, .path = path}, .to = &output.sink, .text = &text};
    int error = mxp__export(mxp__exporter_find("chrome"), view->process, &options, &sink.sink);
    const bool is_fine = error == MXP_OK || error == MXP_EFORMAT || output.reader_gone;
    const int closed = mxp__output_close(&output, is_fine);
    mxp__strbuf_fini(&text);
    return is_fine && closed == MXP_OK ? MXP_EXIT_FINE : mxp__command_failed(command);
}
