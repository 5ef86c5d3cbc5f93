// SPDX-License-Identifier: Apache-2.0
// Level of detail against brute force over all spans: what is exact, what is summed, what is drawn, what a selection counts.
import assert from 'node:assert/strict';
import test from 'node:test';

import { icicleOf, icicleOfSelection, boxesOf } from '../../tools/page/icicle_data.js';
import { hasDropped, segmentsOf } from '../../tools/page/dropped.js';
import { layoutOf } from '../../tools/page/layout.js';
import { LANE } from '../../tools/page/lod.js';
import { flowPoints, flowsOf } from '../../tools/page/flows.js';
import { besideSpan, deepestAt, longestIn, nextOf, otherRow, spanAt } from '../../tools/page/neighbours.js';
import { linksOf, operatorOf } from '../../tools/page/operators.js';
import { pathOf } from '../../tools/page/path_data.js';
import { joinScenes, perPixel, sceneOf } from '../../tools/page/scene.js';
import { bucketBegin, bucketOf, select, Statistics } from '../../tools/page/selection.js';
import { bytesAt, counterCurve, memoryCurves, valueAt } from '../../tools/page/curves.js';
import { loadAll, profileOf, random, sectionsOfPage } from './fixture.mjs';

const { profile, spans } = profileOf('large');
await loadAll(profile);
const { head } = profile;
const WIDTH = 1400;

function* views(n, seed) {
  const next = random(seed);
  for (let i = 0; i < n; i++) {
    const width = Math.max(20, head.length * 10 ** (-8 * next())), from = (head.length - width) * next();
    yield { from, to: from + width, width: WIDTH, left: 0 };
  }
}

test('a page of 60,000 spans has levels to test', () => {
  assert.ok(head.tiles.length >= 3 && head.blocks.length > 5);
});

test('the exact spans of a view are those of at least its level, no more and no fewer', () => {
  for (const view of views(60, 1)) {
    const level = profile.level(perPixel(view)), least = level === 0 ? head.tiles[0].width : level < head.tiles.length ? head.tiles[level].width : 0;
    head.tracks.forEach((_, track) => {
      const seen = new Set();
      for (const n of profile.blocks(track, level, view.from, view.to)) {
        const block = profile.get(n);
        for (let i = profile.first(n, block, view.from); i < block.count && block.begin[i] <= view.to; i++) {
          if (block.begin[i] + block.duration[i] >= view.from) seen.add(`${block.begin[i]} ${block.depth[i]}`);
        }
      }
      const wanted = spans[track].filter(([begin, duration]) => begin <= view.to && begin + duration >= view.from && duration >= least);
      assert.deepEqual([...seen].sort(), wanted.map(([begin, , , depth]) => `${begin} ${depth}`).sort());
      assert.ok(spans[track].every(([, duration]) => duration < perPixel(view) || duration >= least), 'spans of a pixel and more are exact');
    });
  }
});

test('tiles and exact spans add up to all time of a lane, to 1/255 of a bin each', () => {
  for (let level = 0; level < head.tiles.length; level++) {
    const { lanes } = profile.tile(level), { width } = head.tiles[level];
    for (const [key, lane] of lanes) {
      const track = Math.floor(key / LANE), depth = key % LANE, short = spans[track].filter(span => span[3] === depth && span[1] < width);
      const summed = lane.busy.reduce((sum, busy) => sum + busy / 255 * width, 0), real = short.reduce((sum, span) => sum + span[1], 0);
      const clipped = lane.busy.reduce((n, busy) => n + (busy === 255 ? 1 : 0), 0);
      assert.equal(lane.spans.reduce((a, b) => a + b, 0), short.length);
      assert.ok(summed <= real && (clipped > 0 || summed >= real - lane.busy.length * width / 255), `level ${level} ${summed} ${real}`);
    }
  }
});

test('a frame has at most a rectangle a pixel, row and block, whatever is in view, and hits are where spans are', () => {
  const layout = layoutOf(head, WIDTH), look = { find: null, fills: head.kinds.map(() => 'call') }, rows = layout.rows.reduce((n, row) => n + row.depth, 0);
  for (const view of views(40, 2)) {
    const scene = sceneOf(profile, layout.rows, { ...view, left: layout.left }, look);
    let n = 0;
    for (const list of scene.rects.values()) n += list.length / 4;
    const blocks = head.tracks.reduce((sum, _, track) => sum + profile.blocks(track, profile.level(perPixel(view)), view.from, view.to).length, 0);
    assert.ok(n <= (WIDTH + 30) * (rows + 2 * blocks), `${n} rectangles`);
    assert.ok(scene.isWhole);
    for (const list of scene.rects.values()) for (const x of list) assert.ok(Number.isFinite(x));
    for (let i = 0; i < scene.hits.length; i += 6) {
      const block = profile.get(scene.hits[i + 4]), at = scene.hits[i + 5], shown = { ...view, left: layout.left };
      const x = layout.left + (block.begin[at] - shown.from) / perPixel(shown);
      assert.ok(Math.abs(Math.max(x, layout.left - 10) - scene.hits[i]) < 1.01);
    }
  }
});

test('rows one by one make the scene of all of them', () => {
  const layout = layoutOf(head, WIDTH), look = { find: null, fills: head.kinds.map((_, i) => `fill ${i % 3}`) };
  for (const view of views(10, 9)) {
    const shown = { ...view, left: layout.left }, all = sceneOf(profile, [], shown, look);
    for (const row of layout.rows) joinScenes(all, sceneOf(profile, [row], shown, look));
    assert.deepEqual(all, sceneOf(profile, layout.rows, shown, look));
  }
});

test('where a pixel is less than every span, rectangles begin and end where spans do', () => {
  const layout = layoutOf(head, WIDTH), look = { find: null, fills: head.kinds.map(() => 'call') }, [row] = layout.rows;
  const long = spans[0].filter(([, duration, , depth]) => depth === 0 && duration > 200_000)[7], [begin, duration] = long;
  const view = { from: begin - duration, to: begin + 2 * duration, width: WIDTH, left: layout.left }, scene = sceneOf(profile, [row], view, look);
  const pixel = perPixel(view), x = layout.left + (begin - view.from) / pixel, list = scene.rects.get('call');
  const found = [];
  for (let i = 0; i < list.length; i += 4) if (Math.abs(list[i] - x) < 1e-6 && list[i + 1] === row.y) found.push(list[i + 2]);
  assert.deepEqual(found.map(width => Math.round(1000 * (width + 0.6))), [Math.round(1000 * duration / pixel)]);
});

test('searched kinds stay bright and others are dim', () => {
  const layout = layoutOf(head, WIDTH), view = { from: 0, to: head.length / 50, width: WIDTH, left: layout.left };
  const scene = sceneOf(profile, layout.rows, view, { find: new Set(), fills: head.kinds.map(() => 'call') });
  assert.deepEqual([...scene.rects.keys()], ['dim']);
});

function bruteSelection(from, to) {
  const by = new Map();
  for (const track of spans) {
    for (const [begin, duration, kind] of track) {
      if (begin > to || begin + duration < from) continue;
      const row = by.get(kind) ?? { count: 0, inside: 0, all: [] };
      row.count++;
      row.inside += Math.min(begin + duration, to) - Math.max(begin, from);
      row.all.push(duration);
      by.set(kind, row);
    }
  }
  for (const row of by.values()) row.all.sort((a, b) => a - b);
  return by;
}

test('a selection equals a recount, exact or from statistics of whole blocks', async () => {
  const statistics = new Statistics(profile), next = random(5), tracks = head.tracks.map((_, i) => i);
  for (let i = 0; i < 12; i++) {
    const from = Math.floor(head.length * next() * 0.6), to = i === 0 ? head.length : Math.floor(from + head.length * 0.4 * next());
    const real = bruteSelection(i === 0 ? 0 : from, to);
    for (const exactSpans of [Infinity, 0]) {
      const { rows, spans: n } = await select(profile, statistics, tracks, i === 0 ? 0 : from, to, { exactSpans });
      assert.equal(n, [...real.values()].reduce((sum, row) => sum + row.count, 0));
      for (const row of rows) {
        const { count, inside, all } = real.get(row.kind), rank = share => all[Math.max(0, Math.ceil(share * all.length) - 1)];
        assert.deepEqual([row.count, row.inside, row.sum, row.least, row.largest], [count, inside, all.reduce((a, b) => a + b), all[0], all[all.length - 1]]);
        for (const [key, share] of [['p50', 0.5], ['p90', 0.9], ['p99', 0.99]]) {
          if (row.isExact) assert.equal(row[key], rank(share));
          else assert.ok(row[key] >= bucketBegin(bucketOf(rank(share))) && row[key] <= bucketBegin(bucketOf(rank(share)) + 1), `${key} ${row[key]} ${rank(share)}`);
        }
        assert.equal(row.isExact, exactSpans === Infinity || row.count === 0);
      }
    }
  }
});

test('buckets are those of the trace format: four each power of two', () => {
  for (let ns = 0; ns < 5000; ns++) {
    const bucket = bucketOf(ns);
    assert.ok(bucketBegin(bucket) <= ns && ns < bucketBegin(bucket + 1), `${ns} in ${bucket}`);
  }
  assert.equal(bucketOf(2 ** 52), 4 * 51);
});

test('spans before and behind in a row, above and below, and of a search are the nearest there are', async () => {
  const next = random(7);
  for (let i = 0; i < 25; i++) {
    const track = Math.floor(next() * 2), row = spans[track].filter(span => span[3] === 0).sort((a, b) => a[0] - b[0]), at = 1 + Math.floor(next() * (row.length - 2));
    const span = await spanAt(profile, track, 0, row[at][0]);
    assert.equal(span.begin, row[at][0]);
    assert.equal((await besideSpan(profile, span, 1)).begin, row[at + 1][0]);
    assert.equal((await besideSpan(profile, span, -1)).begin, row[at - 1][0]);
    const kinds = new Set([3, 11]), all = spans.flat().filter(each => kinds.has(each[2])).map(each => each[0]).sort((a, b) => a - b);
    const found = await nextOf(profile, kinds, span.begin, 1, new Statistics(profile).mayHave(kinds));
    assert.equal(found?.begin, all.find(begin => begin > span.begin));
    assert.equal((await nextOf(profile, kinds, span.begin, -1, async () => true))?.begin, all.findLast(begin => begin < span.begin));
  }
  const first = await spanAt(profile, 0, 0, spans[0][0][0]);
  assert.equal(await besideSpan(profile, first, -1), null);
  assert.equal((await otherRow(profile, [0, 1], first, 1)).depth, 1);
  assert.equal(await otherRow(profile, [0, 1], first, -1), null);
});

test('what is too thin to be met is found in its row: the longest of those within a few pixels, and how many more there are', () => {
  for (const { from, to } of views(40, 5)) {
    const range = { from, to: from + (to - from) / 300, level: Infinity };
    for (const track of [0, 1]) {
      for (const depth of [0, 1]) {
        const wanted = spans[track].filter(([begin, duration, , row]) => row === depth && begin <= range.to && begin + duration >= range.from), found = longestIn(profile, track, depth, range);
        assert.equal(found ? found.others + 1 : 0, wanted.length);
        if (found) assert.equal(profile.get(found.block).duration[found.index], Math.max(...wanted.map(([, duration]) => duration)));
      }
    }
  }
});

test('blocks that were used longest ago leave when too many spans are held', async () => {
  const { profile: own } = profileOf('large');
  own.limit = 20000;
  for (let i = 0; i < own.head.blocks.length; i++) await own.load(i);
  assert.ok(own.held <= 20000 + 16384);
  assert.equal(own.held, [...own.decoded.values()].reduce((sum, block) => sum + block.count, 0));
});

test('flows: points of one number are a flow, also where its end is early; ends are at the innermost span', async () => {
  const { profile } = profileOf('small');
  await loadAll(profile);
  const points = await profile.sections.read('f', bytes => flowPoints(bytes, profile.head));
  assert.deepEqual([[...points.before], [...points.after]], [[-1, 0, 3, -1, -1], [1, -1, -1, 2, -1]]);
  const call = await deepestAt(profile, 1, 1e6 + 1000), { arrows, more } = await flowsOf(profile, points, call);
  assert.deepEqual([call.depth, more, arrows.length], [1, 0, 1]);
  assert.deepEqual(arrows[0], { kind: points.kind[0], isOut: true, from: { at: 1e6 + 1000, track: 1, depth: 1, kind: call.kind }, to: { at: 3e6, track: 0, depth: 0, kind: 0 } });
  const [back] = (await flowsOf(profile, points, await deepestAt(profile, 1, 21e6 + 1000))).arrows;
  assert.deepEqual([back.isOut, back.from.at, back.to.at], [false, 22e6 + 1000, 21e6 + 1000]);
});

test('a damaged block is known by its number, and the others are there', async () => {
  const { profile: own } = profileOf('large'), textOf = own.sections.textOf;
  own.sections.textOf = name => (name === 'b1' ? textOf(name).replace(/^(.{200})./, '$1!') : textOf(name));
  await assert.rejects(own.load(1));
  assert.deepEqual([...own.damaged.keys()], [1]);
  assert.equal(own.get(1), null);
  assert.ok(await own.load(0));
  const { unread } = await select(own, new Statistics(own), [0, 1], 0, own.head.length);
  assert.equal(unread, 1);
});

test('an operator knows its push, who pushed it, what released it and what it released', async () => {
  const { profile: own, spans: all } = profileOf('small');
  const dense = await spanAt(own, 0, 0, 5_500_000), operator = operatorOf(own, dense);
  assert.deepEqual(operator, { push: 4_500_000, ready: 250_000, id: 11, pusher: 1, released: 10 });
  const links = await linksOf(own, dense);
  assert.equal(links.by.begin, all[0][0][0]);
  assert.deepEqual(links.to.map(span => span.begin), [8_000_000]);
  const call = await spanAt(own, 1, 0, 1_000_000);
  assert.equal(operatorOf(own, call), null);
});

test('path, icicle, memory and counters are what was put in, and other counts than the head says are refused', async () => {
  const { profile: own } = profileOf('small'), { sections } = own, small = own.head;
  const path = await sections.read('p', bytes => pathOf(bytes, small));
  assert.deepEqual([[...path.begin], [...path.length]], [[2e6, 22e6, 46e6, 70e6], [13e6, 13e6, 13e6, 13e6]]);
  const icicle = await sections.read('i', bytes => icicleOf(bytes, small));
  assert.deepEqual(icicle.label, ['step', 'net', 'conv1', 'forward', 'Convolution', 'no operator ran']);
  assert.deepEqual([...icicle.parent], [0, 0, 1, 2, 3, 0]);
  assert.deepEqual(boxesOf(icicle, 0, 1000, 1).map(box => [box.node, box.x, box.width, box.row]), [[0, 0, 1000, 0], [1, 0, 600, 1], [5, 600, 400, 1], [2, 0, 600, 2], [3, 0, 600, 3], [4, 0, 600, 4]]);
  const [curve] = await sections.read('m', bytes => memoryCurves(bytes, small));
  assert.equal(Math.max(...curve.most), small.memory.devices[0].peak);
  assert.equal(curve.owners[0][7], Math.floor(curve.most[7] / 2));
  const counter = await sections.read('c0', bytes => counterCurve(bytes, 20));
  assert.deepEqual([counter.last[3], counter.time[3]], [9, 15e6]);
  const bins = { time: Float64Array.of(10, 50), least: Float64Array.of(1, 0), most: Float64Array.of(100, 7), last: Float64Array.of(2, 7) };
  assert.deepEqual([9, 10, 19, 20, 49, 50, 60].map(at => valueAt(bins, 10, at)), [null, [1, 100], [1, 100], [2, 2], [2, 2], [0, 7], [7, 7]], 'behind its bin a counter stands at its last');
  assert.deepEqual([bytesAt(curve, -1), bytesAt(curve, 7 * 5e6)], [[0, 0], [9e6, curve.most[7]]]);
  await assert.rejects(sections.read('p', bytes => pathOf(bytes, { ...small, path: { ...small.path, steps: [[0, 1]] } })), /pieces/);
  await assert.rejects(own.sections.read('c0', bytes => counterCurve(bytes, 21)), /bins/);
});

test('what the budget left out stands as the tile above it, everywhere else all is exact', async () => {
  const { profile: own, spans: all } = profileOf('budget'), cut = own.head, [kept] = cut.dropped.kept;
  await loadAll(own);
  const levels = cut.tiles.length, [first] = segmentsOf(cut, 0, 1000, levels);
  assert.deepEqual(first, { from: 0, to: 1000, level: 1, isCut: true });
  assert.deepEqual(segmentsOf(cut, kept[0] - 10, kept[1] + 10, levels).map(each => [each.from, each.to, each.level, each.isCut]),
    [[kept[0] - 10, kept[0], 1, true], [kept[0], kept[1], levels, false], [kept[1], kept[1] + 10, 1, true]]);
  assert.deepEqual(segmentsOf(cut, 0, 4e9, 0), [{ from: 0, to: 4e9, level: 0, isCut: false }]);
  // Blocks and the tile together have the time of every span, whatever the zoom.
  const layout = layoutOf(cut, WIDTH), look = { find: null, fills: cut.kinds.map(() => 'call') };
  for (const from of [5e8, kept[0] + 1e6]) {
    const view = { from, to: from + 2e6, width: WIDTH, left: layout.left }, scene = sceneOf(own, layout.rows, view, look);
    const drawn = scene.rects.get('call') ?? [], row = layout.rows[0];
    const exact = all[0].filter(([begin, duration, , depth]) => depth === 0 && begin + duration > view.from && begin < view.to);
    let pixels = 0;
    for (let i = 0; i < drawn.length; i += 4) if (drawn[i + 1] >= row.y && drawn[i + 1] < row.y + 17) pixels += drawn[i + 2];
    assert.ok(exact.length > 0 && pixels > 0, `${from}`);
    assert.equal(hasDropped(cut, view.from, view.to), from === 5e8);
  }
});

test('the icicle of a selection has its operators by scope, phase and name', async () => {
  const { profile: own } = profileOf('small'), { rows } = await select(own, new Statistics(own), [0, 1], 0, 20_000_000);
  const icicle = icicleOfSelection(own.head, rows), at = icicle.label.indexOf('conv1');
  assert.equal(icicle.total[at], 9_000_000);
  assert.equal(icicle.total[0], 18_000_000 + 0 * sectionsOfPage('small').head.end);
});
