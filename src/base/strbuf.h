// SPDX-License-Identifier: Apache-2.0
// A growing string. Appending never fails at once: a lack of memory sets `failed`, after which
// appends do nothing; check it once at the end.
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

void mxp__strbuf_init(mxp_strbuf *buffer);  // also: = {0}
void mxp__strbuf_fini(mxp_strbuf *buffer);
void mxp__strbuf_clear(mxp_strbuf *buffer);  // keeps the memory and clears `failed`
// Room for `more` bytes behind the end, or null. The caller writes there and adds to length.
char *mxp__strbuf_reserve(mxp_strbuf *buffer, size_t more);
void mxp__strbuf_append(mxp_strbuf *buffer, const char *text, size_t length);
void mxp__strbuf_puts(mxp_strbuf *buffer, const char *text);
void mxp__strbuf_putc(mxp_strbuf *buffer, char c);
void mxp__strbuf_printf(mxp_strbuf *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The text, "" if empty or failed.
const char *mxp__strbuf_text(const mxp_strbuf *buffer);

#endif
