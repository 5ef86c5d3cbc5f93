# SPDX-License-Identifier: Apache-2.0
"""Runs in the interpreter of a program under `mxprof run`, before it begins (door.c); what else runs there comes
behind it in the same name space. Imports nothing that the program does not import; whatever goes wrong, the program
goes on."""
import sys


class Watch:
    """A meta path finder that finds nothing of its own: it waits for one module and calls `found` with it."""

    def __init__(self, name, what, found):
        self.name, self.what, self.found = name, what, found
        if name in sys.modules:
            self.tell(sys.modules[name])
        else:
            sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = self.found_by_others(name, path, target)
        if spec is not None and spec.loader is not None:
            self.wrap(spec.loader)
        return spec

    @staticmethod
    def found_by_others(name, path, target):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                return spec
        return None

    def wrap(self, loader):
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            self.tell(module)

        loader.exec_module = exec_module

    def tell(self, module):
        try:
            self.found(module)
        except Exception as error:  # pylint: disable=broad-exception-caught
            sys.stderr.write(f"mxprof: {self.what} are not recorded: {type(error).__name__}: {error}\n")
