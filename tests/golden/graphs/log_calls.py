# SPDX-License-Identifier: Apache-2.0
"""Logs the C functions that a Python package calls: log_calls.py OUTFILE PROGRAM [ARGUMENTS]. The class of the loaded library is
replaced before the package is imported, so every call through ctypes is seen. OUTFILE, one line per function in order of its first call:
name, number of calls, ctypes types of the first call's arguments (`&T` = byref of T; a Python value given as it is keeps Python's
name), the declared result if it is not int. A line `# import` ends what `import mxnet` called."""
import ctypes
import os
import sys
import warnings
warnings.simplefilter('ignore')
seen, order = {}, []


def kind(a):
    if type(a).__name__ == 'CArgObject':
        return '&' + kind(a._obj)
    t = type(a).__name__
    if isinstance(a, ctypes.Array):
        return '%s[%d]' % (a._type_.__name__, len(a))
    if t == '_FuncPtr' or isinstance(a, ctypes._CFuncPtr):
        return 'function'
    return t


class Logged:
    def __init__(self, f):
        object.__setattr__(self, 'f', f)

    def __call__(self, *a):
        n = self.f.__name__
        if n not in seen:
            seen[n] = [0, ', '.join(kind(x) for x in a), self.f.restype]
            order.append(n)
        seen[n][0] += 1
        return self.f(*a)

    def __getattr__(self, n):
        return getattr(self.f, n)

    def __setattr__(self, n, v):
        setattr(self.f, n, v)


class CDLL(ctypes.CDLL):
    def __getattr__(self, n):
        if n.startswith('__'):
            raise AttributeError(n)
        f = Logged(super().__getattr__(n))
        self.__dict__[n] = f
        return f


original = ctypes.CDLL


def make(name, *a, **k):
    return (CDLL if name and 'mxnet' in str(name) else original)(name, *a, **k)


ctypes.CDLL = make
import mxnet
ctypes.CDLL = original
imported = list(order)
counts = {n: seen[n][0] for n in order}
out = os.path.abspath(sys.argv[1])
sys.argv = sys.argv[2:]
if sys.argv:
    import runpy
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    runpy.run_path(sys.argv[0], run_name='__main__')


def line(n, c):
    r = seen[n][2]
    return '%s\t%d\t%s%s\n' % (n, c, seen[n][1], '' if r in (None, ctypes.c_int) else '\t-> ' + r.__name__)


with open(out, 'w') as f:
    if not sys.argv:
        f.writelines(line(n, counts[n]) for n in imported)
    else:
        f.writelines(line(n, seen[n][0] - counts.get(n, 0)) for n in order if seen[n][0] > counts.get(n, 0))
os._exit(0)
