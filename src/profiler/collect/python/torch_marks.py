# SPDX-License-Identifier: Apache-2.0
"""Behind watch.py: once PyTorch's profiler module is imported, PyTorch sends its operators as ITT marks, on each Python
thread."""
import sys


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


Watch("torch.autograd.profiler", "PyTorch's operators", lambda module: Marks(module).begin())
