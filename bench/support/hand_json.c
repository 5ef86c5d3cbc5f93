// SPDX-License-Identifier: Apache-2.0
// A trace event as both references write it:
// {"name":"dense3","cat":"user","ph":"X","ts":12.345,"dur":0.678,"pid":1,"tid":2},
#include "support/hand_json.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/harness.h"

enum { BUFFER_BYTES = 1 << 20, EVENT_BYTES_MAX = 256, HEAD_BYTES = 96 };

// The beginning of an event, up to its time, is the same for all events of a name.
typedef struct text_head {
    char text[HEAD_BYTES];
    size_t length;
} text_head;

static text_head heads[BENCH_NAMES];
static char digit_pairs[200];
static char buffer[BUFFER_BYTES + EVENT_BYTES_MAX];

static void prepare(void)
{
    for (int i = 0; i < 100; i++) {
        digit_pairs[2 * i] = (char)('0' + i / 10);
        digit_pairs[2 * i + 1] = (char)('0' + i % 10);
    }
    for (uint32_t name = 0; name < BENCH_NAMES; name++) {
        int length =
            snprintf(heads[name].text, HEAD_BYTES,
                     "{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":", bench_name_text(name),
                     bench_category_text(name % BENCH_CATEGORIES));
        heads[name].length = (size_t)length;
    }
}

static char *put_integer(char *out, uint64_t value)
{
    char digits[20];
    char *first = digits + sizeof digits;
    while (value >= 100) {
        first -= 2;
        memcpy(first, digit_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    first -= 2;
    memcpy(first, digit_pairs + value * 2, 2);
    first += value < 10;
    size_t length = (size_t)(digits + sizeof digits - first);
    memcpy(out, first, length);
    return out + length;
}

// Nanoseconds as microseconds with three decimals.
static char *put_time(char *out, uint64_t ns)
{
    uint32_t fraction = (uint32_t)(ns % 1000);
    out = put_integer(out, ns / 1000);
    out[0] = '.';
    out[1] = (char)('0' + fraction / 100);
    memcpy(out + 2, digit_pairs + fraction % 100 * 2, 2);
    return out + 4;
}

#define PUT_LITERAL(out, literal) \
    (memcpy((out), (literal), sizeof(literal) - 1), (out) + sizeof(literal) - 1)

static char *put_event(char *out, const bench_event *event, const char *pid, size_t pid_length)
{
    const text_head *head = &heads[event->name];
    memcpy(out, head->text, HEAD_BYTES);  // a fixed length is a few moves; what is over is lost
    out = put_time(out + head->length, event->begin_ns);
    out = PUT_LITERAL(out, ",\"dur\":");
    out = put_time(out, event->end_ns - event->begin_ns);
    out = PUT_LITERAL(out, ",\"pid\":");
    memcpy(out, pid, pid_length);
    out = PUT_LITERAL(out + pid_length, ",\"tid\":");
    out = put_integer(out, event->thread);
    return PUT_LITERAL(out, "},\n");
}

static void write_all(int file, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(file, bytes, length);
        bench_require(written > 0, "write");
        bytes += written;
        length -= (size_t)written;
    }
}

uint64_t bench_hand_json(const char *path, const bench_event *events, uint64_t count)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bench_require(file >= 0, path);
    prepare();
    char pid[16];
    size_t pid_length = (size_t)snprintf(pid, sizeof pid, "%d", (int)getpid());
    uint64_t total = 0;
    char *out = PUT_LITERAL(buffer, "{\"traceEvents\":[\n");
    for (uint64_t i = 0; i < count; i++) {
        out = put_event(out, &events[i], pid, pid_length);
        if (out >= buffer + BUFFER_BYTES) {
            write_all(file, buffer, (size_t)(out - buffer));
            total += (uint64_t)(out - buffer);
            out = buffer;
        }
    }
    out = PUT_LITERAL(out, "{}]}\n");
    write_all(file, buffer, (size_t)(out - buffer));
    bench_require(close(file) == 0, "close");
    return total + (uint64_t)(out - buffer);
}

uint64_t bench_fprintf_json(const char *path, const bench_event *events, uint64_t count)
{
    FILE *file = fopen(path, "w");
    bench_require(file != NULL && setvbuf(file, NULL, _IOFBF, BUFFER_BYTES) == 0, path);
    int pid = (int)getpid();
    uint64_t total = (uint64_t)fprintf(file, "{\"traceEvents\":[\n");
    for (uint64_t i = 0; i < count; i++) {
        const bench_event *event = &events[i];
        uint64_t duration = event->end_ns - event->begin_ns;
        total += (uint64_t)fprintf(
            file,
            "{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%" PRIu64 ".%03" PRIu64
            ",\"dur\":%" PRIu64 ".%03" PRIu64 ",\"pid\":%d,\"tid\":%" PRIu32 "},\n",
            bench_name_text(event->name), bench_category_text(event->name % BENCH_CATEGORIES),
            event->begin_ns / 1000, event->begin_ns % 1000, duration / 1000, duration % 1000, pid,
            event->thread);
    }
    total += (uint64_t)fprintf(file, "{}]}\n");
    bench_require(fclose(file) == 0, "fclose");
    return total;
}
