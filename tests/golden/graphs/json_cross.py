# SPDX-License-Identifier: Apache-2.0
"""Loading the other line's symbol files: json_cross.py FOLDER. One JSON line per file: lists, shapes, a value, or the error."""
import json
import os
import sys
from cases import *
import nets
FOLDER = sys.argv[1]
load_json = sym.fromjson if V2 and hasattr(sym, 'fromjson') else sym.load_json
for _f in sorted(os.listdir(FOLDER)):
    @case('load ' + _f, own=True)
    def _(f=_f):
        s = load_json(open(os.path.join(FOLDER, f)).read())
        name = f[:-5]
        out = {'lists': s, 'attr_dict': s.attr_dict()}
        if name in nets.NETS:
            shapes = nets.NETS[name][1]
            args, aux = nets.inputs(s, shapes)
            b = s._bind if V2 else s.bind
            ex = b(mx.cpu(), {k: nd.array(v) for k, v in args.items()}, aux_states={k: nd.array(v) for k, v in aux.items()})
            out['outputs'] = list(ex.forward())
            own = nets.NETS[name][0]()
            out['same_text_when_saved'] = s.tojson() == own.tojson()
        return out


main()
