# SPDX-License-Identifier: Apache-2.0
"""What the documents tell a reader to type: commands in boxes, commands in running text, and the programs in boxes that
they are about. tests/docs/test_commands.py checks them; scripts/first-run types them."""
import pathlib
import re
import shlex
from typing import Iterator, List, NamedTuple, Optional

BOX = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Words that begin a command. What begins otherwise in a box without a language is output, or a file.
PROGRAMS = ("apt-get", "build/", "cc ", "cmake", "curl", "g++", "gcc", "git ", "kill", "make", "mkdir", "mpirun", "mxnet-launch",
            "mxprof ", "pip ", "python", "scripts/", "sqlite3", "sudo ", "venv/", "for ", "./", "clang ", "export ")


class Command(NamedTuple):
    """A line to type, in one piece."""
    page: str
    line: int
    text: str
    in_box: bool


def pages(source: pathlib.Path) -> List[str]:
    documents = sorted(str(page.relative_to(source)) for page in (source / "docs").rglob("*.md"))
    return ["README.md", "CONTRIBUTING.md", "python/README.md", *documents]


def boxes(text: str) -> Iterator[tuple]:
    """(place, language, content) of each box; an indented block, as Markdown has it, is one without a language."""
    for found in BOX.finditer(text):
        yield found.start(2), found[1], found[2]
    plain = BOX.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for found in re.finditer(r"(?:^    \S.*\n)+", plain, re.MULTILINE):
        yield found.start(), "", re.sub(r"^    ", "", found[0], flags=re.MULTILINE)


def _joined(content: str) -> Iterator[tuple]:
    """(place, line), with lines that end in a backslash as one."""
    place = 0
    for line in re.findall(r"(?:[^\n]*\\\n)*[^\n]*\n", content):
        yield place, re.sub(r"\\\n\s*", "", line).rstrip()
        place += len(line)


def _typed(line: str, has_prompts: bool) -> Optional[str]:
    if has_prompts:
        return line[2:] if line.startswith("$ ") else None
    plain = re.sub(r"^(\w+=\S+ )+", "", line)
    return line if plain.startswith(PROGRAMS) else None


def commands_of(page: str, text: str) -> List[Command]:
    """In boxes: lines behind a `$`, or if there is none those that begin with a program, without what a comment says. In
    running text: code that begins so and is more than a name."""
    found = []
    for place, language, content in boxes(text):
        if language not in ("", "sh", "console"):
            continue
        has_prompts = re.search(r"^\$ ", content, re.MULTILINE) is not None
        for offset, line in _joined(content):
            typed = _typed(line, has_prompts)
            if typed:
                number = text.count("\n", 0, place + offset) + 1
                found.append(Command(page, number, re.sub(r"\s+#( .*)?$", "", typed), True))
    plain = BOX.sub(lambda box: re.sub(r"[^\n]", " ", box[0]), text)
    for code in re.finditer(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)", plain):
        words = " ".join(code[1].split())
        if " " in words and _typed(words, False):
            found.append(Command(page, plain.count("\n", 0, code.start()) + 1, words, False))
    return sorted(found, key=lambda command: command.line)


def parts(command: str) -> Iterator[List[str]]:
    """The words of each simple command in a line; of what is no shell's, nothing."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: List[str] = []
        for word in lexer:
            if re.fullmatch(r"[;&|()<>]+", word):
                yield words
                words = []
            else:
                words.append(word)
        yield words
    except ValueError:
        return
