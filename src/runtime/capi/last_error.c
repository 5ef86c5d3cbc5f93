// SPDX-License-Identifier: Apache-2.0
// MXGetLastError: the calling thread's error line in MXNet's form, with the class of the error in
// front.
#include <ctype.h>
#include <mxnet/c_api.h>
#include <mxprof/error.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/thread_slot.h"

static const char class_name[] = "MXNetError: ";
static const char no_memory[] = "MXNetError: out of memory";

static _Thread_local mxp_strbuf *text;

static void text_free(void *buffer)
{
    mxp__strbuf_fini(buffer);
    mxp__free(buffer, sizeof(mxp_strbuf));
    text = NULL;
}

static mxp_thread_slot text_slot = MXP__THREAD_SLOT_INIT(text_free);

static mxp_strbuf *text_get(void)
{
    if (text == NULL) {
        text = mxp__thread_slot_new(&text_slot, sizeof(mxp_strbuf));
    }
    return text;
}

// Whether the message names its own class, as in "ValueError: ...".
static bool has_class(const char *message)
{
    size_t length = 0;
    while (isalnum((unsigned char)message[length])) {
        length++;
    }
    return length > strlen("Error") && message[length] == ':' &&
           strncmp(message + length - strlen("Error"), "Error", strlen("Error")) == 0;
}

const char *MXGetLastError(void)
{
    const char *message = mxp_last_error();
    if (message[0] == '\0') {
        return "";
    }
    mxp_strbuf *buffer = text_get();
    if (buffer == NULL) {
        return no_memory;
    }
    mxp__strbuf_clear(buffer);
    mxp__strbuf_puts(buffer, has_class(message) ? "" : class_name);
    mxp__strbuf_puts(buffer, message);
    return buffer->failed ? no_memory : mxp__strbuf_text(buffer);
}
