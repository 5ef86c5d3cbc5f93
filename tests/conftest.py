# SPDX-License-Identifier: Apache-2.0
"""--words: only the tests whose path or name has one of these words, as TESTS= has them."""


def pytest_addoption(parser):
    parser.addoption("--words", default="", help="words separated by blanks, no patterns")


def pytest_collection_modifyitems(config, items):
    words = config.getoption("--words").split()
    if not words:
        return
    chosen = [item for item in items if any(word in item.nodeid for word in words)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen
