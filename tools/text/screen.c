// SPDX-License-Identifier: Apache-2.0
// The locale is read from its variables, as the C library would: the command itself stays in the
// locale "C", whose figures have points.
#include "text/screen.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_MAX = 1000, BAR_MIN = 8, BAR_MAX = 40, BAR_MAX_AT = 200 };

const char *const mxp__unit_words[] = {
    [MXP_TIME_FITTING] = "auto", [MXP_TIME_NS] = "ns", [MXP_TIME_US] = "us",
    [MXP_TIME_MS] = "ms",        [MXP_TIME_S] = "s",   NULL};

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && locale == NULL; i++) {
        locale = variable(names[i]);
    }
    const char *charset = locale == NULL ? NULL : strchr(locale, '.');
    return charset != NULL &&
           (strncasecmp(charset, ".utf-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0);
}

// 0 where nothing says it.
static size_t columns_of(int descriptor, bool is_terminal)
{
    const char *said = variable("COLUMNS");
    struct winsize size;
    char *end = NULL;
    long columns = said == NULL ? 0 : strtol(said, &end, 10);
    if (said != NULL && *end != '\0') {
        columns = 0;
    }
    if (columns <= 0 && is_terminal && ioctl(descriptor, TIOCGWINSZ, &size) == 0) {
        columns = size.ws_col;
    }
    return columns <= 0                       ? 0
           : columns < MXP_SCREEN_COLUMNS_MIN ? MXP_SCREEN_COLUMNS_MIN
           : columns > COLUMNS_MAX            ? COLUMNS_MAX
                                              : (size_t)columns;
}

static size_t bar_columns(size_t columns)
{
    return columns <= MXP_SCREEN_COLUMNS ? BAR_MIN
           : columns >= BAR_MAX_AT
               ? BAR_MAX
               : BAR_MIN + (columns - MXP_SCREEN_COLUMNS) * (BAR_MAX - BAR_MIN) /
                               (BAR_MAX_AT - MXP_SCREEN_COLUMNS);
}

void mxp__screen_look(int descriptor, mxp_screen *screen)
{
    const bool is_terminal = isatty(descriptor) == 1;
    const size_t columns = columns_of(descriptor, is_terminal);
    const char *kind = variable("TERM");
    *screen = (mxp_screen){
        .columns = columns == 0 ? MXP_SCREEN_COLUMNS : columns,
        .is_bounded = is_terminal || columns > 0,
        .has_colour = is_terminal && variable("NO_COLOR") == NULL && kind != NULL &&
                      strcmp(kind, "dumb") != 0,
        .is_utf8 = locale_is_utf8(),
        .unit = MXP_TIME_FITTING,
    };
    screen->bar_columns = is_terminal ? bar_columns(screen->columns) : 0;
}

static const char *const begins[] = {[MXP_LOOK_PLAIN] = "",
                                     [MXP_LOOK_TOTAL] = "\033[1m",
                                     [MXP_LOOK_LARGEST] = "\033[35m",
                                     [MXP_LOOK_FAINT] = "\033[2m",
                                     [MXP_LOOK_HEADING] = "\033[4m"};

void mxp__look_begin(const mxp_screen *screen, mxp_look look, mxp_strbuf *out)
{
    if (screen->has_colour) {
        mxp__strbuf_puts(out, begins[look]);
    }
}

void mxp__look_end(const mxp_screen *screen, mxp_look look, mxp_strbuf *out)
{
    if (screen->has_colour && look != MXP_LOOK_PLAIN) {
        mxp__strbuf_puts(out, "\033[0m");
    }
}
