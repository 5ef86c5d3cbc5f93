// SPDX-License-Identifier: Apache-2.0
// Exports as strings, and the check by Python's parser.
#include "export_text.h"

#include <mxprof/error.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"

static const char json_program[] =
    "python3 -c '\n"
    "import json, sys\n"
    "def members(pairs):\n"
    "    names = [name for name, _ in pairs]\n"
    "    twice = {name for name in names if names.count(name) > 1} if len(pairs) < 1000 else ()\n"
    "    if twice: sys.exit(f\"twice: {twice}\")\n"
    "    return dict(pairs)\n"
    "def constant(text): sys.exit(f\"no JSON: {text}\")\n"
    "text = sys.stdin.buffer.read().decode(\"utf-8\")\n"
    "if \"\\\\ud8\" in text or \"\\\\ud9\" in text: sys.exit(\"surrogate escape\")\n"
    "json.loads(text, object_pairs_hook=members, parse_constant=constant)\n"
    "'";

char *export_text(const char *exporter, mxp_source *source, const mxp_export_options *options)
{
    mxp_strbuf text = {0};
    mxp_sink sink;
    mxp__sink_string(&sink, &text);
    int error = mxp__export(mxp__exporter_find(exporter), source, options, &sink);
    if (error != MXP_OK) {
        print_error("%s: %s\n", exporter, mxp_last_error());
    }
    assert_int_equal(error, MXP_OK);
    assert_int_equal(sink.written_bytes, text.length);
    char *copy = strdup(mxp__strbuf_text(&text));
    assert_non_null(copy);
    mxp__strbuf_fini(&text);
    return copy;
}

void assert_json(const char *text, size_t length)
{
    FILE *parser = popen(json_program, "w");
    assert_non_null(parser);
    size_t written = fwrite(text, 1, length, parser);
    int status = pclose(parser);
    if (status != 0) {
        print_error("no JSON (of %zu bytes %zu): %.2000s\n", length, written, text);
    }
    assert_int_equal(status, 0);
}

char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        print_error("cannot open %s\n", path);
    }
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    text[size] = '\0';
    fclose(file);
    if (length != NULL) {
        *length = (size_t)size;
    }
    return text;
}

void assert_json_file(const char *path)
{
    size_t length;
    char *text = read_file(path, &length);
    assert_json(text, length);
    free(text);
}

// With the length at hand: strstr under a sanitizer measures the whole text at every call.
size_t count_text(const char *text, const char *part)
{
    size_t count = 0, length = strlen(part);
    const char *end = text + strlen(text);
    // Not memmem: ThreadSanitizer looks at all the rest of the text for each call of it.
    for (const char *at = text; (at = memchr(at, *part, (size_t)(end - at))) != NULL;) {
        bool here = (size_t)(end - at) >= length && memcmp(at, part, length) == 0;
        count += here;
        at += here ? length : 1;
    }
    return count;
}
