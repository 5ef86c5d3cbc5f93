# SPDX-License-Identifier: Apache-2.0
"""mxprof.hpp with every C++ compiler that is here: what compiles without a warning, what must not
compile, and what a program records with it."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-fno-exceptions",
          "-fno-rtti"]
FORMS = [(compiler, standard, inline) for compiler in ("g++", "clang++") for standard in (17, 20)
         for inline in (False, True)]

PROGRAM = r"""
#include <mxprof/mxprof.hpp>
#include <mxprof/profiler.h>
#include <thread>
#include <utility>
enum class level : short { low = -1 };
static int evaluated;
static int count_it() { return ++evaluated; }
static void work(std::string_view path)
{
    const char *none = nullptr;
    MXP_SPAN("app", "outer", MXP_ARG("count", count_it()), MXP_ARG("path", path), MXP_ARG("none", none));
    MXP_SPAN("app", "plain"); MXP_SPAN("app", "be" "side");
    auto lambda = [] { MXP_SPAN("app", "lambda"); }; lambda();
    MXP_SPAN_AS(span, "app", "told", MXP_ARG("level", level::low));
    span.add(MXP_ARG("half", 0.5f), MXP_ARG("yes", true));
    if (span) { span.add(MXP_ARG("bytes", sizeof path)); }
}
static void serve()
{
    mxp::async_span first(MXP_ASYNC_NAME("app", "request"), 7), second;
    mxp::async_span third = std::move(first);
    second = mxp::async_span(MXP_ASYNC_NAME("app", "request"), 8, mxp_context{8, 0});
    std::thread other([moved = std::move(third)]() mutable { moved.end(MXP_ARG("status", 200u)); });
    other.join();
    second = mxp::async_span();  // ends it
}
int main()
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "out.json";
    config.continuous_dump = 0;
    work("off");
    serve();
    if (evaluated != 0 || mxp_session_configure(mxp_session_get(), &config) != 0 ||
        mxp_session_run(mxp_session_get()) != 0) {
        return 1;
    }
    work("/data/1");
    work("/data/2");
    serve();
    return mxp_session_dump(mxp_session_get(), 1) == 0 ? 0 : 1;
}
"""


def compile_text(tmp_path, compiler, standard, text, *options, inline=False):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not here")
    file = tmp_path / "program.cpp"
    file.write_text(("#define MXP_INLINE\n" if inline else "") + text)
    return subprocess.run([compiler, f"-std=c++{standard}", *STRICT, "-O1", f"-I{SOURCE}/include", file,
                           *options], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("compiler,standard,inline", FORMS)
def test_spans_have_their_names_and_arguments(tmp_path, compiler, standard, inline):
    result = compile_text(tmp_path, compiler, standard, PROGRAM, "-o", tmp_path / "program", "-pthread",
                          f"-L{BUILD}", "-lmxprof", f"-Wl,-rpath,{BUILD}", inline=inline)
    assert result.returncode == 0, result.stderr
    subprocess.run([tmp_path / "program"], cwd=tmp_path, timeout=60, check=True)
    events = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["traceEvents"]
    begins = [event for event in events if event["ph"] in "BbX" and event["cat"] == "app"]
    args = {}
    for event in begins:
        args.setdefault(event["name"], []).append(event.get("args", {}))
    assert args["outer"] == [{"count": i + 1, "path": f"/data/{i + 1}", "none": ""} for i in range(2)]
    assert args["told"] == [{"level": -1, "half": 0.5, "yes": 1, "bytes": 16}] * 2
    assert {name: len(each) for name, each in args.items()} == {
        "outer": 2, "plain": 2, "beside": 2, "lambda": 2, "told": 2, "request": 2}
    assert {tuple(sorted(each.items())) for each in args["request"]} == {
        (("id", 7), ("status", 200)), (("context", 8),)}


REFUSED = {
    "a pointer for a name": 'MXP_SPAN("app", x);',
    "a pointer for a category": 'MXP_SPAN(x, "name");',
    "a pointer for a key": 'MXP_SPAN("app", "name", MXP_ARG(x, 1));',
    "__func__": 'MXP_SPAN("app", __func__);',
    "a name of an asynchronous span": 'mxp::async_span span(MXP_ASYNC_NAME("app", x));',
}


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("what", REFUSED)
def test_only_literals_are_names(tmp_path, compiler, what):
    text = "#include <mxprof/mxprof.hpp>\nvoid f(const char *x);\nvoid f(const char *x) { (void)x; BODY }\n"
    result = compile_text(tmp_path, compiler, 17, text.replace("BODY", REFUSED[what]), "-fsyntax-only")
    assert result.returncode != 0 and "error: expected" in result.stderr, result.stderr
    allowed = 'MXP_SPAN("app", "name", MXP_ARG("text", x));'
    result = compile_text(tmp_path, compiler, 17, text.replace("BODY", allowed), "-fsyntax-only")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("what", ['MXP_SPAN("app", "name", 3);', 'MXP_SPAN("app", "name", MXP_ARG("k", s));'])
def test_what_is_no_argument_is_told_in_words(tmp_path, compiler, what):
    text = "#include <mxprof/mxprof.hpp>\nstruct S {}; inline void f(const S &s) { (void)s; BODY }\n"
    result = compile_text(tmp_path, compiler, 17, text.replace("BODY", what), "-fsyntax-only")
    assert result.returncode != 0
    assert "arguments are made by MXP_ARG" in result.stderr or "an argument is a number" in result.stderr


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_an_older_standard_is_told_what_is_needed(tmp_path, compiler):
    result = compile_text(tmp_path, compiler, 14, "#include <mxprof/mxprof.hpp>\n", "-fsyntax-only")
    assert result.returncode != 0 and "mxprof.hpp needs C++17" in result.stderr
