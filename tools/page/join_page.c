// SPDX-License-Identifier: Apache-2.0
// See join_page.h. A module is taken line by line: what begins a line at its left edge is at its
// top, which is how the sources are laid out.
#include "page/join_page.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compression/gzip.h"
#include "page/base64.h"
#include "page/sha256.h"
#include "page/squeeze.h"

enum { NAME_MAX_BYTES = 64, READ_BYTES = 65536 };

typedef struct joined {
    const char *folder;
    mxp_strbuf script, style;
    mxp_strbuf code, start;  // the script packed, as base64; what unpacks it
    mxp_strbuf names;  // " NAME " of all declared at a module's top, with the module behind
    const char *module;
    bool in_import;  // of several lines
} joined;

// ---- files -------------------------------------------------------------------------------------
static int read_file(const char *folder, const char *name, mxp_strbuf *out)
{
    mxp_strbuf path = {0};
    mxp__strbuf_printf(&path, "%s/%s", folder, name);
    FILE *file = path.failed ? NULL : fopen(mxp__strbuf_text(&path), "rb");
    char buffer[READ_BYTES];
    size_t got;
    if (file == NULL) {
        int error =
            mxp__fail(MXP_EIO, "cannot open '%s': %s", mxp__strbuf_text(&path), strerror(errno));
        mxp__strbuf_fini(&path);
        return error;
    }
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        mxp__strbuf_append(out, buffer, got);
    }
    int error = ferror(file)  ? mxp__fail(MXP_EIO, "cannot read '%s'", mxp__strbuf_text(&path))
                : out->failed ? mxp__fail_memory("the page's text")
                              : MXP_OK;
    fclose(file);
    mxp__strbuf_fini(&path);
    return error;
}

static int check_ascii(const char *name, const mxp_strbuf *text)
{
    size_t line = 1;
    for (size_t i = 0; i < text->length; i++) {
        line += text->data[i] == '\n';
        if ((unsigned char)text->data[i] >= 128 || text->data[i] == '\0') {
            return mxp__fail(MXP_EINVAL, "%s:%zu: a byte that is not ASCII: write it as \\u...",
                             name, line);
        }
    }
    return MXP_OK;
}

// ---- modules -----------------------------------------------------------------------------------
static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

// The name that a line at the top declares, or null.
static const char *declared(const char *line)
{
    static const char *const words[] = {"async function ", "function* ", "function ", "class ",
                                        "const ",          "let ",       "var "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (begins(line, words[i])) {
            return line + strlen(words[i]);
        }
    }
    return NULL;
}

static size_t name_length(const char *name)
{
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_' || name[length] == '$') {
        length++;
    }
    return length;
}

static int note_name(joined *all, const char *name)
{
    const size_t length = name_length(name);
    char key[NAME_MAX_BYTES + 4];
    if (length == 0 || length > NAME_MAX_BYTES) {
        return mxp__fail(MXP_EINVAL, "%s: a declaration at its top without one plain name: %.40s",
                         all->module, name);
    }
    snprintf(key, sizeof key, "\n%.*s ", (int)length, name);
    const char *before = strstr(mxp__strbuf_text(&all->names), key);
    if (before != NULL) {
        const char *module = before + length + 2;
        return mxp__fail(MXP_EINVAL, "%s: %.*s is declared at the top of %.*s too", all->module,
                         (int)length, name, (int)strcspn(module, "\n"), module);
    }
    mxp__strbuf_printf(&all->names, "%s%s", key, all->module);
    return MXP_OK;
}

// Appends a module's line, without what makes it longer than it need be.
static int add_line(joined *all, const char *line, size_t length, mxp_squeeze *state)
{
    static const char export_word[] = "export ";
    const bool is_code = state->in == MXP_SQUEEZE_CODE && state->depth == 0;
    if (is_code && (all->in_import || begins(line, "import "))) {
        all->in_import = memchr(line, ';', length) == NULL;
        return MXP_OK;
    }
    if (is_code &&
        (begins(line, "export default") || begins(line, "export {") || begins(line, "export *"))) {
        return mxp__fail(MXP_EINVAL, "%s: export stands before a declaration only: %.*s",
                         all->module, (int)length, line);
    }
    if (is_code && begins(line, export_word)) {
        line += sizeof export_word - 1;
        length -= sizeof export_word - 1;
    }
    const char *name = is_code ? declared(line) : NULL;
    mxp__page_squeeze(state, line, length, &all->script);
    return name != NULL ? note_name(all, name) : MXP_OK;
}

typedef int line_taker(joined *all, const char *line, size_t length, mxp_squeeze *state);

static int add_lines(joined *all, const char *name, line_taker *add)
{
    mxp_strbuf text = {0};
    mxp_squeeze state = {0};
    int error = read_file(all->folder, name, &text);
    error = error == MXP_OK ? check_ascii(name, &text) : error;
    const char *line = mxp__strbuf_text(&text);
    while (error == MXP_OK && *line != '\0') {
        const size_t length = strcspn(line, "\n");
        error = add(all, line, length, &state);
        line += length + (line[length] == '\n');
    }
    if (error == MXP_OK && strstr(mxp__strbuf_text(&text), "</script") != NULL) {
        error = mxp__fail(MXP_EINVAL, "%s: </script would end the page's script", name);
    }
    mxp__strbuf_fini(&text);
    return error;
}

static int add_module(joined *all, const char *name)
{
    all->module = name;
    all->in_import = false;
    return add_lines(all, name, add_line);
}

static int add_modules(joined *all)
{
    mxp_strbuf list = {0};
    int error = read_file(all->folder, "modules.txt", &list);
    mxp__strbuf_puts(&all->names, "\n");
    mxp__strbuf_puts(&all->script, "'use strict';(() => {\n");
    for (char *at = list.data; error == MXP_OK && at != NULL && *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        char *next = at + length + (at[length] == '\n');
        at[length] = '\0';
        error = length > 0 && at[0] != '#' ? add_module(all, at) : MXP_OK;
        at = next;
    }
    mxp__strbuf_puts(&all->script, "})();\n");
    mxp__strbuf_fini(&list);
    return error;
}

// ---- what unpacks the script -------------------------------------------------------------------
static int add_start_line(joined *all, const char *line, size_t length, mxp_squeeze *state)
{
    mxp__page_squeeze(state, line, length, &all->start);
    return MXP_OK;
}

// A command that cannot pack writes no pages either: their sections are packed, too.
static int pack_script(joined *all)
{
    mxp_strbuf packed = {0};
    const int error =
        mxp__gzip_pack(mxp__strbuf_text(&all->script), all->script.length, 9, &packed);
    if (error == MXP_OK) {
        mxp__base64_put(packed.data, packed.length, &all->code);
    }
    mxp__strbuf_fini(&packed);
    return error == MXP_ENOTSUP ? MXP_OK : error;
}

// ---- the template ------------------------------------------------------------------------------
static void put_hash(const mxp_strbuf *text, mxp_strbuf *out)
{
    uint8_t digest[MXP_SHA256_BYTES];
    mxp__sha256(mxp__strbuf_text(text), text->length, digest);
    mxp__strbuf_puts(out, "sha256-");
    mxp__base64_put(digest, sizeof digest, out);
}

// Appends what stands for a word of the template. False: it is one of the writer's words, or none.
static bool put_word(const joined *all, const char *word, mxp_strbuf *out)
{
    if (begins(word, "@STYLE@")) {
        mxp__strbuf_append(out, mxp__strbuf_text(&all->style), all->style.length);
    } else if (begins(word, "@SCRIPT@")) {
        mxp__strbuf_append(out, mxp__strbuf_text(&all->script), all->script.length);
    } else if (begins(word, "@CODE@")) {
        mxp__strbuf_append(out, mxp__strbuf_text(&all->code), all->code.length);
    } else if (begins(word, "@START@")) {
        mxp__strbuf_append(out, mxp__strbuf_text(&all->start), all->start.length);
    } else if (begins(word, "@START_HASH@")) {
        put_hash(&all->start, out);
    } else if (begins(word, "@STYLE_HASH@")) {
        put_hash(&all->style, out);
    } else if (begins(word, "@SCRIPT_HASH@")) {
        put_hash(&all->script, out);
    } else {
        return false;
    }
    return true;
}

static int read_style(joined *all)
{
    mxp_strbuf text = {0};
    int error = read_file(all->folder, "page.css", &text);
    error = error == MXP_OK ? check_ascii("page.css", &text) : error;
    mxp__page_squeeze_style(mxp__strbuf_text(&text), text.length, &all->style);
    mxp__strbuf_fini(&text);
    return error;
}

static size_t word_length(const char *word)
{
    size_t length = 1;
    while (isupper((unsigned char)word[length]) || word[length] == '_') {
        length++;
    }
    return word[length] == '@' ? length + 1 : 0;
}

static int fill_template(const joined *all, const char *at, mxp_page_text *text)
{
    static const char *const ends[] = {"@TITLE@", "@PLAIN@", "@SECTIONS@"};
    int piece = MXP_PAGE_BEFORE_TITLE;
    while (*at != '\0') {
        mxp_strbuf *out = &text->pieces[piece];
        const size_t word = *at == '@' ? word_length(at) : 0;
        if (word > 0 && put_word(all, at, out)) {
            at += word;
        } else if (word > 0 && piece < MXP_PAGE_END && begins(at, ends[piece])) {
            at += word;
            piece++;
        } else {
            mxp__strbuf_putc(out, *at++);
        }
    }
    for (int i = 0; i < MXP_PAGE_PIECES; i++) {
        if (text->pieces[i].failed) {
            return mxp__fail_memory("the page's text");
        }
    }
    return piece == MXP_PAGE_END
               ? MXP_OK
               : mxp__fail(MXP_EINVAL, "page.html has no %s, or not in its place", ends[piece]);
}

int mxp__page_join(const char *folder, mxp_page_text *text)
{
    joined all = {.folder = folder};
    mxp_strbuf page = {0};
    *text = (mxp_page_text){0};
    int error = read_style(&all);
    error = error == MXP_OK ? add_modules(&all) : error;
    error = error == MXP_OK ? pack_script(&all) : error;
    error = error == MXP_OK ? add_lines(&all, "start.js", add_start_line) : error;
    error = error == MXP_OK ? read_file(folder, "page.html", &page) : error;
    error = error == MXP_OK && (all.script.failed || all.names.failed || all.style.failed ||
                                all.code.failed || all.start.failed)
                ? mxp__fail_memory("the page's text")
                : error;
    error = error == MXP_OK ? check_ascii("page.html", &page) : error;
    error = error == MXP_OK ? fill_template(&all, mxp__strbuf_text(&page), text) : error;
    mxp__strbuf_fini(&page);
    mxp__strbuf_fini(&all.names);
    mxp__strbuf_fini(&all.style);
    mxp__strbuf_fini(&all.script);
    mxp__strbuf_fini(&all.code);
    mxp__strbuf_fini(&all.start);
    return error;
}

void mxp__page_text_fini(mxp_page_text *text)
{
    for (int i = 0; i < MXP_PAGE_PIECES; i++) {
        mxp__strbuf_fini(&text->pieces[i]);
    }
}
