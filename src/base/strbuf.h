// SPDX-License-Identifier: Apache-2.0
// A growing string. A lack of memory sets `failed`, after which appends do nothing, so callers
// check `failed` once at the end. Begins as zeros.
#ifndef MXP_BASE_STRBUF_H
#define MXP_BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mxp_strbuf {
    char *data;  // always terminated once anything was appended
    size_t length;
    size_t capacity;
    bool failed;
} mxp_strbuf;

void mxp__strbuf_fini(mxp_strbuf *buffer);
void mxp__strbuf_clear(mxp_strbuf *buffer);  // keeps the memory and clears `failed`
// Space for `more` bytes after the end, or null. The caller writes there and adds to `length`.
char *mxp__strbuf_reserve(mxp_strbuf *buffer, size_t more);
void mxp__strbuf_append(mxp_strbuf *buffer, const char *text, size_t length);
void mxp__strbuf_puts(mxp_strbuf *buffer, const char *text);
void mxp__strbuf_putc(mxp_strbuf *buffer, char c);
void mxp__strbuf_printf(mxp_strbuf *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The text, "" if empty or failed.
const char *mxp__strbuf_text(const mxp_strbuf *buffer);
// Whether any text of this process has lacked memory. What is made of many texts and printed at the
// end asks this in place of each of them.
bool mxp__strbuf_any_failed(void);

#endif
