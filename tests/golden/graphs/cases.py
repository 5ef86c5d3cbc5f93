# SPDX-License-Identifier: Apache-2.0
"""Cases of the programs of this folder: small functions whose value or error is written as one JSON line each.

A program decorates functions with @case('name'); cases.main() runs them and prints the lines. Cases marked own=True run in a
forked process, since the original may abort or hang there: then the case has an exit code (negative: the signal) or the seconds it hung. Each case has a NameManager of its
own, so automatic names begin with 0, and runs in an empty folder beside the others. GOLDEN_LINE=1 or 2 chooses the line of a
library that carries both; without it the version decides."""
import json
import os
import re
import select
import signal
import sys
import time
import warnings
warnings.simplefilter('ignore')
os.environ.setdefault('DMLC_LOG_STACK_TRACE_DEPTH', '0')
import numpy as onp
import mxnet as mx
V2 = os.environ.get('GOLDEN_LINE', mx.__version__)[0] == '2'
if V2 and hasattr(mx.npx, 'reset_np'):
    mx.npx.reset_np()
nd, sym = mx.nd, mx.sym
CASES = []
LIMIT = 4000                     # characters of an error text


def case(name, own=False, only=None, timeout=60):
    """only='1' or '2': the case exists in that line alone."""
    def deco(f):
        if only is None or only == ('2' if V2 else '1'):
            assert name not in [c[0] for c in CASES], name
            CASES.append((name, f, own, timeout))
        return f
    return deco


def number(x):
    """Nine digits are enough to tell float32 values apart; not-a-number and infinities become strings."""
    if isinstance(x, (bool, onp.bool_)):
        return bool(x)
    if isinstance(x, (int, onp.integer)):
        return int(x)
    x = float(x)
    if x != x or x in (float('inf'), float('-inf')):
        return repr(x)
    return int(x) if x == int(x) and abs(x) < 1e15 else float('%.9g' % x)


def nested(a):
    return [nested(x) for x in a] if isinstance(a, (list, onp.ndarray)) and onp.ndim(a) else number(a)


def show(v):
    """Any value as JSON."""
    if v is None or isinstance(v, (bool, str)):
        return v
    if isinstance(v, (int, float, onp.number, onp.bool_)):
        return number(v)
    if isinstance(v, bytes):
        return v.decode('utf-8', 'replace')
    if isinstance(v, onp.dtype) or isinstance(v, type):
        return onp.dtype(v).name if not isinstance(v, type) or issubclass(v, onp.generic) else v.__name__
    if isinstance(v, mx.nd.NDArray):
        a = v.asnumpy()
        return {'array': nested(a), 'shape': list(v.shape), 'dtype': onp.dtype(v.dtype).name, 'context': str(v.context)}
    if isinstance(v, onp.ndarray):
        return {'numpy': nested(v), 'dtype': v.dtype.name}
    if isinstance(v, mx.sym.Symbol):
        return {'symbol': repr(v), 'name': v.name, 'arguments': v.list_arguments(), 'outputs': v.list_outputs(),
                'auxiliary_states': v.list_auxiliary_states()}
    if isinstance(v, dict):
        return {str(k): show(x) for k, x in v.items()}
    if isinstance(v, (list, tuple, set)) or hasattr(v, '__iter__'):
        return [show(x) for x in v]
    return clean(repr(v))


def clean(text):
    """Folder, addresses, clock times and the C++ stack leave a text."""
    text = text.replace(os.getcwd(), '.')
    text = re.sub(r'at 0x[0-9a-f]+', 'at 0x...', text)
    text = re.sub(r'\[\d\d:\d\d:\d\d\]', '[hh:mm:ss]', text)
    text = re.sub(r'/[^\s:"\']*/site-packages', 'site-packages', text)
    text = re.sub(r'/(?:work|tmp|build|home)/[^\s:"\']*?/(?=(?:src|include|3rdparty)/)', '', text)
    text = re.sub(r'\n?Stack trace[^\n]*:\n(?:\s+(?:\[bt\]|File|\d+:)[^\n]*\n?|\s+\(?\d+\)[^\n]*\n?)*', '', text)
    text = re.sub(r'\n  \[bt\][^\n]*', '', text)
    return text if len(text) <= LIMIT else text[:LIMIT] + ' ...'


def run(name, f):
    line = {'case': name}
    try:
        managers = mx.name.NameManager()
        with managers:
            line['value'] = show(f())
        mx.nd.waitall()
    except Exception as e:
        line.pop('value', None)
        line['error'] = type(e).__name__
        line['text'] = clean(str(e))
    return line


def guarded(name, f, timeout):
    """Runs a case in a fork of this process, which has imported the library and run nothing yet: what ends or hangs there ends alone."""
    out_r, out_w = os.pipe()
    err_r, err_w = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(out_r)
        os.dup2(err_w, 2)
        line = json.dumps(run(name, f))
        os.write(2, b'')
        with os.fdopen(out_w, 'w') as p:
            p.write(line)
        os._exit(0)
    os.close(out_w)
    os.close(err_w)
    texts, end, ends = {out_r: b'', err_r: b''}, time.time() + timeout, None
    while texts and time.time() < end:
        for fd in select.select(list(texts), [], [], max(0, end - time.time()))[0]:
            chunk = os.read(fd, 1 << 16)
            texts[fd] += chunk
            if not chunk:
                ends = dict(ends or {}, **{str(fd): texts.pop(fd)})
    hangs = bool(texts)
    if hangs:
        os.kill(pid, signal.SIGKILL)
    texts = dict({str(k): v for k, v in texts.items()}, **(ends or {}))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(out_r)
    os.close(err_r)
    if hangs:
        return {'case': name, 'hangs_seconds': timeout}
    if texts[str(out_r)]:
        return json.loads(texts[str(out_r)])
    return {'case': name, 'exit': code, 'stderr_end': clean(texts[str(err_r)].decode('utf-8', 'replace')).strip()[-600:]}


def main():
    """The cases of their own first, before anything runs here."""
    only = sys.argv[sys.argv.index('--only') + 1] if '--only' in sys.argv else None
    chosen = [c for c in CASES if only is None or c[0] == only]
    results = {name: guarded(name, f, timeout) for name, f, own, timeout in chosen if own}
    for name, f, own, timeout in chosen:
        print(json.dumps(results[name] if own else run(name, f), ensure_ascii=False))
        sys.stdout.flush()
