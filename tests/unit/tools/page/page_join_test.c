// SPDX-License-Identifier: Apache-2.0
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmocka_all.h"
#include "compression/gzip.h"
#include "page/base64.h"
#include "page/join_page.h"
#include "page/sha256.h"
#include "page/squeeze.h"

static void assert_digest(const char *text, size_t length, const char *expected)
{
    uint8_t digest[MXP_SHA256_BYTES];
    char shown[2 * MXP_SHA256_BYTES + 1];
    mxp__sha256(text, length, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        snprintf(shown + 2 * i, 3, "%02x", digest[i]);
    }
    assert_string_equal(shown, expected);
}

// The examples of FIPS 180-4, and lengths at which the padding takes another block.
static void digests_are_those_of_the_standard(void **state)
{
    (void)state;
    static char many[1000000];
    memset(many, 'a', sizeof many);
    assert_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_digest(many, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    assert_digest(many, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    assert_digest(many, sizeof many,
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void base64_is_that_of_rfc_4648(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        mxp_strbuf out = {0};
        mxp__base64_put(pairs[i][0], strlen(pairs[i][0]), &out);
        assert_string_equal(mxp__strbuf_text(&out), pairs[i][1]);
        mxp__strbuf_fini(&out);
    }
    mxp_strbuf out = {0};
    mxp__base64_put("\xfb\xff\xfe", 3, &out);
    assert_string_equal(mxp__strbuf_text(&out), "+//+");
    mxp__strbuf_fini(&out);
}

static void put_file(const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "assets/%s", name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
    (void)state;
    mkdir("assets", 0700);
    put_file("page.css", "a{}");
    put_file("page.html", "<t>@TITLE@</t>@STYLE_HASH@ @SCRIPT_HASH@<s>@STYLE@</s><j>@SCRIPT@</j>"
                          "<u>@START@@START_HASH@</u><c>@CODE@</c>"
                          "a@b <p>@PLAIN@</p>@SECTIONS@<end>");
    put_file("modules.txt", "one.js\ntwo.js\n");
    put_file("one.js", "export const one = 1;\nexport function f() {\n  const two = 2;\n}\n");
    put_file("start.js", "// unpacks\n(async () => {\n})();\n");
    put_file("two.js", "import {\n  one, f,\n} from './one.js';\nimport { g } from './g.js';\n"
                       "const two = one;\n");
    return 0;
}

static int join(mxp_page_text *text)
{
    return mxp__page_join("assets", text);
}

static void modules_become_one_script_and_pieces_stand_around_the_data(void **state)
{
    (void)state;
    static const char script[] = "'use strict';(() => {\nconst one=1;\nfunction f(){\n"
                                 "const two=2;\n}\nconst two=one;\n})();\n";
    static const char start[] = "(async()=>{\n})();\n";
    mxp_page_text text;
    uint8_t digest[MXP_SHA256_BYTES];
    mxp_strbuf expected = {0}, packed = {0};
    assert_int_equal(join(&text), MXP_OK);
    assert_string_equal(mxp__strbuf_text(&text.pieces[MXP_PAGE_BEFORE_TITLE]), "<t>");
    mxp__strbuf_puts(&expected, "</t>sha256-");
    mxp__sha256("a{}", 3, digest);
    mxp__base64_put(digest, sizeof digest, &expected);
    mxp__strbuf_puts(&expected, " sha256-");
    mxp__sha256(script, sizeof script - 1, digest);
    mxp__base64_put(digest, sizeof digest, &expected);
    mxp__strbuf_printf(&expected, "<s>a{}</s><j>%s</j><u>%ssha256-", script, start);
    mxp__sha256(start, sizeof start - 1, digest);
    mxp__base64_put(digest, sizeof digest, &expected);
    mxp__strbuf_puts(&expected, "</u><c>");
    assert_int_equal(mxp__gzip_pack(script, sizeof script - 1, 9, &packed), MXP_OK);
    mxp__base64_put(packed.data, packed.length, &expected);
    mxp__strbuf_puts(&expected, "</c>a@b <p>");
    mxp__strbuf_fini(&packed);
    assert_string_equal(mxp__strbuf_text(&text.pieces[MXP_PAGE_BEFORE_PLAIN]),
                        mxp__strbuf_text(&expected));
    assert_string_equal(mxp__strbuf_text(&text.pieces[MXP_PAGE_BEFORE_DATA]), "</p>");
    assert_string_equal(mxp__strbuf_text(&text.pieces[MXP_PAGE_END]), "<end>");
    mxp__strbuf_fini(&expected);
    mxp__page_text_fini(&text);
}

// But for texts of several lines, in which everything counts.
static void comments_and_indents_are_left_out(void **state)
{
    (void)state;
    static const char module[] = "// a\n/** b\n * c */\n\nconst t = `x\n  // kept\n\n /* kept "
                                 "*/\nimport ${ a + `b ${ { c } } ` }`;\n"
                                 "  /* gone */\n  f(); // gone\n/* d */ g('\\`');\n  h(1);\n"
                                 "/* let one = 1;\n*/\n";
    static const char joined[] =
        "const t=`x\n  // kept\n\n /* kept */\nimport ${a+`b ${{c}} `}`;\nf();\n"
        "g('\\`');\nh(1);\n})();\n";
    mxp_page_text text;
    put_file("two.js", module);
    assert_int_equal(join(&text), MXP_OK);
    assert_non_null(strstr(mxp__strbuf_text(&text.pieces[MXP_PAGE_BEFORE_PLAIN]), joined));
    mxp__page_text_fini(&text);
}

static void a_style_sheet_keeps_the_blanks_that_mean_something(void **state)
{
    (void)state;
    static const char style[] = "/* a */\n:root { --a: #fff;\n  --b: \"x  y\", serif; }\n"
                                "a :hover > b.c, d + e { margin: 0 -1px; width: calc(1px + 2%); }\n"
                                "@media (max-width: 9px) { .x .y { color: red; } }\n";
    mxp_strbuf out = {0};
    mxp__page_squeeze_style(style, sizeof style - 1, &out);
    assert_string_equal(mxp__strbuf_text(&out),
                        ":root{--a:#fff;--b:\"x  y\",serif;}"
                        "a :hover > b.c,d + e{margin:0 -1px;width:calc(1px + 2%);}"
                        "@media (max-width:9px){.x .y{color:red;}}");
    mxp__strbuf_fini(&out);
}

// What reads otherwise without its blank keeps it; texts and regular expressions keep theirs.
static void blanks_that_part_tokens_stay(void **state)
{
    (void)state;
    static const struct {
        const char *line, *squeezed;
    } cases[] = {
        {"  a = b + c ;", "a=b+c;\n"},
        {"a + +b - -c + -d", "a+ +b- -c+-d\n"},
        {"return typeof x in y", "return typeof x in y\n"},
        {"const { a, b } = /** @type {X} */ (c);", "const{a,b}=(c);\n"},
        {"x = 'a  // b' + \"c ' d\" + 'e\\' f' ;", "x='a  // b'+\"c ' d\"+'e\\' f';\n"},
        {"y = x / 2 / z; // half", "y=x/2/z;\n"},
        {"y = f(/a  [/'] \\/ b/g, / c/) / 2;", "y=f(/a  [/'] \\/ b/g,/ c/)/2;\n"},
        {"return / a/;", "return/ a/;\n"},
        {"a < !b; n-- > 0", "a< !b;n-- >0\n"},
        {"return `a  b`;", "return `a  b`;\n"},
        {"   // nothing", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxp_squeeze squeeze = {0};
        mxp_strbuf out = {0};
        mxp__page_squeeze(&squeeze, cases[i].line, strlen(cases[i].line), &out);
        assert_string_equal(mxp__strbuf_text(&out), cases[i].squeezed);
        mxp__strbuf_fini(&out);
    }
}

static void what_a_page_must_not_have_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text, *says;
    } cases[] = {
        {"two.js", "let one = 2;\n", "two.js: one is declared at the top of one.js too"},
        {"two.js", "async function f() {}\n", "two.js: f is declared at the top of one.js too"},
        {"two.js", "class one {}\n", "two.js: one is declared at the top of one.js too"},
        {"two.js", "const { a, b } = one;\n", "two.js: a declaration at its top without one plain"},
        {"two.js", "// fine\n// caf\xc3\xa9\n", "two.js:2: a byte that is not ASCII"},
        {"two.js", "export default 3;\n", "two.js: export stands before a declaration only"},
        {"two.js", "const t = '</script>';\n", "two.js: </script would end"},
        {"start.js", "// caf\xc3\xa9\n", "start.js:1: a byte that is not ASCII"},
        {"start.js", "f('</script>');\n", "start.js: </script would end"},
        {"page.html", "@TITLE@ @SECTIONS@ @PLAIN@", "page.html has no @SECTIONS@"},
        {"page.html", "@PLAIN@ @SECTIONS@", "page.html has no @TITLE@"},
        {"page.css", "\xc3\xa9", "page.css:1: a byte that is not ASCII"},
        {"modules.txt", "none.js\n", "cannot open 'assets/none.js'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxp_page_text text;
        make_folder(NULL);
        put_file(cases[i].file, cases[i].text);
        assert_int_not_equal(join(&text), MXP_OK);
        mxp__page_text_fini(&text);
        if (strstr(mxp_last_error(), cases[i].says) == NULL) {
            fail_msg("'%s' does not say '%s'", mxp_last_error(), cases[i].says);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_the_standard),
        cmocka_unit_test(base64_is_that_of_rfc_4648),
        cmocka_unit_test_setup(modules_become_one_script_and_pieces_stand_around_the_data,
                               make_folder),
        cmocka_unit_test_setup(comments_and_indents_are_left_out, make_folder),
        cmocka_unit_test(blanks_that_part_tokens_stay),
        cmocka_unit_test(a_style_sheet_keeps_the_blanks_that_mean_something),
        cmocka_unit_test(what_a_page_must_not_have_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
