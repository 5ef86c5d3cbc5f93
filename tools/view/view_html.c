// SPDX-License-Identifier: Apache-2.0
// The page itself: its own words, with the title, the plain text and the sections in between.
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "compression/gzip.h"
#include "page/base64.h"
#include "view/view.h"

enum {
    HEAD_LEVEL = 6,
    HEAD_BYTES_MAX = 64 << 20,  // unpacked, which a reader takes at most
    HEAD_LETTERS_MAX = 8000000  // in the page, because nothing is shown before it is read
};

typedef struct page_writer {
    mxp_view *view;
    mxp_output output;
    mxp_strbuf line, packed;
    uint64_t sections, letters;
} page_writer;

// ---- texts in markup ---------------------------------------------------------------------------
// Valid UTF-8 without anything that markup would take for its own.
static void put_escaped(const char *text, size_t length, mxp_strbuf *out)
{
    mxp_strbuf valid = {0};
    mxp__utf8_string(&valid, text, length);
    for (size_t i = 0; i < valid.length; i++) {
        const char c = valid.data[i];
        const char *stands = c == '&'    ? "&amp;"
                             : c == '<'  ? "&lt;"
                             : c == '>'  ? "&gt;"
                             : c == '"'  ? "&quot;"
                             : c == '\'' ? "&#39;"
                             : c == '\0' ? "\xef\xbf\xbd"
                                         : NULL;
        if (stands != NULL) {
            mxp__strbuf_puts(out, stands);
        } else {
            mxp__strbuf_putc(out, c);
        }
    }
    mxp__strbuf_fini(&valid);
}

static int write_text(page_writer *self, const mxp_strbuf *text)
{
    if (text->failed) {
        return mxp__fail_memory("the page");
    }
    return self->output.sink.write(&self->output.sink, mxp__strbuf_text(text), text->length);
}

static int write_escaped(page_writer *self, const mxp_strbuf *text)
{
    mxp__strbuf_clear(&self->line);
    put_escaped(mxp__strbuf_text(text), text->length, &self->line);
    return write_text(self, &self->line);
}

// ---- sections ----------------------------------------------------------------------------------
static int write_section(page_writer *self, const char *name, const mxp_strbuf *packed)
{
    mxp__strbuf_clear(&self->line);
    mxp__strbuf_printf(&self->line, "<script type=\"application/vnd.mxprof\" id=\"x-%s\">", name);
    const size_t before = self->line.length;
    mxp__base64_put(mxp__strbuf_text(packed), packed->length, &self->line);
    self->letters += self->line.length - before;
    self->sections++;
    mxp__strbuf_puts(&self->line, "</script>\n");
    return write_text(self, &self->line);
}

static int write_spooled(page_writer *self, const char *name, const mxp_spooled_section *section)
{
    const int error = mxp__page_spool_read(&self->view->page.blocks.spool, section, &self->packed);
    return error == MXP_OK ? write_section(self, name, &self->packed) : error;
}

static int write_sections(page_writer *self)
{
    const mxp_view *view = self->view;
    const mxp_page_blocks *blocks = &view->page.blocks;
    int error = MXP_OK;
    size_t number = 0;
    for (size_t i = 0; i < view->section_count && error == MXP_OK; i++) {
        if (!view->sections[i].is_dropped) {
            error = write_spooled(self, view->sections[i].name, &view->sections[i].at);
        }
    }
    for (size_t i = 0; i < blocks->count && error == MXP_OK; i++) {
        if (!blocks->all[i].is_dropped) {
            char name[32];
            snprintf(name, sizeof name, "b%zu", number++);
            error = write_spooled(self, name, &blocks->all[i].section);
        }
    }
    mxp__strbuf_clear(&self->line);
    mxp__strbuf_printf(&self->line,
                       "<script type=\"application/vnd.mxprof\" id=\"x-end\">%" PRIu64 " %" PRIu64
                       "</script>\n",
                       self->sections, self->letters);
    return error == MXP_OK ? write_text(self, &self->line) : error;
}

static int write_page(page_writer *self, const mxp_page_text *assets, const mxp_strbuf *head)
{
    const mxp_strbuf *pieces = assets->pieces;
    int error = write_text(self, &pieces[MXP_PAGE_BEFORE_TITLE]);
    error = error == MXP_OK ? write_escaped(self, &self->view->title) : error;
    error = error == MXP_OK ? write_text(self, &pieces[MXP_PAGE_BEFORE_PLAIN]) : error;
    error = error == MXP_OK ? write_escaped(self, &self->view->plain) : error;
    error = error == MXP_OK ? write_text(self, &pieces[MXP_PAGE_BEFORE_DATA]) : error;
    error = error == MXP_OK ? write_section(self, "head", head) : error;
    error = error == MXP_OK ? write_sections(self) : error;
    return error == MXP_OK ? write_text(self, &pieces[MXP_PAGE_END]) : error;
}

// ---- the head ----------------------------------------------------------------------------------
// Steps and names of a trace that is too long for a page, which no size makes smaller.
static int check_head(const mxp_view *view, uint64_t bytes, uint64_t packed_bytes)
{
    const uint64_t letters = (packed_bytes + 2) / 3 * 4;
    const bool is_long = letters > HEAD_LETTERS_MAX;
    mxp_strbuf command = {0};
    if (bytes <= HEAD_BYTES_MAX && !is_long) {
        return MXP_OK;
    }
    mxp__explain_command(&view->explain, "convert", &command);
    const int error = mxp__fail(
        MXP_EINVAL,
        "steps, names and tables of this trace would take %" PRIu64 " bytes before a page "
        "shows anything, more than %d: take a part of its time, as by %s -o part.mxp --until %.9g",
        is_long ? letters : bytes, is_long ? HEAD_LETTERS_MAX : HEAD_BYTES_MAX,
        mxp__strbuf_text(&command),
        (double)(view->page.begin_ns / 2 + view->page.end_ns / 2) / 1e9);
    mxp__strbuf_fini(&command);
    return error;
}

// Fits the blocks to what the head leaves, which is smaller with fewer of them.
static int make_head(mxp_view *view, uint64_t page_bytes, mxp_strbuf *packed)
{
    enum { TRIES = 4 };
    mxp_strbuf head = {0};
    uint64_t head_bytes = 0;
    int error = MXP_OK;
    for (int i = 0; i < TRIES && error == MXP_OK; i++) {
        const uint64_t before = head_bytes;
        error = mxp__view_fit(view, page_bytes + head_bytes);
        mxp__strbuf_clear(&head);
        mxp__strbuf_clear(packed);
        error = error == MXP_OK ? mxp__view_head(view, &head) : error;
        error =
            error == MXP_OK ? mxp__gzip_pack(head.data, head.length, HEAD_LEVEL, packed) : error;
        head_bytes = packed->length / 3 * 4 + 128;
        if (head_bytes <= before || view->wish->limit_bytes == UINT64_MAX) {
            break;
        }
    }
    error = error == MXP_OK ? check_head(view, head.length, packed->length) : error;
    mxp__strbuf_fini(&head);
    return error;
}

int mxp__view_write(mxp_view *view, const mxp_page_text *assets)
{
    page_writer self = {.view = view};
    mxp_strbuf head = {0};
    uint64_t own_bytes = view->title.length + view->plain.length * 2;
    for (int i = 0; i < MXP_PAGE_PIECES; i++) {
        own_bytes += assets->pieces[i].length;
    }
    int error = make_head(view, own_bytes, &head);
    if (error == MXP_OK) {
        error = mxp__output_open(view->wish->out, &self.output);
    }
    if (error == MXP_OK) {
        error = write_page(&self, assets, &head);
        const int closed = mxp__output_close(&self.output, error == MXP_OK);
        error = error == MXP_OK           ? closed
                : self.output.reader_gone ? MXP_OK  // it has read what it wanted
                                          : error;
    }
    mxp__strbuf_fini(&head);
    mxp__strbuf_fini(&self.line);
    mxp__strbuf_fini(&self.packed);
    return error;
}
