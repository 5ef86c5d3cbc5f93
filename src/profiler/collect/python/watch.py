# SPDX-License-Identifier: Apache-2.0
"""Runs in the interpreter of a program under `mxprof run`, before its first import (door.c). Waits for PyTorch's
profiler module to be imported and has PyTorch send its operators as ITT marks, on each Python thread. Imports
nothing that the program does not import; whatever goes wrong, the program goes on."""
import sys


class Watch:
    """A meta path finder that finds nothing of its own: it wraps the loader of one module."""

    name = "torch.autograd.profiler"

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

    @staticmethod
    def wrap(loader):
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            try:
                Marks(module).begin()
            except Exception as error:  # pylint: disable=broad-exception-caught
                sys.stderr.write(f"mxprof: PyTorch's operators are not recorded: {type(error).__name__}: {error}\n")

        loader.exec_module = exec_module


class Marks:
    """PyTorch's switch for ITT marks. It is a thread's own, and the program's profilers refuse to begin while it is
    on: ours is off while one of those runs on its thread."""

    def __init__(self, module):
        import threading
        self.module, self.threading = module, threading
        self.enable, self.disable = module._enable_profiler, module._disable_profiler
        self.prepare = module._prepare_profiler
        self.own = threading.local()

    def config(self):
        module = self.module
        return module.ProfilerConfig(module.ProfilerState.ITT, False, False, False, False, False,
                                     module._ExperimentalConfig())

    def on(self):
        if not getattr(self.own, "is_on", False):
            self.enable(self.config(), set())
            self.own.is_on = True

    def off(self):
        if getattr(self.own, "is_on", False):
            self.own.is_on = False
            self.disable()

    def begin(self):
        import atexit
        self.on()
        atexit.register(self.off)  # PyTorch would tell of a callback that is still there
        self.step_aside()
        self.follow_threads()

    def step_aside(self):
        def prepare(*arguments, **options):
            self.off()
            return self.prepare(*arguments, **options)

        def enable(*arguments, **options):
            self.off()
            return self.enable(*arguments, **options)

        def disable(*arguments, **options):
            try:
                return self.disable(*arguments, **options)
            finally:
                self.on()

        module = self.module
        module._prepare_profiler, module._enable_profiler, module._disable_profiler = prepare, enable, disable

    def follow_threads(self):
        run = self.threading.Thread._bootstrap_inner

        def bootstrap(thread):
            self.on()
            try:
                run(thread)
            finally:
                self.off()

        self.threading.Thread._bootstrap_inner = bootstrap


sys.meta_path.insert(0, Watch())
