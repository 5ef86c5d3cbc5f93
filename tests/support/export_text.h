// SPDX-License-Identifier: Apache-2.0
// For tests of what is written out: an export as a string, and JSON checked by a parser that is not
// ours (Python's), which also insists on valid UTF-8, no member twice and no surrogate escapes.
#ifndef EXPORT_TEXT_H
#define EXPORT_TEXT_H

#include <stddef.h>

#include "profiler/export/export.h"

// The text of a successful export, terminated; free() it. `options` may be null.
char *export_text(const char *exporter, mxp_source *source, const mxp_export_options *options);

// Fails the test unless the text is JSON.
void assert_json(const char *text, size_t length);

// The same for a whole file; its text, terminated, and its length if wanted. free() it.
char *read_file(const char *path, size_t *length);
void assert_json_file(const char *path);

// How often `part` is in `text`.
size_t count_text(const char *text, const char *part);

#endif
