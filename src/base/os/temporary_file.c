// SPDX-License-Identifier: Apache-2.0
#include "base/os/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

int mxp__temporary_file_make(mxp_strbuf *path)
{
    const char *folder = secure_getenv("TMPDIR");
    mxp__strbuf_printf(path, "%s/mxprof-XXXXXX",
                       folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    if (path->failed) {
        errno = ENOMEM;
        return -1;
    }
    return mkostemp(path->data, O_CLOEXEC);
}
