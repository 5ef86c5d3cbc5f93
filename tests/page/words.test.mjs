// SPDX-License-Identifier: Apache-2.0
// Words, links, exports, the first screen's answers, and what the sources and the style sheet must hold.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

import { changeWords, headline, isOfLayers, layerShares, namedShares, noiseWords, phaseShares, shortScopes, sideBySide, slowestOf, whyStep } from '../../tools/page/cards.js';
import { SvgBrush } from '../../tools/page/svg.js';
import { gainWords, sightOf } from '../../tools/page/explain_panel.js';
import { isDropped } from '../../tools/page/dropped.js';
import { layoutOf, programOf } from '../../tools/page/layout.js';
import { idOf, linkOf, stateOf } from '../../tools/page/links.js';
import { orderOfOwners, ownersAt } from '../../tools/page/memory_panel.js';
import { sceneOf } from '../../tools/page/scene.js';
import { ranksAdvice } from '../../tools/page/ranks_panel.js';
import { csvOfAll } from '../../tools/page/table.js';
import { barAt, barsOf, labelledOf, medianOf } from '../../tools/page/strip.js';
import { drawHeadings, drawScene, tickOf } from '../../tools/page/strokes.js';
import { slackOf } from '../../tools/page/tables.js';
import { amount, between, change, count, csvOf, cutText, fileName, name, size, time, traceSeconds, wholeName, xmlText } from '../../tools/page/text.js';
import { changedKinds } from '../../tools/page/whatif_panel.js';
import { loadAll, profileOf, random } from './fixture.mjs';

const FOLDER = new URL('../../tools/page/', import.meta.url);
const SOURCES = readdirSync(FOLDER).filter(file => file.endsWith('.js'));
const STYLE = readFileSync(new URL('page.css', FOLDER), 'utf8');

test('times, counts and sizes', () => {
  const times = [[0, '0 ns'], [999, '999 ns'], [1000, '1.000 \u00b5s'], [999_949, '999.9 \u00b5s'], [999_999, '1.000 ms'], [1.5e6, '1.500 ms'], [123456789, '123.5 ms'], [5e12, '5000 s'],
    [-2500, '-2.500 \u00b5s'], [NaN, '\u2013'], [Infinity, '\u2013']];
  for (const [ns, text] of times) assert.equal(time(ns), text);
  assert.equal(time(429_701_741, 3), '430 ms');
  assert.equal(change(-2e6), '\u22122.00 ms');
  assert.equal(count(1234567), '1,234,567');
  assert.deepEqual([size(0), size(999), size(39743248), size(2.5e9)], ['0 B', '999 B', '39.7 MB', '2.50 GB']);
  const amounts = [[0.6931, 0, '0.6931'], [37.5, 3, '37.5 %'], [12345678, 0, '12,345,678'], [1234.5678, 0, '1235'], [-0.5, 0, '\u22120.5'], [2e6, 1, '2.00 MB'], [1500, 2, '1.500 \u00b5s'], [1e-9, 0, '1e-9'], [NaN, 0, '\u2013']];
  for (const [value, unit, text] of amounts) assert.equal(amount(value, unit), text);
  for (const [begin, ns, text] of [[0n, 0, '0'], [1000n, 5e8, '0.500001'], [-5n, 2, '-0.000000003'], [1700000000000000001n, 999999999, '1700000001']]) assert.equal(traceSeconds(begin, ns), text);
  assert.deepEqual([between(1, 1, size), between(1, 2000, size)], ['1 B', '1 B to 2.00 kB']);
});

test('names: marks are made visible, long ones are cut, pairs are not parted', () => {
  assert.equal(name('a\u202eb\u0000'), 'a\\u202eb\\u0000');
  assert.equal(name(''), '(no name)');
  assert.equal(name('\ud800half'), '\\ud800half');
  assert.equal(name('\ud83d\ude00'), '\ud83d\ude00');
  assert.equal(name('x'.repeat(1e6)).length, 200);
  assert.equal(cutText('ab\ud83d\ude00cd', 4), 'ab\u2026');
  assert.equal(wholeName('y'.repeat(1000)).length, 1000);
});

test('CSV: formulas are disarmed, quotes doubled, numbers left alone', () => {
  assert.equal(csvOf([['=1+1', '+a', '-b', '@c', '\td', 'a"b', 'x,y', -5, 'two\nlines']]), '\ufeff\'=1+1,\'+a,\'-b,\'@c,\'\td,"a""b","x,y",-5,"two\nlines"\r\n');
  assert.equal(xmlText('<a & "b">\u0001'), '&#60;a &#38; &#34;b&#34;&#62;\\u0001');
  assert.equal(fileName('../../etc/my run.mxp', 'timeline', 'svg'), 'my-run-timeline.svg');
});

test('links: what is written is read again; what does not parse is ignored, numbers are clamped', () => {
  const limits = { length: 1e9, tracks: 3 };
  const state = { id: '0123abcd', view: { from: -5, to: 1000 }, selection: { from: 10, to: 20 }, focus: { track: 2, begin: 77 }, step: 17, tab: 'What-if', search: 'a b&c=d#', path: true };
  assert.deepEqual(stateOf(linkOf(state), limits), state);
  for (const bad of ['#t=5', '#t=9-1', '#t=1e5-2', '#s=<script>', '#f=9.1', '#f=x', '#step=-1', '#tab=<b>', '#id=zz', '#at=-3', '#%', '#t=%E0%A4%A', `#q=${'x'.repeat(5000)}`.slice(0, 3)]) {
    assert.deepEqual(stateOf(bad, limits), {}, bad);
  }
  assert.deepEqual(stateOf('t=0-99999999999999999', limits).view, { from: 0, to: 2e9 });
  assert.equal(stateOf(`q=${'x'.repeat(5000)}`, limits).search.length, 200);
  const next = random(11);
  for (let i = 0; i < 500; i++) {
    const text = Array.from({ length: 40 }, () => 'tsfq=&-.0123456789%abpath'[Math.floor(next() * 25)]).join('');
    for (const value of Object.values(stateOf(text, limits))) assert.notEqual(value, undefined);
  }
  assert.equal(idOf(Uint8Array.of(...new Array(12).fill(0), 0xef, 0xbe, 0xad, 0xde, 0, 0, 0, 0)), 'deadbeef');
});

test('scopes are as short as they can be told apart', () => {
  assert.deepEqual(shortScopes(['net:conv1:', 'net:conv0', 'totensor', '']), ['conv1', 'conv0', 'totensor', '<no scope>']);
  assert.deepEqual(shortScopes(['net:a:relu', 'net:b:relu', 'net']), ['a:relu', 'b:relu', 'net']);
});

test('the first screen: shares of one window, the slowest step and why', () => {
  const { profile } = profileOf('small'), { head } = profile, layers = layerShares(head);
  assert.deepEqual(layers.map(layer => [layer.name, layer.share, layer.each]), [['conv1', 0.38, 9.5e6], ['dense0', 0.08, 2e6]]);
  const { parts } = phaseShares(head.steps);
  assert.deepEqual(parts.map(([part, share]) => [part, Math.round(1000 * share)]), [['forward', 200], ['backward', 240], ['update', 20], ['communication', 0], ['other', 0], ['idle', 540]]);
  const side = phaseShares([{ ...head.steps[0], begin: 0, end: 100, parts: [40, 0, 0, 80, 0] }]);
  assert.deepEqual([side.parts.filter(([, share]) => share), side.work, side.wall], [[['forward', 0.4], ['communication', 0.8]], 120, 100]);
  const slowest = slowestOf(head.steps);
  assert.equal(slowest.number, 4);
  assert.equal(whyStep(slowest, head.steps), 'no operator ran for 8.00 ms more than in a typical step');
  const first = { ...slowest, isFirstRun: true };
  assert.match(whyStep(first, [first, ...head.steps.slice(0, 3)]), /first one/);
  assert.equal(whyStep(head.steps[1], head.steps), 'no step stands out');
  assert.equal(slowestOf([]), null);
});

test('shares above all together say why', () => {
  assert.deepEqual([0.9, 1, 1.02, 75].map(sideBySide), ['', '', 'Work ran side by side, 1.02 at a time.', 'Work ran side by side, 75.0 at a time.']);
});

test('noise is said as explain says it, with the run delay and what is likely why', () => {
  const process = { noise_ns: 1e6, mean_ns: 25e6, is_noisy: false };
  assert.equal(noiseWords(process), '1.00 ms, 4.0 % of a step; run delay not recorded');
  assert.equal(noiseWords({ ...process, run_delay_share: 0, is_busy: false }), '1.00 ms, 4.0 % of a step; run delay 0.0 % of the time');
  assert.equal(noiseWords({ ...process, is_noisy: true, run_delay_share: 0.456, is_busy: true }), '1.00 ms, 4.0 % of a step; the machine was busy, run delay 45.6 % of the time');
  assert.equal(noiseWords({ ...process, is_noisy: true, run_delay_share: 0.012, is_busy: false }), '1.00 ms, 4.0 % of a step; the steps differ much from one another, run delay 1.2 % of the time');
});

test('slack is the mean of all runs of a name, scope and phase, of all processes', () => {
  const row = { name: 'A', scope: 'net', phase: 'forward', runs: 1, mean_ns: 30 };
  const slack = slackOf({ processes: [{ slack: [row, { ...row, phase: 'backward', mean_ns: 7 }] }, { slack: [{ ...row, runs: 3, mean_ns: 10 }] }, {}] });
  assert.deepEqual([...slack.values()], [15, 7]);
  assert.equal(slackOf(null).size, 0);
});

test('the headline has what takes most, exchanges too, and no more than a line', () => {
  const layer = (name, share) => ({ name, share, each: 1, parts: [] });
  assert.equal(headline([layer('a', 0.2), layer('b', 0.1)], [['forward', 0.3], ['communication', 0.6]]), 'communication 60\u00a0%, a 20\u00a0%, b 10\u00a0%');
  assert.equal(headline([layer('a'.repeat(60), 0.5), layer('b', 0.1)], []), `${'a'.repeat(60)} 50\u00a0%`);
  assert.equal(headline([layer('a', 0.2), layer('b', 0.1)], [['forward', 0.3], ['idle', 0.7]]), 'idle 70\u00a0%, a 20\u00a0%, b 10\u00a0%');
  assert.equal(headline([layer('a', 0.003)], []), 'a 0.3\u00a0%', 'what is there is not 0 %');
  assert.equal(headline([], []), 'No operators and no calls were recorded');
});

test('workers: what holds up a job is what to try first', () => {
  const workers = [{ worker: 'worker 0', rank: 0, last_steps: 1 }, { worker: 'worker 1', rank: 1, last_steps: 19 }];
  const of = ranks => ({ explain: { between_ranks: { workers, ...ranks } }, workers: 'Network-bound: the way of worker 0 carries 9.9 MB/s (97 %).\nTry fewer bytes: gradient compression,\nfloat16.\n' });
  assert.equal(ranksAdvice(of({ straggler: null, bound: 'neither' })), '');
  assert.equal(ranksAdvice(of({ straggler: null, bound: 'network' })), 'Network-bound: try fewer bytes: gradient compression, float16');
  assert.equal(ranksAdvice(of({ straggler: 1, bound: 'network', gain_ns: 5e6 })), 'worker 1 keeps the others waiting: as fast as the second slowest it saves 5.00 ms a step');
  assert.equal(ranksAdvice({ explain: null, workers: '' }), '');
});

test('memory: the picture has seven owners and others, the table all of them; together they are the bin', () => {
  const device = { owners: Array.from({ length: 12 }, (_, i) => `owner ${i}`) }, curve = { most: [100], owners: device.owners.map((_, i) => [12 - i]) }, order = orderOfOwners(device, curve);
  const seven = ownersAt(device, curve, order, 0), all = ownersAt(device, curve, order, 0, 12);
  assert.deepEqual([seven.length, all.length, all[11].owner, all[11].token, all[12].owner], [8, 13, 'owner 11', 'own7', 'others']);
  for (const rows of [seven, all]) assert.equal(rows.reduce((sum, row) => sum + row.bytes, 0), 100);
});

test('the strip shows the slowest of each pixel, so that no slow step is lost', () => {
  const steps = Array.from({ length: 13000 }, (_, i) => ({ begin: i * 100, end: i * 100 + (i === 7777 ? 95 : 10) }));
  const bars = barsOf(steps, 1368);
  assert.ok(bars.length <= 1368 && bars.some(bar => bar.step === 7777));
  const slow = bars.find(bar => bar.step === 7777);
  assert.deepEqual([barAt(bars, slow.x).step, barAt(bars, slow.x + 0.9).step], [7777, 7777], 'a click leads to the step that the pixel shows');
  for (const [i, bar] of bars.entries()) assert.ok(barAt(bars, bar.x) === bar && (bars[i + 1]?.first ?? steps.length) === bar.end);
  assert.deepEqual([barAt(bars, -3).step, barAt([], 5)], [bars[0].step, null]);
  assert.equal(medianOf([{ begin: 0, end: 4 }, { begin: 0, end: 6 }]), 5);
});

test('of bars that are cut the highest have their time above them, whatever stands before them', () => {
  const bars = [100, 101, 102, 140, 480].map((x, step) => ({ x, width: 1, step, first: step, end: step + 1 })), heights = [5, 6, 9, 7, 8];
  assert.deepEqual(labelledOf(bars, () => 30, bar => heights[bar.step], 500).map(bar => bar.x), [102, 140]); // 480 has no room
});

test('a track with more depths than rows says that its last row overlaps, wide and narrow', () => {
  const { profile } = profileOf('one'), { head } = profile, full = { ...head, tracks: head.tracks.map(track => ({ ...track, rows: 3, isFull: true })) };
  for (const width of [1400, 700]) {
    const [before, layout] = [head, full].map(each => layoutOf(each, width)), said = layout.headings.filter(heading => /the last row overlaps/.test(heading.text));
    assert.deepEqual([before.headings.some(heading => /overlaps/.test(heading.text)), said.length], [false, 1]);
    if (width === 1400) assert.equal(said[0].y, layout.rows[0].y + 2 * 18);
  }
});

test('a process is called after its program', () => {
  for (const [command, program] of [['python', 'python'], ['rank 3', 'rank 3'], ['.venv/bin/python examples/train.py build --steps 5', 'train.py'], ['./a.out -x', 'a.out'], ['/bin/ls /', 'ls'], ['', '']]) {
    assert.equal(programOf(command), program);
  }
});

test('ticks are 1, 2 or 5 times a power of ten and have room', () => {
  for (let ns = 0.01; ns < 1e9; ns *= 1.37) {
    const tick = tickOf(ns), digit = tick / 10 ** Math.floor(Math.log10(tick) + 1e-9);
    assert.ok([1, 2, 5].some(d => Math.abs(digit - d) < 1e-6), `${tick}`);
    assert.ok(tick / ns >= 78 || tick === 1);
  }
});

test('causes: where they are seen, what they gain; changes in words and in kinds', () => {
  const { profile } = profileOf('small'), { head } = profile, cause = head.explain.processes[0].causes[0];
  assert.deepEqual(sightOf(cause, 2, 0), { search: '_backward_Convolution', place: 2, process: 0, overlay: 'path', isFirstRun: false });
  assert.equal(gainWords(cause), 'at most 4.00 ms a step (3.00 ms to 5.00 ms), from the path');
  const changes = [{ change: 'scope', of: 'net:conv1', factor: 0.5 }];
  assert.equal(changeWords(changes), 'net:conv1 twice as fast');
  assert.deepEqual([...changedKinds(head, changes)].map(kind => head.kinds[kind].name).sort(), ['Convolution', '_backward_Convolution', 'sgd_update']);
});

test('what the budget dropped is known at its place', () => {
  const dropped = { isWhole: false, cls: 2, kept: [[100, 200]], clsKept: null, full: [] };
  assert.deepEqual([isDropped({ dropped }, 50, 2), isDropped({ dropped }, 150, 2), isDropped({ dropped }, 50, 1)], [true, false, false]);
  assert.equal(isDropped({ dropped: { ...dropped, isWhole: true } }, 50, 9), false);
});

test('CSV of several tables has an empty line between them', () => {
  assert.deepEqual(csvOfAll([null, { csv: () => [['a'], [1]] }, null, { csv: () => [['b'], [2]] }]), [['a'], [1], [], ['b'], [2]]);
  assert.deepEqual(csvOfAll([]), []);
});

test('SVG: spans of a colour are one shape, and those beyond the most are counted', () => {
  const brush = new SvgBrush(() => 1);
  brush.fillAll([0, 0, 10, 5, 20, 0, 2, 5], 0, 0);
  brush.fillAll([0, 0, 10, 5, 20, 0, 2, 5], 1, 3);
  assert.deepEqual(brush.parts.map(part => /d="([^"]*)"/.exec(part)[1]), ['M0 0h10v5h-10zM20 0h2v5h-2z', 'M1 1h8v3h-8z']);
  brush.left = 1;
  brush.fillAll([0, 0, 10, 5, 20, 0, 2, 5], 0, 0);
  assert.equal(brush.missing, 1);
});

test('SVG: text stays text, names are escaped, as many rectangles as the canvas has', async () => {
  const { profile } = profileOf('hostile');
  await loadAll(profile);
  const { head } = profile, layout = layoutOf(head, 1400), view = { from: 0, to: 2000, width: 1400, left: layout.left };
  const scene = sceneOf(profile, layout.rows, view, { find: null, fills: head.kinds.map(() => 'forward') });
  const p = { page: '#fff', panel: '#eee', forward: '#00f', soft: '#555', text: '#111', label: '#fff', line: '#ccc' }, brush = new SvgBrush(words => 6 * words.length);
  drawScene(brush, p, scene, head.kinds);
  drawHeadings(brush, p, layout, view.width);
  const svg = brush.text(view.width, layout.height, head.title, p.page);
  assert.deepEqual(svg.match(/<path d="[^"]*" fill="#00f"/g).map(shape => shape.match(/z/g).length), [10]);
  assert.ok(!svg.includes('<img') && !svg.includes('<b>') && svg.includes('&#60;/scri'));
  assert.equal((svg.match(/<text/g) ?? []).length, (svg.match(/<\/text>/g) ?? []).length);
});

test('sources are ASCII and use nothing that makes markup or code of text', () => {
  const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|\bFunction\(|setAttribute\('on|srcdoc|localStorage|sessionStorage|cookie|fetch\(|XMLHttpRequest|WebSocket|Worker\(|import\(/;
  for (const file of [...SOURCES, 'page.css', 'page.html']) {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    assert.ok(/^[\x00-\x7f]*$/.test(text), `${file} is not ASCII`);
    assert.ok(!forbidden.test(text.replace(/\/\*\*[^]*?\*\/|^\s*\/\/.*$/gm, '')), `${file}: ${forbidden}`);
    assert.ok(!/\son[a-z]+="|\sstyle="/.test(file === 'page.html' ? text : ''), file);
  }
});

test('every module is in the list, and the list is in an order in which classes and constants exist before use', () => {
  const listed = readFileSync(new URL('modules.txt', FOLDER), 'utf8').trim().split('\n');
  assert.deepEqual([...listed, 'start.js'].sort(), [...SOURCES].sort());
});

// ---- colours ---------------------------------------------------------------------------------------
function tokensOf(selector) {
  const at = STYLE.indexOf(selector), block = STYLE.slice(at, STYLE.indexOf('}', at));
  return Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, token, colour]) => [token, colour]));
}
const linear = colour => [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16) / 255).map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const luminance = colour => linear(colour).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
// Machado 2009, severity 1.
const SIGHTS = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
function lab(colour, sight) {
  const rgb = linear(colour), seen = sight.map(row => Math.min(1, Math.max(0, row.reduce((sum, m, i) => sum + m * rgb[i], 0))));
  const xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]].map(row => row.reduce((sum, m, i) => sum + m * seen[i], 0));
  const [x, y, z] = [xyz[0] / 0.95047, xyz[1], xyz[2] / 1.08883].map(t => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const distance = (a, b, sight) => Math.hypot(...lab(a, sight).map((v, i) => v - lab(b, sight)[i]));
const FILLS = ['forward', 'backward', 'update', 'communication', 'other', 'call'];

test('the dark tokens stand twice, for the system and for the reader, and are the same', () => {
  assert.deepEqual(tokensOf(':root:not([data-theme="light"])'), tokensOf(':root[data-theme="dark"] {\n'));
  assert.deepEqual(Object.keys(tokensOf(':root {')).sort(), Object.keys(tokensOf(':root[data-theme="dark"] {\n')).sort());
});

for (const [theme, selector, least] of [['light', ':root {', 24], ['dark', ':root[data-theme="dark"] {\n', 27]]) {
  test(`${theme}: contrast of texts and fills, distances under four kinds of sight`, () => {
    const t = tokensOf(selector);
    for (const token of ['text', 'soft', 'accent', 'good', 'warn', 'bad', 'path']) {
      for (const ground of ['page', 'panel']) assert.ok(contrast(t[token], t[ground]) >= 4.5, `${token} on ${ground}: ${contrast(t[token], t[ground]).toFixed(2)}`);
    }
    for (const fill of FILLS) {
      assert.ok(contrast(t[fill], t.page) >= 4.45, `${fill} ${contrast(t[fill], t.page)}`);
      assert.ok(contrast(t.label, t[fill]) >= 4.45, `label on ${fill}`);
      assert.ok(contrast(t[fill], t.panel) >= 3, `${fill} on panel`);
    }
    assert.ok(contrast(t.text, t.line) >= 4.5 && contrast(t.label, t.accent) >= 4.5);
    for (const [sight, matrix] of Object.entries(SIGHTS)) {
      FILLS.forEach((a, i) => FILLS.slice(i + 1).forEach(b => {
        const far = distance(t[a], t[b], matrix);
        assert.ok(far >= least - 0.6, `${a} and ${b} with ${sight}: ${far.toFixed(1)}`);
      }));
    }
  });
}

test('without scopes the first card has operators, without operators calls by their own time', () => {
  const { profile } = profileOf('small'), { head } = profile, { report } = head;
  assert.deepEqual(layerShares({ ...head, report: { ...report, layers: [{ ...report.layers[0], scope: '' }] } }), [], 'one row of what has no scope is no layer');
  const unscoped = more => isOfLayers({ ...head, report: { ...report, layers: [...report.layers, { ...report.layers[0], scope: '', sum_ns: report.layers[0].sum_ns + more }] } });
  assert.deepEqual([isOfLayers(head), unscoped(-1), unscoped(1)], [true, true, false], 'where more is in no scope than in any layer');
  assert.deepEqual(namedShares(head).map(row => [row.name, row.share]), [['_backward_Convolution', 0.24], ['Convolution', 0.12]]);
  assert.deepEqual(namedShares({ ...head, report: { ...report, operators: [] } }).map(row => [row.name, row.each, row.parts]), [['MXImperativeInvoke', 1e6, [['call', 1e6]]]]);
});
