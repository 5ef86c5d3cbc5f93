// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/names.h"

#include <mxprof/foreign.h>
#include <mxprof/record.h>

static const char ellipsis[] = "\xe2\x80\xa6";

const char *mxp__collect_cut(const char *text, char cut[MXP__COLLECT_CUT_BYTES], size_t *length)
{
    *length = strnlen(text, MXP__COLLECT_TEXT_MAX + 1);
    if (__builtin_expect(*length <= MXP__COLLECT_TEXT_MAX, 1)) {
        return text;
    }
    size_t kept = MXP__COLLECT_TEXT_MAX - (sizeof ellipsis - 1);
    for (int i = 0; i < 3 && ((unsigned char)text[kept] & 0xc0) == 0x80; i++) {
        kept--;  // no character is cut in two
    }
    memcpy(cut, text, kept);
    memcpy(cut + kept, ellipsis, sizeof ellipsis);
    *length = kept + sizeof ellipsis - 1;
    mxp_lose_foreign(1);
    return cut;
}

static __attribute__((noinline)) mxp_name long_name(mxp_name category, const char *text, int style)
{
    char cut[MXP__COLLECT_CUT_BYTES];
    size_t length;
    const char *kept = mxp__collect_cut(text, cut, &length);
    return mxp_intern_in(category, kept, length, style, MXP_UNIT_NONE);
}

mxp_name mxp__collect_name(mxp_name category, const char *text, int style)
{
    const char *given = text == NULL ? "(null)" : text[0] == '\0' ? "(empty)" : text;
    const size_t length = strnlen(given, MXP__COLLECT_TEXT_MAX + 1);
    if (__builtin_expect(length > MXP__COLLECT_TEXT_MAX, 0)) {
        return long_name(category, given, style);
    }
    return mxp_intern_in(category, given, length, style, MXP_UNIT_NONE);
}
