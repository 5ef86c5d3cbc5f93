// SPDX-License-Identifier: Apache-2.0
#include "walk.h"

#include "cmocka_all.h"

#include <ctype.h>
#include <dirent.h>
#include <mxnet/c_api_library.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 512, NAME_CHARS = 96, PATH_CHARS = 1024, WAS_GOOD = 1, WAS_BAD = 2 };

typedef struct row {
    const char *function;
    int called;
} row;

static row rows[MAX_ROWS];
static int row_count;

static const char own_error[] = "an operator that the walk made up";

// ---- rows -------------------------------------------------------------------------------------
static void note(const char *function, int called)
{
    int i = 0;
    while (i < row_count && strcmp(rows[i].function, function) != 0) {
        i++;
    }
    assert_true(i < MAX_ROWS);
    row_count = i < row_count ? row_count : i + 1;
    rows[i].function = function;
    rows[i].called |= called;
}

void walk_forget(void)
{
    OpHandle op = NULL;
    assert_int_equal(NNGetOpHandle(own_error, &op), -1);
}

void walk_good(const char *function, const char *arguments, int status, int line)
{
    note(function, WAS_GOOD);
    if (status != 0) {
        fail_msg("line %d: %s%s: %s", line, function, arguments, MXGetLastError());
    }
}

void walk_bad(const char *function, const char *arguments, int status, int line)
{
    note(function, WAS_BAD);
    if (status != -1) {
        fail_msg("line %d: %s%s returned %d", line, function, arguments, status);
    }
    if (MXGetLastError()[0] == '\0' || strstr(MXGetLastError(), own_error) != NULL) {
        fail_msg("line %d: %s%s gave no reason", line, function, arguments);
    }
}

void walk_holds(const char *call, const char *condition, bool holds, int line)
{
    if (!holds) {
        fail_msg("line %d: after %s not %s", line, call, condition);
    }
}

void walk_never_fails(const char *function, bool exists)
{
    assert_true(exists);
    note(function, WAS_BAD);
}

void walk_never_succeeds(const char *function, bool exists)
{
    assert_true(exists);
    note(function, WAS_GOOD);
}

void *walk_handle(int number, void *freed)
{
    static uint64_t memory[64];
    void *handles[WALK_HANDLES] = {NULL, freed, (char *)memory + 1, memory};
    return handles[number];
}

// ---- headers ----------------------------------------------------------------------------------
// Of the source folder; free() it.
static char *text_of(const char *folder, const char *path)
{
    char whole[PATH_CHARS];
    const char *source = getenv("MXPROF_SOURCE");
    assert_non_null(source);
    snprintf(whole, sizeof whole, "%s/%s%s", source, folder, path);
    FILE *file = fopen(whole, "r");
    if (file == NULL) {
        fail_msg("%s cannot be read", whole);
    }
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, size, file), size);
    text[size] = '\0';
    fclose(file);
    return text;
}

static char *header_text(const char *header)
{
    return text_of(strncmp(header, "runtime/", 8) == 0 ? "src/" : "include/", header);
}

// The name of the next function that is declared, and where the text goes on; null: there is none.
static const char *next_name(const char *at, char name[NAME_CHARS])
{
    at = strstr(at, "\nMXNET_DLL ");
    if (at == NULL) {
        return NULL;
    }
    const char *end = strchr(at, '('), *begin = end;
    while (isalnum((unsigned char)begin[-1]) || begin[-1] == '_') {
        begin--;
    }
    assert_true(end - begin < NAME_CHARS);
    memcpy(name, begin, (size_t)(end - begin));
    name[end - begin] = '\0';
    return end;
}

void walk_complete(const char *header)
{
    char *text = header_text(header), name[NAME_CHARS];
    int missing = 0;
    for (const char *at = next_name(text, name); at != NULL; at = next_name(at, name)) {
        int called = 0;
        for (int i = 0; i < row_count; i++) {
            called |= strcmp(rows[i].function, name) == 0 ? rows[i].called : 0;
        }
        if (called != (WAS_GOOD | WAS_BAD)) {
            missing++;
            print_error("%s has no row with %s arguments\n", name,
                        called == WAS_GOOD ? "bad" : "good");
        }
    }
    free(text);
    assert_int_equal(missing, 0);
}

// ---- the map ----------------------------------------------------------------------------------
// Adds what the headers that one test walks through declare.
static void add_walked(const char *test, char *declared, size_t room)
{
    static const char call[] = "walk_complete(\"";
    char *text = text_of("tests/unit/runtime/capi/", test), name[NAME_CHARS];
    for (const char *at = strstr(text, call); at != NULL; at = strstr(at + 1, call)) {
        char header[PATH_CHARS];
        assert_int_equal(sscanf(at + strlen(call), "%1023[^\"]", header), 1);
        char *declares = header_text(header);
        for (const char *in = next_name(declares, name); in != NULL; in = next_name(in, name)) {
            const size_t used = strlen(declared);
            assert_true(used + strlen(name) + 3 < room);
            snprintf(declared + used, room - used, " %s;", name);
        }
        free(declares);
    }
    free(text);
}

void walk_map_is_walked(void)
{
    static char declared[MAX_ROWS * NAME_CHARS];
    char folder[PATH_CHARS], wanted[NAME_CHARS + 4];
    snprintf(folder, sizeof folder, "%s/tests/unit/runtime/capi", getenv("MXPROF_SOURCE"));
    DIR *tests = opendir(folder);
    assert_non_null(tests);
    for (struct dirent *entry = readdir(tests); entry != NULL; entry = readdir(tests)) {
        if (strncmp(entry->d_name, "walk_", 5) == 0) {
            add_walked(entry->d_name, declared, sizeof declared);
        }
    }
    closedir(tests);
    char *map = text_of("src/runtime/", "libmxnet.map"), *rest = NULL;
    int names = 0, missing = 0;
    for (char *word = strtok_r(map, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        if ((strncmp(word, "MX", 2) != 0 && strncmp(word, "NN", 2) != 0) || !strchr(word, ';')) {
            continue;
        }
        snprintf(wanted, sizeof wanted, " %.*s", NAME_CHARS, word);
        names++;
        if (strstr(declared, wanted) == NULL) {
            missing++;
            print_error("%s is declared in no header that is walked through\n", word);
        }
    }
    free(map);
    assert_int_equal(missing, 0);
    assert_true(names > 200);
}
