// SPDX-License-Identifier: Apache-2.0
#include "output_format.h"

#include <string.h>

static mxp_output_format formats[MXP__FORMATS] = {
    [MXP__FORMAT_SQLITE] = {"sqlite", ".sqlite", "everything, as tables of an SQLite database",
                            NULL},
    [MXP__FORMAT_PACKED] = {"packed", ".mxpz",
                            "the native trace of one process, compressed; all commands read it",
                            NULL},
    [MXP__FORMAT_NATIVE] = {"native", ".mxp", "the native trace, not compressed", NULL},
};
static const char *names[MXP__FORMATS + 1];

static void fill_format(int i, const mxp_exporter *exporter)
{
    formats[i] = (mxp_output_format){exporter->name, exporter->extension, exporter->help, exporter};
}

const mxp_output_format *mxp__output_formats(void)
{
    for (int i = 0; mxp__exporters()[i] != NULL; i++) {
        fill_format(i, mxp__exporters()[i]);
    }
#define X(name) fill_format(MXP__EXPORTERS + MXP__COMMAND_EXPORTER_##name, mxp__exporter_##name);
#include "export/exporters.def"
#undef X
    return formats;
}

const char *const *mxp__output_format_names(void)
{
    const mxp_output_format *all = mxp__output_formats();
    for (int i = 0; i < MXP__FORMATS; i++) {
        names[i] = all[i].name;
    }
    return names;
}

// ---- names of files ----------------------------------------------------------------------------
static bool ends_with(const char *path, size_t length, const char *ending)
{
    size_t bytes = strlen(ending);
    return length >= bytes && memcmp(path + length - bytes, ending, bytes) == 0;
}

bool mxp__is_gzip_name(const char *path)
{
    return ends_with(path, strlen(path), ".gz");
}

int mxp__output_format_of(const char *path)
{
    const mxp_output_format *all = mxp__output_formats();
    size_t length = strlen(path) - (mxp__is_gzip_name(path) ? strlen(".gz") : 0);
    size_t longest = 0;
    int found = -1;
    for (int i = 0; i < MXP__FORMATS; i++) {
        size_t bytes = strlen(all[i].extension);
        if (bytes > longest && ends_with(path, length, all[i].extension)) {
            longest = bytes;
            found = i;
        }
    }
    return found;
}

int mxp__check_native_name(const mxp_command *self, const char *path)
{
    int format = mxp__output_format_of(path);
    if (!mxp__is_gzip_name(path) && (format < 0 || format == MXP__FORMAT_NATIVE)) {
        return -1;
    }
    return mxp__usage_error(self,
                            "'%s' is no name for a native trace; write out.mxp, of which 'mxprof "
                            "convert out.mxp -o %s' makes that",
                            path, path);
}
