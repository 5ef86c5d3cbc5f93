// SPDX-License-Identifier: Apache-2.0
// Reading of environment variables.
#include "base/setting.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "base/fail.h"

bool mxp__setting_is_distrusted(void)
{
    return getauxval(AT_SECURE) != 0;
}

const char *mxp__setting_text(const char *variable)
{
    const char *text = secure_getenv(variable);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

int mxp__setting_read(const char *variable, uint64_t fallback, uint64_t min, uint64_t max,
                      uint64_t *value)
{
    const char *text = mxp__setting_text(variable);
    *value = fallback;
    if (text == NULL) {
        return MXP_OK;
    }
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || number < min ||
        number > max) {
        return mxp__fail(MXP_EVALUE, "%s='%.40s': set it to a number from %" PRIu64 " to %" PRIu64,
                         variable, text, min, max);
    }
    *value = number;
    return MXP_OK;
}
