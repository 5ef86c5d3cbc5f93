// SPDX-License-Identifier: Apache-2.0
// The tables of names that tools have made handles of.
#include <string.h>

#include "base/os/os.h"
#include "profiler/emit/sender.h"

mxp_sent_name *mxp__sent_name_slow(mxp_sent_names *names, mxp_name name)
{
    const uint32_t number = name / MXP__SENT_PAGE_NAMES;
    if (number >= MXP__SENT_PAGES) {
        return NULL;
    }
    mxp_atomic_ptr *place = &names->pages[number];
    mxp_sent_name *page = mxp_atomic_load_acquire(place);
    if (page == NULL) {
        const size_t size_bytes = sizeof *page * MXP__SENT_PAGE_NAMES;
        void *made = mxp__os_map_pages(size_bytes), *other = NULL;
        if (made == NULL || mxp_atomic_cas_acq_rel(place, &other, made)) {
            page = made;
        } else {
            mxp__os_unmap_pages(made, size_bytes);
            page = other;
        }
    }
    return page != NULL ? &page[name % MXP__SENT_PAGE_NAMES] : NULL;
}

const char *mxp__sent_domain_text(const char *text, char *buffer, size_t size)
{
    static const char *const endings[] = {",frame", ",instant_marker"};
    const size_t length = strlen(text);
    for (int i = 0; i < 2; i++) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && length - ending < size &&
            strcmp(text + length - ending, endings[i]) == 0) {
            memcpy(buffer, text, length - ending);
            buffer[length - ending] = '\0';
            return buffer;
        }
    }
    return text;
}
