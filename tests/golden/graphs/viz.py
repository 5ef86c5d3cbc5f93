# SPDX-License-Identifier: Apache-2.0
"""print_summary and plot_network. One JSON line per case."""
import contextlib
import io
from cases import *
import nets


def printed(f, *a, **k):
    s = io.StringIO()
    with contextlib.redirect_stdout(s):
        f(*a, **k)
    return s.getvalue().split('\n')


for _name, (_net, _shapes) in nets.NETS.items():
    @case('print_summary: ' + _name)
    def _(net=_net, shapes=_shapes): return printed(mx.viz.print_summary, net(), shape=shapes)

    @case('plot_network: ' + _name)
    def _(net=_net): return mx.viz.plot_network(net(), save_format='dot').source.split('\n')


@case('print_summary without shapes')
def _(): return printed(mx.viz.print_summary, nets.mlp())


@case('print_summary: line length and positions')
def _(): return printed(mx.viz.print_summary, nets.mlp(), shape={'data': (4, 7)}, line_length=80, positions=[.3, .6, .75, 1.])


@case('print_summary of no symbol')
def _(): return printed(mx.viz.print_summary, 3)


@case('print_summary: shape missing')
def _(): return printed(mx.viz.print_summary, nets.mlp(), shape={'nobody': (4, 7)})


@case('plot_network with shapes')
def _(): return mx.viz.plot_network(nets.lenet_bn(), title='lenet', shape={'data': (2, 1, 12, 12)}).source.split('\n')


@case('plot_network with weights')
def _(): return mx.viz.plot_network(nets.mlp(), hide_weights=False).source.split('\n')


@case('plot_network with node attributes')
def _(): return mx.viz.plot_network(nets.mlp(), node_attrs={'shape': 'oval', 'fixedsize': 'false'}).source.split('\n')


@case('plot_network of no symbol')
def _(): return mx.viz.plot_network(3)


@case('plot_network: names twice')
def _():
    x = sym.var('x')
    return mx.viz.plot_network(sym.exp(sym.exp(x, name='e'), name='e')).source.split('\n')


main()
