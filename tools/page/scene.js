// SPDX-License-Identifier: Apache-2.0
// What a view of the timeline draws, as lists of numbers: the canvas, the SVG and the tests take the same. At most
// one rectangle a pixel, lane and block. Pure: it asks for blocks and tiles and draws what is there.
import { LANE } from './lod.js';
import { segmentsOf } from './dropped.js';
import { ROW } from './layout.js';
/** @import { Segment } from './dropped.js' */
/** @import { Lane, Profile } from './lod.js' */
/** @import { Row } from './layout.js' */

/** @typedef {{from: number, to: number, width: number, left: number}} View ns and CSS pixels; left: where time begins */
/** @typedef {{rects: Map<string, number[]>, labels: Label[], hits: number[], instants: number[], isWhole: boolean}} Scene
 * rects: x, y, width, height by fill; hits: x0, y, x1, track, block, index; instants: x, y, how many */
/** @typedef {{x: number, y: number, room: number, kind: number, fill: string, dim: boolean}} Label */

export const THIN_PX = 1.5; // so near is met what is too thin to have a place of its own
const BAR = ROW - 1, LABEL_FROM = 34, HIT_FROM = 2, OUTSIDE = 10, INSTANTS_WITHIN = 3;

/** @param {View} view */
export function perPixel(view) {
  return (view.to - view.from) / Math.max(1, view.width - view.left);
}

/** @param {View} view @param {number} ns */
export function xOf(view, ns) {
  return view.left + (ns - view.from) / perPixel(view);
}

/** @param {View} view @param {number} x */
export function nsOf(view, x) {
  return view.from + (x - view.left) * perPixel(view);
}

/**
 * @param {Profile} profile @param {Row[]} rows those that can be seen @param {View} view
 * @param {{find: Set<number> | null, fills: string[]}} look find: kinds that were searched for, others are dim
 * @returns {Scene}
 */
export function sceneOf(profile, rows, view, look) {
  /** @type {Scene} */
  const scene = { rects: new Map(), labels: [], hits: [], instants: [], isWhole: true };
  const level = profile.level(perPixel(view)), segments = segmentsOf(profile.head, view.from, view.to, level);
  for (const row of rows) {
    if (row.what !== 'spans') continue;
    for (const segment of segments) if (segment.level < profile.head.tiles.length) putTile(scene, profile, row, view, segment, look);
    putBlocks(scene, profile, row, view, level, look);
  }
  return scene;
}

/** Adds what one scene has to another. @param {Scene} all @param {Scene} scene */
export function joinScenes(all, scene) {
  for (const [fill, list] of scene.rects) {
    const own = all.rects.get(fill);
    if (own) for (const value of list) own.push(value);
    else all.rects.set(fill, [...list]);
  }
  for (const label of scene.labels) all.labels.push(label);
  for (const value of scene.hits) all.hits.push(value);
  for (const value of scene.instants) all.instants.push(value);
  all.isWhole &&= scene.isWhole;
}

/** @param {Scene} scene @param {string} fill @param {number} x @param {number} y @param {number} w @param {number} h */
function put(scene, fill, x, y, w, h) {
  const list = scene.rects.get(fill);
  if (list) list.push(x, y, w, h); else scene.rects.set(fill, [x, y, w, h]);
}

/** @typedef {{find: Set<number> | null, fills: string[]}} Look */

/** @param {Scene} scene @param {Profile} profile @param {Row} row @param {View} view @param {number} level @param {Look} look */
function putBlocks(scene, profile, row, view, level, look) {
  for (const number of profile.blocks(row.track, level, view.from, view.to)) {
    const block = profile.get(number);
    if (!block) {
      scene.isWhole = scene.isWhole && profile.damaged.has(number);
      continue;
    }
    const scale = 1 / perPixel(view), last = new Float64Array(LANE).fill(-1e9);
    for (let i = profile.first(number, block, view.from); i < block.count; i++) {
      const begin = block.begin[i];
      if (begin > view.to) break;
      const end = begin + block.duration[i];
      if (end < view.from) continue;
      const x = Math.max(view.left + (begin - view.from) * scale, view.left - OUTSIDE);
      const right = Math.max(Math.min(view.left + (end - view.from) * scale, view.width + OUTSIDE), x + 1);
      const depth = block.depth[i];
      if (right <= last[depth]) continue; // its pixel is drawn already
      last[depth] = right < x + 1.5 ? Math.floor(x) + 1 : right;
      const kind = block.kind[i], y = row.y + depth * ROW;
      if (block.duration[i] === 0 && row.hasInstants) {
        putInstant(scene, x, y);
        scene.hits.push(x - 3, y, x + 3, row.track, number, i);
        continue;
      }
      const dim = look.find !== null && !look.find.has(kind), fill = dim ? 'dim' : look.fills[kind];
      put(scene, fill, x, y, right - x > 3 ? right - x - 0.6 : right - x, BAR);
      if (right - x > LABEL_FROM) {
        const from = Math.max(x, view.left) + 4;
        scene.labels.push({ x: from, y, room: Math.min(right, view.width) - from - 3, kind, fill, dim });
      }
      if (right - x > HIT_FROM) scene.hits.push(x, y, right, row.track, number, i);
    }
  }
}

/** Instants within a few pixels are one triangle with their count. @param {Scene} scene @param {number} x @param {number} y */
function putInstant(scene, x, y) {
  const { instants } = scene, n = instants.length;
  if (n && instants[n - 2] === y && Math.abs(x - instants[n - 3]) < INSTANTS_WITHIN) instants[n - 1]++;
  else instants.push(x, y, 1);
}

/** Bins as a load curve. @param {Scene} scene @param {Profile} profile @param {Row} row @param {View} view
 * @param {Segment} segment @param {Look} look */
function putTile(scene, profile, row, view, { from, to, level }, look) {
  const tile = profile.tile(level);
  if (!tile || tile.level !== level) scene.isWhole = scene.isWhole && profile.tiles[level] === null;
  if (!tile) return;
  const first = Math.max(view.left, Math.floor(xOf(view, from))), columns = Math.min(Math.ceil(view.width) + 1, Math.ceil(xOf(view, to)));
  for (let depth = 0; depth < row.depth; depth++) {
    const lane = tile.lanes.get(row.track * LANE + depth);
    if (!lane) continue;
    const { busy, kind } = binsToPixels(lane, profile.head.tiles[tile.level].width, view, columns);
    for (let pixel = first; pixel < columns; pixel++) {
      if (busy[pixel] <= 0) continue;
      const height = Math.max(2, Math.min(1, busy[pixel]) * BAR);
      const fill = look.find && !look.find.has(kind[pixel]) ? 'dim' : look.fills[kind[pixel]];
      put(scene, fill, pixel, row.y + depth * ROW + BAR - height, 1, height);
    }
  }
}

/**
 * Up to four bins may share a pixel: it has their mean busy share, and the kind with most time of it.
 * @param {Lane} lane @param {number} width of a bin, ns @param {View} view @param {number} columns
 */
export function binsToPixels(lane, width, view, columns) {
  const busy = new Float32Array(columns), best = new Float32Array(columns), kind = new Uint16Array(columns);
  const scale = 1 / perPixel(view), w = Math.max(width * scale, 1e-6), { index } = lane;
  let low = 0, high = index.length;
  const first = view.from / width - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (index[middle] < first) low = middle + 1; else high = middle;
  }
  for (let i = low; i < index.length; i++) {
    const begin = index[i] * width;
    if (begin > view.to) break;
    const x = view.left + (begin - view.from) * scale, end = Math.min(columns, x + w);
    for (let pixel = Math.max(view.left, Math.floor(x)); pixel < end; pixel++) {
      const share = Math.max(0, Math.min(pixel + 1, x + w) - Math.max(pixel, x)) * lane.busy[i] / 255;
      busy[pixel] += share;
      if (share > best[pixel]) {
        best[pixel] = share;
        kind[pixel] = lane.kind[i];
      }
    }
  }
  return { busy, kind };
}
