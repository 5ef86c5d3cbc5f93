// SPDX-License-Identifier: Apache-2.0
// A real program with the profiler inside. Threads read the text files they find (this source tree,
// dictionaries, the machine's C headers) and count bytes, lines and words; after each batch of
// files the main thread merges what they counted. Run it as `embed DIRECTORY`: it leaves there
// profile.txt (the table), profile.json (for ui.perfetto.dev) and profile.mxp (for mxprof).
//
// Everything the profiler needs is in the lines that contain "mxp_" or "MXP_".
#define _GNU_SOURCE 1  // nftw
#include <ftw.h>
#include <inttypes.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    WORKERS = 3,
    BATCH = 48,  // files between two merges
    FILES_MAX = 12000,
    FILE_BYTES_MAX = 1 << 20,  // of a larger file only the beginning is read
    WORD_MAX = 28,
    BATCH_WORDS = 1 << 15,  // room for the different words of a batch; a power of two
    ALL_WORDS = 1 << 19,
    TIME_LIMIT_S = 4
};

// ---- the files --------------------------------------------------------------------------------
static const struct {
    const char *name;
    const char *folder;
} roots[] = {{"sources", "src"},         {"sources", "include"}, {"sources", "tests"},
             {"sources", "tools"},       {"texts", "docs"},      {"texts", "/usr/share/dict"},
             {"headers", "/usr/include"}};

typedef struct found_file {
    char *path;
    const char *root;
} found_file;

static found_file files[FILES_MAX];
static size_t file_count;
static const char *walked_root;

static int keep_file(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)place;
    if (type == FTW_F && status->st_size > 0) {
        char *copy = strdup(path);
        if (copy != NULL) {
            files[file_count++] = (found_file){copy, walked_root};
        }
    }
    return file_count == FILES_MAX;  // stops the walk
}

static void find_files(void)
{
    MXP_SPAN_SCOPE("main", "find files");
    for (size_t i = 0; i < sizeof roots / sizeof roots[0] && file_count < FILES_MAX; i++) {
        walked_root = roots[i].name;
        nftw(roots[i].folder, keep_file, 16, FTW_PHYS);
    }
}

// ---- counting ---------------------------------------------------------------------------------
typedef struct word {
    char text[WORD_MAX];
    uint32_t count;
} word;

typedef struct tally {
    uint64_t bytes, lines, words, unplaced_words, longest_line, checksum;
    uint64_t of_byte[256];
    size_t distinct, slots;
    word *table;  // open addressing
} tally;

static bool make_table(tally *of, size_t slots)
{
    of->slots = slots;
    of->table = calloc(slots, sizeof *of->table);
    return of->table != NULL;
}

static void add_word(tally *to, const char *text, size_t length, uint32_t count)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    }
    to->words += count;
    for (size_t i = 0; i < 64; i++) {
        word *slot = &to->table[(hash + i) & (to->slots - 1)];
        if (slot->count == 0) {
            memcpy(slot->text, text, length);
            slot->text[length] = '\0';
            to->distinct++;
        } else if (strncmp(slot->text, text, length) != 0 || slot->text[length] != '\0') {
            continue;
        }
        slot->count += count;
        return;
    }
    to->unplaced_words += count;
}

static bool in_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void count_words(tally *to, const unsigned char *data, size_t size)
{
    MXP_SPAN_SCOPE("count", "words");
    size_t start = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && in_word(data[i])) {
            continue;
        }
        if (i > start && i - start < WORD_MAX) {
            add_word(to, (const char *)data + start, i - start, 1);
        }
        start = i + 1;
    }
}

static void count_bytes(tally *to, const unsigned char *data, size_t size)
{
    MXP_SPAN_SCOPE("count", "bytes and lines");
    uint64_t sum = 0;
    uint64_t sum_of_sums = 0;
    uint64_t length = 0;
    for (size_t i = 0; i < size; i++) {
        to->of_byte[data[i]]++;
        sum += data[i];
        sum_of_sums += sum;
        length++;
        if (data[i] == '\n') {
            to->lines++;
            to->longest_line = length > to->longest_line ? length : to->longest_line;
            length = 0;
        }
    }
    to->bytes += size;
    to->checksum ^= sum_of_sums << 32 ^ sum;
}

static void merge(tally *to, tally *from)
{
    MXP_SPAN_SCOPE("main", "merge a tally");
    to->bytes += from->bytes;
    to->lines += from->lines;
    to->unplaced_words += from->unplaced_words;
    to->checksum ^= from->checksum;
    to->longest_line =
        from->longest_line > to->longest_line ? from->longest_line : to->longest_line;
    for (size_t i = 0; i < 256; i++) {
        to->of_byte[i] += from->of_byte[i];
    }
    for (size_t i = 0; i < from->slots; i++) {
        if (from->table[i].count > 0) {
            const word *found = &from->table[i];
            add_word(to, found->text, strlen(found->text), found->count);
        }
    }
    memset(from->table, 0, from->slots * sizeof *from->table);
    *from = (tally){.slots = from->slots, .table = from->table};
}

// ---- the workers ------------------------------------------------------------------------------
// Files from `next` up to `end` wait; `busy` are being worked on. All three under `lock`, as are
// the tallies while their worker has no file.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t next, end, busy;
    bool closed;
    mxp_handle file_task, bytes_read, waiting;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

typedef struct worker {
    pthread_t thread;
    int number;
    unsigned char *buffer;
    tally counted;
} worker;

static size_t read_file(const char *path, unsigned char *buffer)
{
    MXP_SPAN_SCOPE("read", "read a file");
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return 0;
    }
    size_t size = fread(buffer, 1, FILE_BYTES_MAX, stream);
    fclose(stream);
    return size;
}

static void work_on(worker *self, const found_file *file)
{
    mxp_scope_push(file->root);
    mxp_duration_start(queue.file_task);
    size_t size = read_file(file->path, self->buffer);
    mxp_counter_adjust(queue.bytes_read, (int64_t)size);
    count_bytes(&self->counted, self->buffer, size);
    count_words(&self->counted, self->buffer, size);
    mxp_duration_stop(queue.file_task);
    mxp_scope_pop();
}

static void *run_worker(void *argument)
{
    worker *self = argument;
    char name[32];
    snprintf(name, sizeof name, "reader %d", self->number);
    mxp_thread_name(name);
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (queue.next == queue.end && !queue.closed) {
            pthread_cond_wait(&queue.changed, &queue.lock);
        }
        if (queue.next == queue.end) {
            break;
        }
        const found_file *file = &files[queue.next++];
        mxp_counter_set(queue.waiting, queue.end - queue.next);
        queue.busy++;
        pthread_mutex_unlock(&queue.lock);
        work_on(self, file);
        pthread_mutex_lock(&queue.lock);
        queue.busy--;
        pthread_cond_broadcast(&queue.changed);
    }
    pthread_mutex_unlock(&queue.lock);
    return NULL;
}

static void give_batch(size_t end)
{
    pthread_mutex_lock(&queue.lock);
    queue.end = end;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

static void wait_for_batch(void)
{
    MXP_SPAN_SCOPE("main", "wait for readers");
    pthread_mutex_lock(&queue.lock);
    while (queue.next != queue.end || queue.busy > 0) {
        pthread_cond_wait(&queue.changed, &queue.lock);
    }
    pthread_mutex_unlock(&queue.lock);
}

// ---- the program ------------------------------------------------------------------------------
static void show_progress(size_t done, const tally *total)
{
    bool last = done == file_count;
    const char *end = last ? "\n" : isatty(STDERR_FILENO) ? "\r" : NULL;
    if (end == NULL && done % (BATCH * 20) == 0) {
        end = "\n";
    }
    if (end != NULL) {
        fprintf(stderr, "embed: %5zu of %zu files, %6.1f MB, %8" PRIu64 " words%s", done,
                file_count, (double)total->bytes / 1e6, total->words, end);
    }
}

// Batch after batch: hand it out, wait, merge. Returns how many files were done.
static size_t count_everything(worker *workers, tally *total, mxp_handle domain)
{
    mxp_handle frame;
    mxp_frame_create(domain, "batch", &frame);
    time_t begin = time(NULL);
    size_t done = 0;
    while (done < file_count && time(NULL) - begin < TIME_LIMIT_S) {
        size_t end = done + BATCH < file_count ? done + BATCH : file_count;
        mxp_step(done / BATCH);
        mxp_duration_start(frame);
        give_batch(end);
        wait_for_batch();
        for (int i = 0; i < WORKERS; i++) {
            merge(total, &workers[i].counted);
        }
        mxp_duration_stop(frame);
        done = end;
        show_progress(done, total);
    }
    mxp_marker_set(domain, "all files counted", "process");
    return done;
}

static bool start_profiler(mxp_session *session, const char *json_path, const char *native_path)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = json_path;
    config.native_filename = native_path;
    config.aggregate_stats = 1;
    config.continuous_dump = 0;
    return mxp_session_configure(session, &config) == 0 && mxp_session_run(session) == 0;
}

// The table, under what the profiler knows about itself.
static int write_table(mxp_session *session, const char *path)
{
    FILE *stream = fopen(path, "w");
    mxp_report report = {.size_bytes = sizeof report};
    const char *table = "";
    int error = stream == NULL ? MXP_EIO : mxp_session_report(session, &report);
    error = error != 0 ? error
                       : mxp_session_dumps(session, MXP_FORMAT_TABLE, MXP_SORT_TOTAL, 0, 0, &table);
    if (error == 0) {
        fprintf(stream,
                "Recorded %" PRIu64 " records in %" PRIu64 " bytes by %" PRIu64
                " threads; lost %" PRIu64 ".\n"
                "A record costs %.1f ns here, all of them about %.3f ms.\n"
                "Clock: %.6f ns a tick, residual %.1f ns.\n%s",
                report.records, report.bytes, report.threads, report.lost, report.record_cost_ns,
                report.estimated_overhead_ns / 1e6, report.ns_per_tick, report.clock_residual_ns,
                table);
    }
    if (stream != NULL && fclose(stream) != 0) {
        error = MXP_EIO;
    }
    return error;
}

static void print_findings(const tally *total, size_t done)
{
    const word *commonest = &total->table[0];
    for (size_t i = 0; i < total->slots; i++) {
        commonest = total->table[i].count > commonest->count ? &total->table[i] : commonest;
    }
    printf("%zu files, %" PRIu64 " bytes, %" PRIu64 " lines (the longest of %" PRIu64
           " bytes), %" PRIu64 " words\n%zu different ones, \"%s\" most often: %" PRIu32
           " times; checksum %016" PRIx64 "\n",
           done, total->bytes, total->lines, total->longest_line, total->words, total->distinct,
           commonest->text, commonest->count, total->checksum);
    if (total->unplaced_words > 0) {
        printf("%" PRIu64 " words found no place in the table\n", total->unplaced_words);
    }
}

static int fail(const char *what)
{
    fprintf(stderr, "embed: %s: %s\n", what, mxp_last_error());
    return 1;
}

static bool run_workers(worker *workers, tally *total, size_t *done)
{
    mxp_handle domain;
    mxp_domain_create("Files", &domain);
    mxp_task_create(domain, "file", &queue.file_task);
    mxp_counter_create(domain, "bytes read", &queue.bytes_read);
    mxp_counter_create(domain, "files waiting", &queue.waiting);
    int started = 0;
    for (; started < WORKERS; started++) {
        worker *self = &workers[started];
        self->number = started + 1;
        self->buffer = malloc(FILE_BYTES_MAX);
        if (self->buffer == NULL || !make_table(&self->counted, BATCH_WORDS) ||
            pthread_create(&self->thread, NULL, run_worker, self) != 0) {
            break;
        }
    }
    if (started > 0) {
        *done = count_everything(workers, total, domain);
    }
    pthread_mutex_lock(&queue.lock);
    queue.closed = true;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    for (int i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        free(workers[i].counted.table);
        free(workers[i].buffer);
    }
    return started > 0;
}

int main(int count, char **arguments)
{
    const char *folder = count > 1 ? arguments[1] : ".";
    static const char *const names[] = {"profile.json", "profile.mxp", "profile.txt"};
    static worker workers[WORKERS];
    static tally total;
    char paths[3][4096];
    for (int i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    }
    mxp_session *session = mxp_session_get();
    if (!start_profiler(session, paths[0], paths[1])) {
        return fail("cannot start the profiler");
    }
    find_files();
    size_t done = 0;
    if (!make_table(&total, ALL_WORDS) || !run_workers(workers, &total, &done)) {
        fprintf(stderr, "embed: not enough memory\n");
        return 1;
    }
    mxp_session_stop(session);
    if (write_table(session, paths[2]) != 0 || mxp_session_dump(session, 1) != 0) {
        return fail("cannot write the profile");
    }
    print_findings(&total, done);
    printf("profile: %s, %s, %s\n", paths[2], paths[0], paths[1]);
    free(total.table);
    for (size_t i = 0; i < file_count; i++) {
        free(files[i].path);
    }
    return 0;
}
