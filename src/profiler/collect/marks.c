// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/marks.h"

#include <stddef.h>
#include <string.h>

#include "base/setting.h"

bool mxp__collect_takes(const char *marks)
{
    const char *list = mxp__setting_text("MXPROF_MARKS");
    const size_t length = strlen(marks);
    bool taken = list == NULL;
    while (!taken && list != NULL && *list != '\0') {
        const size_t word = strcspn(list, ",");
        taken = word == length && strncmp(list, marks, length) == 0;
        list += word + (list[word] == ',');
    }
    return taken;
}
