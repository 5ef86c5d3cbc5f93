// SPDX-License-Identifier: Apache-2.0
// The section `head` of a page: the directory of the others, and what other commands print.
#include "view/view_head.h"

#include <inttypes.h>
#include <string.h>

#include "anonymous.h"
#include "base/fail.h"
#include "base/text.h"

static void put_key(mxp_strbuf *out, const char *key)
{
    mxp__strbuf_printf(out, ",\n\"%s\": ", key);
}

static void put_string(mxp_strbuf *out, const char *key, const char *text, size_t length)
{
    put_key(out, key);
    mxp__json_string(out, text, length);
}

// A JSON text that was made before; null where there is none.
static void put_document(mxp_strbuf *out, const char *key, const mxp_strbuf *text)
{
    put_key(out, key);
    if (text->length > 0) {
        mxp__strbuf_append(out, mxp__strbuf_text(text), text->length);
    } else {
        mxp__strbuf_puts(out, "null");
    }
}

// "mxprof view FILE" as a shell takes it, for commands to copy.
static void put_command(const mxp_view *view, mxp_strbuf *out)
{
    mxp_strbuf words = {0};
    mxp__explain_command(&view->explain, "view", &words);
    put_string(out, "command", mxp__strbuf_text(&words), words.length);
    mxp__strbuf_fini(&words);
}

static void put_begin(const mxp_view *view, mxp_strbuf *out)
{
    const mxp_page_data *page = &view->page;
    const char *file = mxp__without_folders(view->wish->file);
    mxp__strbuf_puts(out, "{\"version\": 1");
    put_string(out, "title", mxp__strbuf_text(&view->title), view->title.length);
    put_string(out, "file", file, strlen(file));
    put_command(view, out);
    put_key(out, "begin");
    mxp__strbuf_printf(out, "\"%" PRId64 "\"", page->begin_ns);
    put_key(out, "end");
    mxp__strbuf_printf(out, "%" PRId64, page->end_ns - page->begin_ns);
    put_key(out, "texts");
    mxp__strbuf_puts(out, view->texts.length > 0 ? mxp__strbuf_text(&view->texts) : "[]");
}

static void put_lists(const mxp_view *view, mxp_strbuf *out)
{
    static const struct {
        const char *key;
        void (*put)(const mxp_view *view, mxp_strbuf *out);
    } lists[] = {{"processes", mxp__view_put_processes},
                 {"threads", mxp__view_put_threads},
                 {"kinds", mxp__view_put_kinds},
                 {"stats", mxp__view_put_stats},
                 {"tracks", mxp__view_put_tracks},
                 {"steps", mxp__view_put_steps},
                 {"cpu", mxp__view_put_cpu},
                 {"tiles", mxp__view_put_tiles},
                 {"blocks", mxp__view_put_blocks},
                 {"sizes", mxp__view_put_sizes},
                 {"told", mxp__view_put_told},
                 {"workers", mxp__view_put_workers},
                 {"counters", mxp__view_put_counters},
                 {"flows", mxp__view_put_flows},
                 {"losses", mxp__view_put_losses},
                 {"states", mxp__view_put_states},
                 {"trust", mxp__view_put_trust},
                 {"dropped", mxp__view_put_dropped}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        put_key(out, lists[i].key);
        lists[i].put(view, out);
    }
}

static int put_report(const mxp_view *view, mxp_strbuf *out)
{
    put_key(out, "report");
    // Percentiles sort the rows' durations, which changes no figure.
    return mxp__report_json((mxp_time_report *)(uintptr_t)&view->report, out);
}

static void put_documents(const mxp_view *view, mxp_strbuf *out)
{
    put_document(out, "explain", &view->explain_json);
    put_string(out, "explain_refused", view->explain_refused, strlen(view->explain_refused));
    put_string(out, "plain", mxp__strbuf_text(&view->plain), view->plain.length);
    put_document(out, "memory", &view->memory);
    put_document(out, "path", &view->path);
    put_string(out, "path_refused", view->path_refused, strlen(view->path_refused));
    put_document(out, "whatif", &view->whatif);
    put_string(out, "whatif_refused", view->whatif_refused, strlen(view->whatif_refused));
    put_document(out, "icicle", &view->icicle);
    put_key(out, "truncated");
    mxp__strbuf_printf(out, "{\"durations\": 0, \"times\": %" PRIu64 ", \"names\": %" PRIu64 "}",
                       view->page.cut_times, view->page.kinds.cut_names);
    if (view->wish->other != NULL) {
        const char *other = mxp__without_folders(view->wish->other);
        put_string(out, "other", other, strlen(other));
    } else {
        put_key(out, "other");
        mxp__strbuf_puts(out, "null");
    }
}

int mxp__view_head(const mxp_view *view, mxp_strbuf *out)
{
    put_begin(view, out);
    put_lists(view, out);
    const int error = put_report(view, out);
    put_documents(view, out);
    mxp__strbuf_puts(out, "}\n");
    return error == MXP_OK && out->failed ? mxp__fail_memory("the page's head") : error;
}
