// SPDX-License-Identifier: Apache-2.0
#include "image/image_source.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/strbuf.h"

enum {
    NAMES_MOST = 1 << 24,
    NAME_BYTES_MOST = 1 << 20,
    POINTS_MOST = 1 << 16,
    SEGMENTS_MOST = 1 << 20,
    PAIRS = 8,  // of our own
    NOTES_MOST = 64,
    NOTE_BYTES = 512
};

typedef struct name_place {
    size_t at;  // in `texts`
    uint32_t length, category;
    uint8_t style, unit;
} name_place;

struct mxp_image_source {
    mxp_source source;  // must stay first
    const mxp_memory_image *image;
    mxp_timebase timebase;
    name_place *names;
    size_t name_capacity;
    mxp_strbuf texts;
    mxp_info_pair pairs[PAIRS + NOTES_MOST];
    char values[PAIRS][128];
    char note_texts[NOTES_MOST][2][NOTE_BYTES];
};

mxp_source *mxp__image_source(mxp_image_source *self)
{
    return &self->source;
}

static mxp_name_view view_name(const mxp_source *source, uint32_t id)
{
    const mxp_image_source *self = (const void *)source;
    if (id >= source->name_count) {
        return (mxp_name_view){.text = "<bad name>", .length = 10};
    }
    const name_place *name = &self->names[id];
    return (mxp_name_view){mxp__strbuf_text(&self->texts) + name->at, name->length, name->category,
                           name->style, name->unit};
}

void mxp__image_source_close(mxp_image_source *self)
{
    if (self != NULL) {
        mxp__timebase_fini(&self->timebase);
        mxp__free(self->names, self->name_capacity * sizeof *self->names);
        mxp__strbuf_fini(&self->texts);
        mxp__free(self, sizeof *self);
    }
}

// ---- names -------------------------------------------------------------------------------------
// A text that is not there becomes "<bad name>", so that ids keep their meaning.
static int add_name(mxp_image_source *self, const mxp_image_name *from)
{
    static const char bad[] = "<bad name>";
    uint32_t id = self->source.name_count;
    if (mxp__grow(&self->names, &self->name_capacity, (size_t)id + 1, sizeof *self->names) !=
        MXP_OK) {
        return mxp__fail_memory("the names of a process");
    }
    size_t at = self->texts.length;
    bool is_there = from->length <= NAME_BYTES_MOST;
    char *to = is_there ? mxp__strbuf_reserve(&self->texts, (size_t)from->length + 1) : NULL;
    is_there = to != NULL && mxp__image_read(self->image, from->text, to, from->length);
    if (is_there) {
        self->texts.length += from->length;
        mxp__strbuf_putc(&self->texts, '\0');
    } else {
        mxp__strbuf_append(&self->texts, bad, sizeof bad);
    }
    self->names[id] = (name_place){.at = at,
                                   .length = is_there ? from->length : sizeof bad - 1,
                                   .category = from->category < id ? from->category : 0,
                                   .style = from->style,
                                   .unit = from->unit};
    self->source.name_count++;
    return self->texts.failed ? mxp__fail_memory("the names of a process") : MXP_OK;
}

static uint64_t names_that_fit(const mxp_memory_image *image, uint32_t name_bytes)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < image->count; i++) {
        bytes += image->parts[i].size_bytes;
    }
    return name_bytes > 0 ? bytes / name_bytes : 0;
}

static int read_names(mxp_image_source *self, const mxp_image_anchor *anchor)
{
    uint32_t count = 0;
    uint64_t segments = 0;
    if (!mxp__image_read(self->image, anchor->names_count, &count, sizeof count) ||
        !mxp__image_read(self->image, anchor->names, &segments, sizeof segments) ||
        count > NAMES_MOST || count > names_that_fit(self->image, anchor->name_bytes) ||
        anchor->names_in_segment == 0 || anchor->name_bytes < sizeof(mxp_image_name)) {
        return mxp__fail(MXP_EFORMAT, "the recorder's table of names is not in it");
    }
    int error = MXP_OK;
    for (uint32_t id = 0; id < count && error == MXP_OK; id++) {
        uint64_t segment = 0;
        mxp_image_name name = {0};
        mxp__image_read(self->image, segments + 8 * (uint64_t)(id / anchor->names_in_segment),
                        &segment, sizeof segment);
        mxp__image_read(self->image,
                        segment + (uint64_t)anchor->name_bytes * (id % anchor->names_in_segment),
                        &name, sizeof name);
        error = add_name(self, &name);
    }
    return error;
}

// ---- clock -------------------------------------------------------------------------------------
static bool copy_array(const mxp_memory_image *image, void *to, size_t *capacity, const void *from,
                       size_t count, size_t element_bytes)
{
    void *made = NULL;
    bool is_there = mxp__grow(&made, capacity, count, element_bytes) == MXP_OK &&
                    mxp__image_read(image, (uintptr_t)from, made, count * element_bytes);
    memcpy(to, &made, sizeof made);
    return is_there;
}

static int read_clock(mxp_image_source *self, const mxp_image_anchor *anchor)
{
    mxp_timebase there;
    mxp_timebase *to = &self->timebase;
    bool is_there = mxp__image_read(self->image, anchor->timebase, &there, sizeof there) &&
                    there.point_count > 0 && there.point_count <= POINTS_MOST &&
                    there.segment_count > 0 && there.segment_count <= SEGMENTS_MOST;
    if (is_there) {
        *to = there;
        to->points = NULL;
        to->segments = NULL;
        to->point_capacity = to->segment_capacity = 0;
        is_there = copy_array(self->image, &to->points, &to->point_capacity, there.points,
                              there.point_count, sizeof *there.points) &&
                   copy_array(self->image, &to->segments, &to->segment_capacity, there.segments,
                              there.segment_count, sizeof *there.segments);
    }
    return is_there ? MXP_OK : mxp__fail(MXP_EFORMAT, "the recorder's clock is not in it");
}

// ---- facts -------------------------------------------------------------------------------------
__attribute__((format(printf, 3, 4))) static void add_pair(mxp_image_source *self, const char *key,
                                                           const char *format, ...)
{
    char *value = self->values[self->source.info_count];
    va_list values;
    va_start(values, format);
    vsnprintf(value, sizeof self->values[0], format, values);
    va_end(values);
    if (value[0] != '\0') {
        self->pairs[self->source.info_count++] = (mxp_info_pair){key, value};
    }
}

static void add_facts(mxp_image_source *self, const mxp_image_anchor *anchor)
{
    static const char *const policies[] = {
        [MXP_FULL_GROW] = "grow", [MXP_FULL_DROP] = "drop", [MXP_FULL_RING] = "ring"};
    const mxp_memory_image *image = self->image;
    add_pair(self, "mxprof_version", "%.*s", (int)sizeof anchor->version, anchor->version);
    add_pair(self, "pid", "%" PRIu32, anchor->pid);
    add_pair(self, "command", "%s", image->command);
    if (anchor->full_policy < sizeof policies / sizeof policies[0]) {
        add_pair(self, "full_policy", "%s", policies[anchor->full_policy]);
    }
    add_pair(self, "memory_limit_bytes", "%" PRIu64, anchor->memory_limit_bytes);
    add_pair(self, "read_from", "%s", image->is_alive ? "memory" : "core file");
    if (image->signal != 0) {
        add_pair(self, "ended_by", "signal %" PRIu32, image->signal);
    }
}

// As much of a text as there is before the memory ends, and up to its zero.
static void read_text(const mxp_memory_image *image, uint64_t address, char text[NOTE_BYTES])
{
    size_t room = NOTE_BYTES - 1, there = room;
    memset(text, 0, NOTE_BYTES);
    while (there > 0 && !mxp__image_read(image, address, text, there)) {
        there /= 2;
    }
    text[there] = '\0';
}

static void add_notes(mxp_image_source *self, const mxp_image_anchor *anchor)
{
    for (uint32_t i = 0; i < anchor->notes_most && i < NOTES_MOST; i++) {
        mxp_image_note note = {0, 0};
        mxp__image_read(self->image, anchor->notes + i * sizeof note, &note, sizeof note);
        if (note.key == 0) {
            return;
        }
        read_text(self->image, note.key, self->note_texts[i][0]);
        read_text(self->image, note.value, self->note_texts[i][1]);
        if (self->note_texts[i][0][0] != '\0' && self->note_texts[i][1][0] != '\0') {
            self->pairs[self->source.info_count++] =
                (mxp_info_pair){self->note_texts[i][0], self->note_texts[i][1]};
        }
    }
}

// ---- all ---------------------------------------------------------------------------------------
int mxp__image_source_open(const mxp_memory_image *image, const mxp_image_anchor *anchor,
                           mxp_image_source **opened)
{
    mxp_image_source *self = *opened = mxp__alloc(sizeof *self);
    if (self == NULL) {
        return mxp__fail_memory("the names of a process");
    }
    if (anchor->layout != MXP__IMAGE_LAYOUT) {
        return mxp__fail(MXP_EVERSION,
                         "the recorder in it has layout %" PRIu32 ", this mxprof knows %d: use "
                         "that of the program's version",
                         anchor->layout, MXP__IMAGE_LAYOUT);
    }
    self->image = image;
    self->source = (mxp_source){
        .pid = anchor->pid, .timebase = &self->timebase, .info = self->pairs, .name = view_name};
    add_facts(self, anchor);
    add_notes(self, anchor);
    int error = read_clock(self, anchor);
    return error == MXP_OK ? read_names(self, anchor) : error;
}
