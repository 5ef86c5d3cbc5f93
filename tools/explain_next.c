// SPDX-License-Identifier: Apache-2.0
// The commands that `explain` says to type next: each is a line that a shell takes as it is.
#include <string.h>

#include "command.h"
#include "explain_view.h"

// A word as a shell takes it.
static void put_word(const char *word, mxp_strbuf *out)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%";
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        mxp__strbuf_puts(out, word);
        return;
    }
    mxp__strbuf_putc(out, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            mxp__strbuf_puts(out, "'\\''");
        } else {
            mxp__strbuf_putc(out, *word);
        }
    }
    mxp__strbuf_putc(out, '\'');
}

static void put_option(const char *option, const char *value, mxp_strbuf *out)
{
    if (value != NULL) {
        mxp__strbuf_printf(out, " %s ", option);
        put_word(value, out);
    }
}

void mxp__explain_command(const mxp_explain_view *view, const char *command, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "mxprof %s ", command);
    put_word(view->file, out);
    put_option("--step", view->step, out);
    put_option("--from", view->from, out);
    put_option("--until", view->until, out);
}

static void put_whatif(const mxp_explain_view *view, const char *option, const char *value,
                       mxp_strbuf *out)
{
    mxp__explain_command(view, "whatif", out);
    put_option(option, value, out);
}

static void put_place_whatif(const mxp_explain_view *view, const mxp_explained *of,
                             const mxp_cause *cause, mxp_strbuf *out)
{
    mxp_strbuf text = {0};
    size_t length;
    const char *option = "--scope";
    if (cause->layer != 0) {
        const char *path = mxp__scope_tree_path(&of->facts.scopes, cause->layer, &length);
        mxp__strbuf_append(&text, path, length);
    } else {
        option = "--name";
        const mxp_cause_place name = {.name = cause->places[0].name};
        mxp__explain_place(of, &name, &text);
    }
    mxp__strbuf_printf(&text, "=%.2g", cause->factor);
    put_whatif(view, option, mxp__strbuf_text(&text), out);
    mxp__strbuf_fini(&text);
}

// Of all of the file.
static void put_plain(const char *command, const mxp_explain_view *view, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "mxprof %s ", command);
    put_word(view->file, out);
}

void mxp__cause_next(const mxp_explain_view *view, const mxp_explained *of, const mxp_cause *cause,
                     mxp_strbuf *out)
{
    mxp_strbuf text = {0};
    switch (cause->id) {
    case MXP_CAUSE_INPUT:
        if (cause->waits_for_workers) {
            mxp__explain_command(view, "path", out);
        } else {
            put_whatif(view, "--prefetch", "input", out);
        }
        break;
    case MXP_CAUSE_TINY:
        put_whatif(view, "--bulk", "8", out);
        break;
    case MXP_CAUSE_WAIT:
        mxp__explain_place(of, &cause->places[0], &text);
        put_whatif(view, "--no-wait", mxp__strbuf_text(&text), out);
        break;
    case MXP_CAUSE_LAYER:
        if (of->facts.operators > 0) {
            put_place_whatif(view, of, cause, out);
        } else {
            mxp__explain_command(view, "path", out);
        }
        break;
    case MXP_CAUSE_ALLOCATION:
        put_plain("memory --fresh", view, out);
        break;
    case MXP_CAUSE_GROWTH:
        put_plain("memory --growth", view, out);
        break;
    case MXP_CAUSE_FIRST_RUN:
        put_plain("explain --step 4:", view, out);
        break;
    case MXP_CAUSE_RECORDING:
        put_plain("info", view, out);
        break;
    case MXP_CAUSE_IMBALANCE:
        break;
    default:
        mxp__explain_command(view, "path", out);
    }
    mxp__strbuf_fini(&text);
}
