// SPDX-License-Identifier: Apache-2.0
// Spans with arguments in C++17. Nothing here throws or allocates; it works with -fno-exceptions
// and -fno-rtti. While recording is off a mark is one load and one branch, and its arguments are
// not evaluated. Categories, names and keys are literals; what is known only at run time is an
// argument.
//
//   MXP_SPAN("cache", "load", MXP_ARG("key", key), MXP_ARG("path", path));    to the block's end
//   MXP_SPAN_AS(span, "cache", "store");  ...  span.add(MXP_ARG("bytes", n));
//
//   mxp::async_span request(MXP_ASYNC_NAME("server", "request"), id);         movable, any thread
//   request.end(MXP_ARG("status", 200));
//
// Source compatibility is promised, and that code compiled with it runs with later libraries.
#ifndef MXPROF_MXPROF_HPP
#define MXPROF_MXPROF_HPP

#if __cplusplus < 201703L
#error "mxprof.hpp needs C++17 (-std=c++17)"
#endif

#include <mxprof/record.h>

#include <string_view>
#include <type_traits>

namespace mxp
{

// A number, an enumerator, or a text: what converts to std::string_view; a null pointer is an empty
// one. Texts are read during the call that takes the argument.
template <class T> inline mxp_arg arg(mxp_name key, const T &value) noexcept
{
    if constexpr (std::is_pointer_v<std::decay_t<T>> && std::is_convertible_v<T, const char *>) {
        const char *text = value;
        const std::string_view view = text != nullptr ? std::string_view(text) : std::string_view();
        return mxp_text(key, view.data(), view.size());
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
        const std::string_view view = value;
        return mxp_text(key, view.data(), view.size());
    } else if constexpr (std::is_enum_v<T>) {
        return arg(key, static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
        return mxp_f64(key, static_cast<double>(value));
    } else if constexpr (std::is_signed_v<T>) {
        return mxp_i64(key, static_cast<int64_t>(value));
    } else {
        static_assert(std::is_unsigned_v<T>, "an argument is a number, an enumerator or a text");
        return mxp_u64(key, static_cast<uint64_t>(value));
    }
}

// The id of a name, made once at the place that owns `cache`.
inline mxp_name name_at(mxp_name *cache, const char *category, const char *text, int style) noexcept
{
    mxp_name known = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (__builtin_expect(known == MXP_NAME_NONE, 0)) {
        known = mxp_intern(category, text, style, MXP_UNIT_NONE);
        __atomic_store_n(cache, known, __ATOMIC_RELAXED);
    }
    return known;
}

// From its construction to the end of its block, on one thread: its token is the thread's. It is
// therefore neither copied nor moved; across co_await, callbacks and futures use async_span.
class span
{
  public:
    span() noexcept = default;  // records nothing
    template <class... Args>
    span(mxp_name *cache, const char *category, const char *text, const Args &...args) noexcept
        : name_(name_at(cache, category, text, MXP_STYLE_SPAN))
    {
        static_assert((std::is_same_v<Args, mxp_arg> && ...), "arguments are made by MXP_ARG");
        if constexpr (sizeof...(args) == 0) {
            token_ = mxp_span_begin(name_);
        } else {
            const mxp_arg list[] = {args...};
            token_ = mxp_begin_args(MXP_CLASS_USER, name_, list, sizeof...(args));
        }
    }
    ~span()
    {
        if (token_ != 0) {
            mxp_end_args(name_, token_, nullptr, 0);
        }
    }
    span(const span &) = delete;
    span &operator=(const span &) = delete;

    // Tells more of it while it is open.
    template <class... Args> void add(const Args &...args) const noexcept
    {
        static_assert((std::is_same_v<Args, mxp_arg> && ...), "arguments are made by MXP_ARG");
        const mxp_arg list[] = {args...};
        mxp_open_args(token_, list, sizeof...(args));
    }
    explicit operator bool() const noexcept  // whether it is recorded
    {
        return token_ != 0;
    }

  private:
    mxp_name name_ = MXP_NAME_NONE;
    uint64_t token_ = 0;
};

// An asynchronous span (mxprof/async.h) that ends where end() is called or where it is destroyed,
// on any thread.
class async_span
{
  public:
    async_span() noexcept = default;
    explicit async_span(mxp_name name, uint64_t id = 0,
                        mxp_context context = mxp_no_context()) noexcept
        : open_(mxp_async_begin(MXP_CLASS_USER, name, id, context))
    {
    }
    ~async_span()
    {
        end();
    }
    async_span(async_span &&from) noexcept : open_(from.open_)
    {
        from.open_.begin_ticks = 0;
    }
    async_span &operator=(async_span &&from) noexcept  // ends the one it was
    {
        if (this != &from) {
            end();
            open_ = from.open_;
            from.open_.begin_ticks = 0;
        }
        return *this;
    }
    async_span(const async_span &) = delete;
    async_span &operator=(const async_span &) = delete;

    template <class... Args> void end(const Args &...args) noexcept
    {
        static_assert((std::is_same_v<Args, mxp_arg> && ...), "arguments are made by MXP_ARG");
        if constexpr (sizeof...(args) == 0) {
            mxp_async_end(&open_, nullptr, 0);
        } else {
            const mxp_arg list[] = {args...};
            mxp_async_end(&open_, list, sizeof...(args));
        }
    }
    explicit operator bool() const noexcept
    {
        return open_.begin_ticks != 0;
    }

  private:
    mxp_async open_{};
};

}  // namespace mxp

// ---- macros ------------------------------------------------------------------------------------
// `"" text` compiles for literals alone: of anything else a cached id would keep the first call's.
#define MXP_SITE_                  \
    ([]() noexcept -> mxp_name * { \
        static mxp_name mxp_cache; \
        return &mxp_cache;         \
    }())
#define MXP_NAME_OF_(category, text, style) \
    (mxp::name_at(MXP_SITE_, "" category "", "" text "", style))
#define MXP_ASYNC_NAME(category, text) MXP_NAME_OF_(category, text, MXP_STYLE_ASYNC)

#define MXP_ARG(key, value) mxp::arg(MXP_NAME_OF_("", key, MXP_STYLE_NONE), value)

// The variable's name, the category, the name, then any number of MXP_ARG.
#define MXP_SPAN_AS(variable, category, ...)                                              \
    const mxp::span variable = mxp_enabled(MXP_CLASS_USER)                                \
                                   ? mxp::span(MXP_SITE_, "" category "", "" __VA_ARGS__) \
                                   : mxp::span()
#define MXP_SPAN(category, ...) \
    MXP_SPAN_AS(MXP_CONCAT(mxp_span_, __COUNTER__), category, __VA_ARGS__)

#endif
