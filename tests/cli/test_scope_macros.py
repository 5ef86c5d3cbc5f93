# SPDX-License-Identifier: Apache-2.0
"""The scope macros of record.h with every compiler that is here: what compiles without a warning, what must
not compile, and that each call is counted under its own name."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
COMPILERS = {"gcc": ["-std=c11"], "clang": ["-std=c11"], "g++": ["-std=c++17"], "clang++": ["-std=c++17"]}
FORMS = [(compiler, inline) for compiler in COMPILERS for inline in (False, True)]

PROGRAM = r"""
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#define HELPER(n) MXP_SPAN_SCOPE("app", "first" n); MXP_SPAN_SCOPE("app", "second" n)
static void function_here(void) { MXP_SPAN_FUNCTION("app"); }
static void body(int i, mxp_name id)
{
    static const char *const names[] = {"name0", "name1", "name2"};
    MXP_SPAN_SCOPE("app", "outer"); MXP_SPAN_SCOPE("app", "beside");
    MXP_SPAN_SCOPE_ID(id); MXP_SPAN_SCOPE_TEXT("app", names[i % 3]);
    HELPER("!");
    { MXP_SPAN_SCOPE("app", "inner"); { MXP_SPAN_SCOPE("app", "innermost"); } }
    function_here();
    for (int k = 0; k < 2; k++) {
        MXP_SPAN_SCOPE("app", "loop");
    }
#ifdef __cplusplus
    if (i % 3 == 0) MXP_SPAN_SCOPE("app", "sometimes");
    auto lambda = [] { MXP_SPAN_SCOPE("app", "lambda"); }; lambda();
#endif
}
int main(void)
{
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "out.json";
    config.native_filename = "out.mxp";
    config.continuous_dump = 0;
    if (mxp_session_configure(session, &config) != 0 || mxp_session_run(session) != 0) {
        return 1;
    }
    mxp_name id = mxp_span_name("app", "kept id");
    for (int i = 0; i < 9; i++) {
        body(i, id);
    }
    return mxp_session_dump(session, 1) == 0 ? 0 : 1;
}
"""
EXPECTED = {"outer": 9, "beside": 9, "kept id": 9, "name0": 3, "name1": 3, "name2": 3, "first!": 9,
            "second!": 9, "inner": 9, "innermost": 9, "function_here": 9, "loop": 18}
EXPECTED_CXX = {"sometimes": 3, "lambda": 9}


def compile_text(tmp_path, compiler, text, *options, inline=False):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not here")
    file = tmp_path / ("program.cpp" if compiler.endswith("++") else "program.c")
    file.write_text(("#define MXP_INLINE\n" if inline else "") + text)
    return subprocess.run([compiler, *COMPILERS[compiler], *STRICT, "-O1", f"-I{SOURCE}/include", file,
                           *options], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("compiler,inline", FORMS)
def test_each_scope_is_counted_under_its_own_name(tmp_path, compiler, inline):
    result = compile_text(tmp_path, compiler, PROGRAM, "-o", tmp_path / "program", f"-L{BUILD}",
                          "-lmxprof", f"-Wl,-rpath,{BUILD}", inline=inline)
    assert result.returncode == 0, result.stderr
    subprocess.run([tmp_path / "program"], cwd=tmp_path, timeout=60, check=True)
    report = subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", "--json", "out.mxp"], cwd=tmp_path, text=True,
                            capture_output=True, timeout=60, check=True).stdout
    counted = {name: row["Count"] for name, row in json.loads(report)["Time"]["app"].items()}
    assert counted == EXPECTED | (EXPECTED_CXX if compiler.endswith("++") else {})


REFUSED = {
    "a pointer": 'const char *s = x; MXP_SPAN_SCOPE("app", s);',
    "an array": 'static const char s[] = "s"; (void)s; (void)x; MXP_SPAN_SCOPE("app", s);',
    "__func__": '(void)x; MXP_SPAN_SCOPE("app", __func__);',
    "a category": 'MXP_SPAN_SCOPE(x, "name");',
    "a function's category": "MXP_SPAN_FUNCTION(x);",
}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("what", REFUSED)
def test_only_literals_compile(tmp_path, compiler, what):
    text = "#include <mxprof/record.h>\nvoid f(const char *x);\nvoid f(const char *x) { BODY }\n"
    result = compile_text(tmp_path, compiler, text.replace("BODY", REFUSED[what]), "-fsyntax-only")
    assert result.returncode != 0 and "error: expected" in result.stderr, result.stderr
    allowed = '(void)x; MXP_SPAN_SCOPE("app", "a" "b"); MXP_SPAN_SCOPE_TEXT(x, x);'
    result = compile_text(tmp_path, compiler, text.replace("BODY", allowed), "-fsyntax-only")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_string_object_is_refused_and_has_a_macro_of_its_own(tmp_path, compiler):
    text = ("#include <mxprof/record.h>\n#include <string>\nvoid f(const std::string &s);\n"
            "void f(const std::string &s) { (void)s; BODY }\n")
    result = compile_text(tmp_path, compiler, text.replace("BODY", 'MXP_SPAN_SCOPE("cpp", s.c_str());'),
                          "-fsyntax-only")
    assert result.returncode != 0 and "error: expected" in result.stderr, result.stderr
    result = compile_text(tmp_path, compiler,
                          text.replace("BODY", 'MXP_SPAN_SCOPE_TEXT("cpp", s.c_str());'), "-fsyntax-only")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_c_takes_no_scope_as_the_whole_body_of_an_if(tmp_path, compiler):
    """It would end at once. Refused as a whole: no half of it stays behind the condition."""
    text = ('#include <mxprof/record.h>\nvoid f(int x);\n'
            'void f(int x) { if (x) MXP_SPAN_SCOPE("app", "name"); }\n')
    result = compile_text(tmp_path, compiler, text, "-fsyntax-only")
    assert result.returncode != 0 and "error: expected expression" in result.stderr, result.stderr
