// SPDX-License-Identifier: Apache-2.0
// The text as a whole: an array of events, or an object that has one among other keys.
#include <inttypes.h>
#include <mxprof/error.h>
#include <string.h>

#include "base/fail.h"
#include "import/import_state.h"

static bool is_key(const mxp_json_text *key, const char *text)
{
    return key->length == strlen(text) && memcmp(key->text, text, key->length) == 0;
}

// ---- encoding ----------------------------------------------------------------------------------
static int refuse_wide(const char *name)
{
    return mxp__fail(MXP_EFORMAT,
                     "the text is %s, and a trace is UTF-8; convert it, for example "
                     "with iconv",
                     name);
}

// Looks at the first bytes, which are in the window.
static int check_encoding(mxp_import *import)
{
    static const char mark[] = "\xef\xbb\xbf";
    mxp_json_reader *reader = &import->reader;
    (void)mxp__json_peek(reader);
    const unsigned char *bytes = (const unsigned char *)reader->window + reader->at;
    size_t count = reader->end - reader->at;
    if (count >= 3 && memcmp(bytes, mark, 3) == 0) {
        import->notes.bom = true;
        reader->at += 3;
    } else if (count >= 4 && bytes[0] == 0xff && bytes[1] == 0xfe && bytes[2] == 0 &&
               bytes[3] == 0) {
        return refuse_wide("UTF-32");
    } else if (count >= 2 &&
               ((bytes[0] == 0xff && bytes[1] == 0xfe) || (bytes[0] == 0xfe && bytes[1] == 0xff) ||
                (bytes[0] == 0) != (bytes[1] == 0))) {
        return refuse_wide("UTF-16");
    }
    return MXP_OK;
}

// ---- events ------------------------------------------------------------------------------------
static int read_item(mxp_import *import)
{
    mxp_json_reader *reader = &import->reader;
    if (mxp__json_peek(reader) == '{') {
        return mxp__json_event(reader, &import->event) ? mxp__import_event(import) : MXP_OK;
    }
    import->event.offset = mxp__json_offset(reader);
    if (mxp__json_skip(reader)) {
        mxp__import_damaged(import);
    }
    return MXP_OK;
}

// A list that is all of the text needs no bracket at its end, so that a writer need not know which
// event is the last one.
static bool ends_open(mxp_import *import)
{
    mxp_json_reader *reader = &import->reader;
    return import->is_list && import->has_events && mxp__json_peek(reader) < 0 &&
           reader->error == MXP_OK && mxp__json_bytes_damage(reader->bytes) == NULL;
}

// From the bracket on. The last event may have a comma behind it.
static int read_events(mxp_import *import)
{
    mxp_json_reader *reader = &import->reader;
    int error = MXP_OK;
    import->event.keeps_args = import->options.with_args;
    reader->at++;
    while (error == MXP_OK && reader->damage == NULL && !mxp__json_take(reader, ']')) {
        if (ends_open(import)) {
            import->notes.open_list = true;
            return MXP_OK;
        }
        error = read_item(import);
        if (error != MXP_OK || reader->damage != NULL || mxp__json_take(reader, ',')) {
            continue;
        }
        int c = mxp__json_peek(reader);
        if (c < 0 && !ends_open(import)) {
            mxp__json_skip(reader);  // tells that the text is cut
        } else if (c >= 0 && c != ']') {
            mxp__json_damaged(reader, "a comma is missing here");
        }
    }
    return error;
}

// ---- the object around -------------------------------------------------------------------------
// "7 events: the file has reached trace_limit_bytes", as mxprof's own JSON has it.
static void take_left_out(mxp_import *import, const mxp_json_field *value)
{
    static const char words[] = " events: the file has reached trace_limit_bytes";
    const size_t bytes = sizeof words - 1;
    size_t digits = value->length > bytes ? value->length - bytes : 0;
    if (digits > 0 && memcmp(value->text + digits, words, bytes) == 0) {
        (void)mxp__json_whole(value->text, digits, &import->notes.over_limit);
    }
}

static void take_other(void *to, const mxp_json_field *key, const mxp_json_field *value)
{
    mxp_import *import = to;
    uint64_t start;
    if (mxp__field_is(key, "start_realtime_ns") &&
        mxp__json_whole(value->text, value->length, &start)) {
        import->base_ns = start;
        import->kind = MXP__IMPORT_OWN;
    } else if (mxp__field_is(key, "left_out")) {
        take_left_out(import, value);
    } else if (mxp__field_is(key, "overwritten_records")) {
        (void)mxp__json_whole(value->text, value->length, &import->notes.made_room);
    }
}

static void take_viztracer(void *to, const mxp_json_field *key, const mxp_json_field *value)
{
    mxp_import *import = to;
    bool is_true = value->length == 4 && memcmp(value->text, "true", 4) == 0;
    import->notes.overflow |= mxp__field_is(key, "overflow") && is_true;
}

static void read_object_by(mxp_import *import, mxp_json_each *each)
{
    mxp_json_text text;
    mxp_strbuf object = {0};
    if (mxp__json_raw(&import->reader, &text)) {
        mxp__strbuf_append(&object, text.text, text.length);
        mxp__json_members(&object, each, import);
    }
    mxp__strbuf_fini(&object);
}

static int read_member(mxp_import *import, const mxp_json_text *key, bool *has_events)
{
    mxp_json_reader *reader = &import->reader;
    bool is_events = is_key(key, "traceEvents");
    uint64_t base_unit_ns = is_key(key, "baseTimeNanoseconds") ? 1  // torch.profiler's
                            : is_key(key, "beginningOfTime")   ? 1000  // clang's -ftime-trace
                                                               : 0;
    mxp_json_each *each = is_key(key, "otherData")            ? take_other
                          : is_key(key, "viztracer_metadata") ? take_viztracer
                                                              : NULL;
    mxp__import_kind_key(import, key->text, key->length);
    if (!mxp__json_take(reader, ':')) {
        (void)(mxp__json_peek(reader) < 0 ? mxp__json_skip(reader)
                                          : mxp__json_damaged(reader, "a colon is missing here"));
        return MXP_OK;
    }
    int c = mxp__json_peek(reader);
    mxp_json_text text;
    if (is_events && c == '[') {
        import->notes.twice |= *has_events;
        *has_events = true;
        return read_events(import);
    }
    if (each != NULL && c == '{') {
        read_object_by(import, each);
    } else if (base_unit_ns != 0 && c != '{' && c != '[' && c != '"') {
        uint64_t base;
        if (mxp__json_scalar(reader, &text) && mxp__json_whole(text.text, text.length, &base) &&
            base <= INT64_MAX / base_unit_ns) {
            import->base_ns = base * base_unit_ns;
        }
    } else {
        mxp__json_skip(reader);
    }
    return MXP_OK;
}

static int read_object(mxp_import *import)
{
    mxp_json_reader *reader = &import->reader;
    bool has_events = false;
    int error = MXP_OK;
    reader->at++;
    while (error == MXP_OK && reader->damage == NULL && !mxp__json_take(reader, '}')) {
        mxp_json_text key;
        if (mxp__json_peek(reader) != '"') {
            mxp__json_damaged(reader, mxp__json_peek(reader) < 0 ? "the text is cut short"
                                                                 : "a key is missing here");
        } else if (mxp__json_read_text(reader, &key)) {
            error = read_member(import, &key, &has_events);
        }
        if (error == MXP_OK && reader->damage == NULL && !mxp__json_take(reader, ',') &&
            mxp__json_peek(reader) >= 0 && mxp__json_peek(reader) != '}') {
            mxp__json_damaged(reader, "a comma is missing here");
        }
    }
    if (error != MXP_OK || has_events) {
        return error;
    }
    return reader->damage == NULL
               ? mxp__fail(MXP_EFORMAT, "it is JSON without a list of traceEvents: no trace")
               : mxp__fail(MXP_EFORMAT,
                           "damaged at offset %" PRIu64 ": %s, and there are no events before it",
                           reader->damage_offset, reader->damage);
}

// What follows the end, or is wrong with the compressed stream behind it.
static void check_end(mxp_import *import)
{
    mxp_json_reader *reader = &import->reader;
    bool goes_on = mxp__json_peek(reader) >= 0;
    const char *below = mxp__json_bytes_damage(reader->bytes);
    if (below != NULL) {
        mxp__json_damaged(reader, below);
    } else if (goes_on) {
        mxp__json_damaged(reader, "something follows the end of the trace");
    }
}

static int fail_other(const mxp_json_reader *reader)
{
    const char *below = mxp__json_bytes_damage(reader->bytes);
    const size_t bytes = sizeof MXP_FILE_MAGIC - 1;
    const bool is_native = reader->end - reader->at >= bytes &&
                           memcmp(reader->window + reader->at, MXP_FILE_MAGIC, bytes) == 0;
    if (is_native) {
        return mxp__fail(MXP_EFORMAT, "it is a native trace that gzip has compressed: unpack it "
                                      "with gunzip ('mxprof convert -o FILE.mxpz' compresses one "
                                      "that is read as it is)");
    }
    return mxp__fail(MXP_EFORMAT, "%s%s%s",
                     mxp__json_bytes_is_gzip(reader->bytes)
                         ? "it is compressed as by gzip, and inside is no JSON"
                         : "it is neither a native trace nor JSON",
                     below != NULL ? ": " : "", below != NULL ? below : "");
}

int mxp__import_read(mxp_import *import)
{
    mxp_json_reader *reader = &import->reader;
    int error = check_encoding(import);
    if (error != MXP_OK) {
        return error;
    }
    int c = mxp__json_peek(reader);
    if (reader->error == MXP_OK && c != '{' && c != '[') {
        return fail_other(reader);
    }
    import->is_list = c == '[';
    error = c == '{' ? read_object(import) : c == '[' ? read_events(import) : MXP_OK;
    if (error == MXP_OK && reader->damage == NULL) {
        check_end(import);
    }
    return reader->error != MXP_OK ? reader->error : error;
}
