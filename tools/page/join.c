// SPDX-License-Identifier: Apache-2.0
// join FOLDER OUT.c: the page of a folder as arrays of C. Runs when the command is built.
#include <mxprof/error.h>
#include <stdio.h>

#include "page/join_page.h"

static void put_array(FILE *out, int number, const mxp_strbuf *piece)
{
    fprintf(out, "static const char piece_%d[] = {", number);
    for (size_t i = 0; i < piece->length; i++) {
        fprintf(out, "%s%d,", i % 24 == 0 ? "\n    " : "", piece->data[i]);
    }
    fprintf(out, "0};\n");
}

static int write_arrays(const mxp_page_text *text, const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        return -1;
    }
    fprintf(out, "#include \"page/page_text.h\"\n");
    for (int i = 0; i < MXP_PAGE_PIECES; i++) {
        put_array(out, i, &text->pieces[i]);
    }
    fprintf(out, "const mxp_page_piece mxp__page_pieces[MXP_PAGE_PIECES] = {\n");
    for (int i = 0; i < MXP_PAGE_PIECES; i++) {
        fprintf(out, "    {piece_%d, %zu},\n", i, text->pieces[i].length);
    }
    fprintf(out, "};\n");
    const int failed = ferror(out);
    return fclose(out) != 0 || failed ? -1 : 0;
}

int main(int count, char **arguments)
{
    mxp_page_text text;
    if (count != 3) {
        fprintf(stderr, "usage: join FOLDER OUT.c\n");
        return 2;
    }
    if (mxp__page_join(arguments[1], &text) != MXP_OK) {
        fprintf(stderr, "join: %s\n", mxp_last_error());
        mxp__page_text_fini(&text);
        return 1;
    }
    const int error = write_arrays(&text, arguments[2]);
    mxp__page_text_fini(&text);
    if (error != 0) {
        perror(arguments[2]);
    }
    return error != 0;
}
