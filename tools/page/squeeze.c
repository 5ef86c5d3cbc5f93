// SPDX-License-Identifier: Apache-2.0
// See squeeze.h. Where a slash begins a regular expression is told by what stands before it, as
// readers tell it: behind a value it divides.
#include "page/squeeze.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

// Whether two characters of code would be another token, or a comment, without the blank.
static bool needs_blank(char a, char b)
{
    static const char *const pairs[] = {"++", "--", "//", "/*", "<!", "->"};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (a == pairs[i][0] && b == pairs[i][1]) {
            return true;
        }
    }
    return is_word(a) && (is_word(b) || b == '`');
}

static bool begins_regex(const mxp_squeeze *self, const mxp_strbuf *out)
{
    static const char word[] = "return";
    const size_t length = sizeof word - 1;
    const char *text = mxp__strbuf_text(out);
    const size_t blank = out->length > 0 && text[out->length - 1] == ' ';
    if (out->length - blank >= length &&
        memcmp(text + out->length - blank - length, word, length) == 0) {
        return true;
    }
    return self->before == '\0' || strchr("(,=:[!&|?{;+-*%<>~^", self->before) != NULL;
}

// What follows the one at `at` up to `end`, which escapes and brackets of a regular expression
// hide.
static size_t quoted(const char *line, size_t at, size_t length, char end)
{
    bool in_class = false;
    for (size_t i = at + 1; i < length; i++) {
        if (line[i] == '\\') {
            i++;
        } else if (end == '/' && (line[i] == '[' || line[i] == ']')) {
            in_class = line[i] == '[';
        } else if (line[i] == end && !in_class) {
            return i + 1;
        }
    }
    return length;
}

static size_t add_template(mxp_squeeze *self, const char *line, size_t at, size_t length,
                           mxp_strbuf *out)
{
    size_t i = at;
    while (i < length && self->in == MXP_SQUEEZE_TEMPLATE) {
        const char c = line[i++];
        if (c == '\\') {
            i += i < length;
        } else if (c == '`') {
            self->in = MXP_SQUEEZE_CODE;
            self->before = c;
        } else if (c == '$' && i < length && line[i] == '{') {
            assert(self->depth < MXP_SQUEEZE_NESTED);
            i++;
            self->braces[self->depth++] = 0;
            self->in = MXP_SQUEEZE_CODE;
            self->before = '{';
        }
    }
    mxp__strbuf_append(out, line + at, i - at);
    return i;
}

// A brace may end the code of a template.
static void follow_brace(mxp_squeeze *self, char c)
{
    unsigned *open = self->depth > 0 ? &self->braces[self->depth - 1] : NULL;
    if (c == '{' && open != NULL) {
        ++*open;
    } else if (c == '}' && open != NULL && *open > 0) {
        --*open;
    } else if (c == '}' && open != NULL) {
        self->depth--;
        self->in = MXP_SQUEEZE_TEMPLATE;
    } else if (c == '`') {
        self->in = MXP_SQUEEZE_TEMPLATE;
    }
}

// One token, or a sign of it.
static size_t add_code(mxp_squeeze *self, const char *line, size_t at, size_t length,
                       mxp_strbuf *out)
{
    const char c = line[at];
    const bool is_text = c == '\'' || c == '"' || (c == '/' && begins_regex(self, out));
    const size_t end = is_text ? quoted(line, at, length, c) : at + 1;
    mxp__strbuf_append(out, line + at, end - at);
    follow_brace(self, c);
    self->before = is_text ? '"' : c;
    return end;
}

static size_t skip_comment(mxp_squeeze *self, const char *line, size_t at, size_t length)
{
    const char *end = memmem(line + at, length - at, "*/", 2);
    self->in = end != NULL ? MXP_SQUEEZE_CODE : MXP_SQUEEZE_COMMENT;
    return end != NULL ? (size_t)(end - line) + 2 : length;
}

void mxp__page_squeeze(mxp_squeeze *self, const char *line, size_t length, mxp_strbuf *out)
{
    const size_t begin = out->length;
    bool is_blank = false;
    for (size_t i = 0; i < length;) {
        const char next = i + 1 < length ? line[i + 1] : '\0';
        if (self->in == MXP_SQUEEZE_TEMPLATE) {
            i = add_template(self, line, i, length, out);
        } else if (self->in == MXP_SQUEEZE_COMMENT) {
            i = skip_comment(self, line, i, length);
            is_blank = true;
        } else if (line[i] == ' ') {
            is_blank = true;
            i++;
        } else if (line[i] == '/' && next == '*') {
            i = skip_comment(self, line, i + 2, length);
            is_blank = true;
        } else if (line[i] == '/' && next == '/') {
            break;
        } else {
            if (is_blank && out->length > begin && needs_blank(self->before, line[i])) {
                mxp__strbuf_putc(out, ' ');
            }
            is_blank = false;
            i = add_code(self, line, i, length, out);
        }
    }
    if (out->length > begin || self->in == MXP_SQUEEZE_TEMPLATE) {
        mxp__strbuf_putc(out, '\n');
    }
}

void mxp__page_squeeze_style(const char *text, size_t length, mxp_strbuf *out)
{
    static const char signs[] = "{};,:";  // a colon keeps the blank before it: `a :hover`
    bool is_blank = false;
    char before = ';';
    for (size_t i = 0; i < length;) {
        const char c = text[i];
        if (c == '/' && i + 1 < length && text[i + 1] == '*') {
            const char *end = memmem(text + i + 2, length - i - 2, "*/", 2);
            i = end != NULL ? (size_t)(end - text) + 2 : length;
            is_blank = true;
        } else if (isspace((unsigned char)c)) {
            is_blank = true;
            i++;
        } else {
            const size_t end = c == '"' || c == '\'' ? quoted(text, i, length, c) : i + 1;
            const bool parts = strchr(signs, before) == NULL && strchr("{};,", c) == NULL;
            mxp__strbuf_append(out, " ", is_blank && parts);
            mxp__strbuf_append(out, text + i, end - i);
            is_blank = false;
            before = c;
            i = end;
        }
    }
}
