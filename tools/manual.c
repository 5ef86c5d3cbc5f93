// SPDX-License-Identifier: Apache-2.0
// See manual.h. A help text is read by its form: paragraphs; lines that begin with two blanks,
// which are a word and, after two more, what it means; a line before such ones is their heading;
// `usage:`, `example` and `exit code:` begin sections of their own.
#include "manual.h"

#include <errno.h>
#include <mxprof/version.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

// Pages have a date. This one is of their form, because a day of the build would make each build
// another.
static const char form_of[] = "2026-11-26";

typedef enum manual_section {
    SECTION_DESCRIPTION,
    SECTION_OPTIONS,
    SECTION_NOTES,
    SECTION_EXAMPLES,
    SECTION_STATUS
} manual_section;

typedef struct page {
    mxp_strbuf *out;
    manual_section section;
    bool after_usage;
    bool is_fresh;  // nothing since the heading
    bool in_text, in_list, in_verbatim;
    size_t list_indent;
    size_t table_indent;  // of lines within an entry that are kept as they are; 0: there are none
} page;

// ---- roff --------------------------------------------------------------------------------------
// A line's first character must not make it a request.
static void put_roff(mxp_strbuf *out, const char *text, size_t length)
{
    if (length > 0 && (text[0] == '.' || text[0] == '\'')) {
        mxp__strbuf_puts(out, "\\&");
    }
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '\\':
            mxp__strbuf_puts(out, "\\e");
            break;
        case '-':
            mxp__strbuf_puts(out, "\\-");
            break;
        case '\'':
            mxp__strbuf_puts(out, "\\(aq");
            break;
        case '`':
            mxp__strbuf_puts(out, "\\(ga");
            break;
        case '^':
            mxp__strbuf_puts(out, "\\(ha");
            break;
        case '~':
            mxp__strbuf_puts(out, "\\(ti");
            break;
        default:
            mxp__strbuf_putc(out, text[i]);
        }
    }
}

static void put_line(page *self, const char *text, size_t length)
{
    put_roff(self->out, text, length);
    mxp__strbuf_putc(self->out, '\n');
}

static void end_block(page *self)
{
    if (self->in_verbatim) {
        mxp__strbuf_puts(self->out, ".fi\n.RE\n");
    }
    self->in_text = self->in_list = self->in_verbatim = false;
    self->table_indent = 0;
}

static void begin_section(page *self, manual_section section)
{
    static const char *const names[] = {[SECTION_DESCRIPTION] = "DESCRIPTION",
                                        [SECTION_OPTIONS] = "OPTIONS",
                                        [SECTION_NOTES] = "NOTES",
                                        [SECTION_EXAMPLES] = "EXAMPLES",
                                        [SECTION_STATUS] = "EXIT STATUS"};
    end_block(self);
    if (self->section != section) {
        mxp__strbuf_printf(self->out, ".SH %s\n", names[section]);
        self->section = section;
        self->is_fresh = true;
    }
}

// ---- lines -------------------------------------------------------------------------------------
typedef struct help_line {
    const char *text;
    size_t length, indent;
} help_line;

static help_line line_at(const char *at)
{
    help_line line = {.text = at, .length = strcspn(at, "\n")};
    line.indent = strspn(at, " ");
    line.indent = line.indent < line.length ? line.indent : line.length;
    return line;
}

static bool begins(const help_line *line, const char *word)
{
    return line->length >= strlen(word) && strncmp(line->text, word, strlen(word)) == 0;
}

static bool is_word(const help_line *line, const char *word)
{
    return line->length == strlen(word) && begins(line, word);
}

// Where two blanks separate a word from what it means; the line's length if nothing does.
static size_t gap_of(const help_line *line)
{
    for (size_t i = line->indent; i + 2 < line->length; i++) {
        if (line->text[i] == ' ' && line->text[i + 1] == ' ') {
            return i;
        }
    }
    return line->length;
}

// ---- blocks ------------------------------------------------------------------------------------
static void put_verbatim(page *self, const help_line *line)
{
    if (!self->in_verbatim) {
        end_block(self);
        mxp__strbuf_puts(self->out, ".RS 2\n.nf\n");
        self->in_verbatim = true;
        self->is_fresh = false;
    }
    put_line(self, line->text + line->indent, line->length - line->indent);
}

static void put_entry(page *self, const help_line *line)
{
    size_t gap = gap_of(line);
    end_block(self);
    self->is_fresh = false;
    mxp__strbuf_puts(self->out, ".TP\n\\fB");
    put_roff(self->out, line->text + line->indent, gap - line->indent);
    mxp__strbuf_puts(self->out, "\\fR\n");
    size_t from = gap;
    while (from < line->length && line->text[from] == ' ') {
        from++;
    }
    if (from < line->length) {
        put_line(self, line->text + from, line->length - from);
    }
    self->in_list = true;
    self->list_indent = line->indent;
}

// A line with blanks before it: it goes on with an entry, begins one, or stays as it is.
static void put_indented(page *self, const help_line *line, const help_line *next)
{
    enum { DEEPER = 3 };
    bool goes_on = self->in_list && line->indent >= self->list_indent + DEEPER &&
                   line->text[line->indent] != '-';
    bool is_term = gap_of(line) < line->length || next->indent >= line->indent + DEEPER;
    bool is_table = (goes_on && gap_of(line) < line->length) ||
                    (self->table_indent > 0 && line->indent >= self->table_indent);
    if (self->section == SECTION_EXAMPLES || is_table || (self->in_verbatim && !is_term)) {
        put_verbatim(self, line);
        self->table_indent = is_table ? line->indent : 0;
    } else if (goes_on) {
        put_line(self, line->text + line->indent, line->length - line->indent);
    } else if (is_term) {
        if (self->after_usage && self->section == SECTION_DESCRIPTION) {
            begin_section(self, SECTION_OPTIONS);
        }
        put_entry(self, line);
    } else {
        put_verbatim(self, line);
    }
}

static void put_text(page *self, const help_line *line, const help_line *next)
{
    bool is_heading = !self->in_text && next->indent >= 2 && self->section != SECTION_STATUS;
    if (is_heading) {
        if (self->after_usage && self->section == SECTION_DESCRIPTION) {
            begin_section(self, SECTION_OPTIONS);
        }
        end_block(self);
        size_t colon = line->length > 0 && line->text[line->length - 1] == ':' ? 1 : 0;
        mxp__strbuf_puts(self->out, ".SS ");
        put_line(self, line->text, line->length - colon);
        self->is_fresh = true;
        return;
    }
    if (!self->in_text) {
        if (self->section == SECTION_OPTIONS) {
            begin_section(self, SECTION_NOTES);
        }
        end_block(self);
        mxp__strbuf_puts(self->out, self->is_fresh ? "" : ".P\n");
    }
    self->is_fresh = false;
    self->in_text = true;
    put_line(self, line->text, line->length);
}

// The usage stands before the description, so it is taken out of the text.
static void put_synopsis(page *self, const char *help)
{
    static const char usage[] = "usage: ";
    const char *at = strstr(help, usage);
    mxp__strbuf_puts(self->out, ".SH SYNOPSIS\n.nf\n");
    while (at != NULL && *at != '\n' && *at != '\0') {
        help_line line = line_at(at);
        size_t skipped = begins(&line, usage) ? sizeof usage - 1 : line.indent;
        put_line(self, at + skipped, line.length - skipped);
        at += line.length + (at[line.length] == '\n');
    }
    mxp__strbuf_puts(self->out, ".fi\n");
}

// Gives the place behind what it has put.
static const char *put_one(page *self, const char *at, bool *in_usage)
{
    static const char code[] = "exit code: ";
    help_line line = line_at(at);
    const char *behind = at + line.length + (at[line.length] == '\n');
    help_line next = line_at(behind);
    if (line.length == 0) {
        *in_usage = false;
        end_block(self);
    } else if (begins(&line, "usage: ") || *in_usage) {
        *in_usage = self->after_usage = true;
    } else if (is_word(&line, "example") || is_word(&line, "examples")) {
        begin_section(self, SECTION_EXAMPLES);
    } else if (begins(&line, code)) {
        begin_section(self, SECTION_STATUS);
        put_line(self, line.text + sizeof code - 1, line.length - (sizeof code - 1));
        self->in_text = true;
    } else if (line.indent >= 2) {
        put_indented(self, &line, &next);
    } else {
        put_text(self, &line, &next);
    }
    return behind;
}

void mxp__manual_page(const char *name, const char *summary, const char *help, mxp_strbuf *out)
{
    page self = {.out = out, .section = SECTION_DESCRIPTION, .is_fresh = true};
    bool in_usage = false;
    mxp__strbuf_puts(out, ".TH ");
    for (const char *at = name; *at != '\0'; at++) {
        mxp__strbuf_putc(out, *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at);
    }
    mxp__strbuf_printf(out, " 1 \"%s\" \"mxprof %s\" \"User Commands\"\n.SH NAME\n", form_of,
                       MXP_VERSION_STRING);
    put_roff(out, name, strlen(name));
    mxp__strbuf_puts(out, " \\- ");
    put_line(&self, summary, strlen(summary));
    put_synopsis(&self, help);
    mxp__strbuf_puts(out, ".SH DESCRIPTION\n");
    for (const char *at = help; *at != '\0';) {
        at = put_one(&self, at, &in_usage);
    }
    end_block(&self);
}

// ---- files -------------------------------------------------------------------------------------
static void put_see_also(const char *name, const mxp_command *const *commands, size_t count,
                         mxp_strbuf *out)
{
    mxp__strbuf_puts(out, ".SH SEE ALSO\n");
    const char *between = "";
    if (strcmp(name, "mxprof") != 0) {
        mxp__strbuf_puts(out, "\\fBmxprof\\fR(1)");
        between = ",\n";
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name + (name[6] == '-' ? 7 : 6), commands[i]->name) != 0) {
            mxp__strbuf_printf(out, "%s\\fBmxprof\\-%s\\fR(1)", between, commands[i]->name);
            between = ",\n";
        }
    }
    mxp__strbuf_putc(out, '\n');
}

static int write_page(const char *folder, const char *name, const mxp_strbuf *text)
{
    mxp_strbuf path = {0};
    mxp__strbuf_printf(&path, "%s/%s.1", folder, name);
    FILE *file = fopen(mxp__strbuf_text(&path), "we");
    bool fine = file != NULL && !text->failed && !path.failed &&
                fwrite(text->data, 1, text->length, file) == text->length;
    fine = file != NULL && fclose(file) == 0 && fine;
    if (!fine) {
        fprintf(stderr, "mxprof: cannot write '%s': %s\n", mxp__strbuf_text(&path),
                strerror(errno));
    }
    mxp__strbuf_fini(&path);
    return fine ? MXP_EXIT_FINE : MXP_EXIT_ERROR;
}

static int write_command(const char *folder, const mxp_command *const *commands, size_t count,
                         const mxp_command *command)
{
    mxp_strbuf help = {0}, text = {0}, name = {0};
    mxp__strbuf_printf(&name, "mxprof-%s", command->name);
    mxp__command_help_text(command, &help);
    mxp__manual_page(mxp__strbuf_text(&name), command->summary, mxp__strbuf_text(&help), &text);
    put_see_also(mxp__strbuf_text(&name), commands, count, &text);
    int code = write_page(folder, mxp__strbuf_text(&name), &text);
    mxp__strbuf_fini(&help);
    mxp__strbuf_fini(&text);
    mxp__strbuf_fini(&name);
    return code;
}

int mxp__manual_write(const char *folder, const mxp_command *const *commands, size_t count,
                      const mxp_strbuf *overview)
{
    static const char name[] = "mxprof";
    mxp_strbuf text = {0};
    mxp__manual_page(name, "runs programs and records them, and reads their profiles",
                     mxp__strbuf_text(overview), &text);
    put_see_also(name, commands, count, &text);
    int code = write_page(folder, name, &text);
    mxp__strbuf_fini(&text);
    for (size_t i = 0; i < count && code == MXP_EXIT_FINE; i++) {
        code = write_command(folder, commands, count, commands[i]);
    }
    return code;
}
