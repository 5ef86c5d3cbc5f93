// SPDX-License-Identifier: Apache-2.0
// See strbuf.h. Invariant: if there is data, there is space for a zero after `length`, so that text
// which a caller wrote into reserved space can be terminated when it is read.
#include "base/strbuf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"

enum { FIRST_BYTES = 64 };

static mxp_atomic_bool any_failed;

bool mxp__strbuf_any_failed(void)
{
    return mxp_atomic_load(&any_failed);
}

void mxp__strbuf_fini(mxp_strbuf *buffer)
{
    mxp__free(buffer->data, buffer->capacity);
    *buffer = (mxp_strbuf){0};
}

void mxp__strbuf_clear(mxp_strbuf *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
    if (buffer->data != NULL) {
        buffer->data[0] = '\0';
    }
}

static bool grow_slow(mxp_strbuf *buffer, size_t more)
{
    size_t needed = buffer->length + more + 1;
    bool is_sum = more < SIZE_MAX / 2 && needed >= more;
    needed = needed < FIRST_BYTES ? FIRST_BYTES : needed;
    if (buffer->failed || !is_sum || mxp__grow(&buffer->data, &buffer->capacity, needed, 1) != 0) {
        buffer->failed = true;
        mxp_atomic_store(&any_failed, true);
    }
    return !buffer->failed;
}

char *mxp__strbuf_reserve(mxp_strbuf *buffer, size_t more)
{
    assert((buffer->data == NULL || buffer->length < buffer->capacity) &&
           "more was added to a text than there was room for");
    if (buffer->failed || more >= buffer->capacity - buffer->length) {
        if (!grow_slow(buffer, more)) {
            return NULL;
        }
    }
    return buffer->data + buffer->length;
}

void mxp__strbuf_append(mxp_strbuf *buffer, const char *text, size_t length)
{
    char *at = mxp__strbuf_reserve(buffer, length);
    if (at == NULL) {
        return;
    }
    if (length != 0) {
        memcpy(at, text, length);
    }
    at[length] = '\0';
    buffer->length += length;
}

void mxp__strbuf_puts(mxp_strbuf *buffer, const char *text)
{
    mxp__strbuf_append(buffer, text, strlen(text));
}

void mxp__strbuf_putc(mxp_strbuf *buffer, char c)
{
    mxp__strbuf_append(buffer, &c, 1);
}

void mxp__strbuf_printf(mxp_strbuf *buffer, const char *format, ...)
{
    char *at = mxp__strbuf_reserve(buffer, FIRST_BYTES);
    if (at == NULL) {
        return;
    }
    size_t space = buffer->capacity - buffer->length;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(at, space, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length >= space) {
        at = mxp__strbuf_reserve(buffer, (size_t)length);
        if (at == NULL) {
            buffer->data[buffer->length] = '\0';
            return;
        }
        va_start(arguments, format);
        length = vsnprintf(at, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    if (length < 0) {
        buffer->failed = true;
        return;
    }
    buffer->length += (size_t)length;
}

const char *mxp__strbuf_text(const mxp_strbuf *buffer)
{
    if (buffer->failed || buffer->data == NULL) {
        return "";
    }
    buffer->data[buffer->length] = '\0';
    return buffer->data;
}
