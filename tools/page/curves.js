// SPDX-License-Identifier: Apache-2.0
// Curves over time: live bytes of devices with their owners (section `m`) and counters (sections `cN`). Decoded when
// first drawn. A bin keeps its largest and least, so no peak is lost between pixels.
import { columnsOf, Damage, doubles, sums, varints } from './bytes.js';
import { fill, SANS, write } from './palette.js';
import { amount, between, size } from './text.js';
import { xOf } from './scene.js';
import { lowerBound } from './lod.js';
/** @import { Head } from './head.js' */
/** @import { Sections } from './sections.js' */
/** @import { Palette } from './palette.js' */
/** @import { View } from './scene.js' */
/** @import { Row } from './layout.js' */

/** @typedef {{time: Float64Array, most: Float64Array, least: Float64Array, owners: Float64Array[]}} MemoryCurve */
/** @typedef {{time: Float64Array, least: Float64Array, most: Float64Array, last: Float64Array}} CounterCurve */

/** Section `m`: a curve a device. @param {Uint8Array} bytes @param {Head} head @returns {MemoryCurve[]} */
export function memoryCurves(bytes, head) {
  const { count: n, columns } = columnsOf(bytes, 3), all = columns.map(column => varints(column, new Float64Array(n)));
  let at = 0;
  const curves = head.memory.devices.map(device => {
    const from = at, to = at += device.bins;
    if (to > n) throw new Damage('has fewer bins than the head says');
    if (device.owners.length > all.length - 3) throw new Damage('has fewer owners than the head says');
    return { time: sums(all[0].subarray(from, to), 0), most: all[1].subarray(from, to), least: all[2].subarray(from, to),
      owners: device.owners.map((_, i) => all[3 + i].subarray(from, to)) };
  });
  if (at !== n) throw new Damage('has more bins than the head says');
  return curves;
}

/** Section `cN`. @param {Uint8Array} bytes @param {number} bins @returns {CounterCurve} */
export function counterCurve(bytes, bins) {
  const { count: n, columns } = columnsOf(bytes, 4);
  if (n !== bins) throw new Damage('has another number of bins than the head says');
  return { time: sums(varints(columns[0], new Float64Array(n)), 0), least: doubles(columns[1], n), most: doubles(columns[2], n),
    last: doubles(columns[3], n) };
}

export class Curves {
  /** @param {Head} head @param {Sections} sections */
  constructor(head, sections) {
    this.head = head;
    this.sections = sections;
    this.onload = () => {};
    /** @type {MemoryCurve[] | null} */
    this.memory = null;
    /** @type {Map<string, Promise<unknown>>} */
    this.asked = new Map();
    /** @type {(CounterCurve | null)[]} */
    this.counters = head.counters.map(() => null);
  }

  /** Resolves to null where it is damaged. @returns {Promise<MemoryCurve[] | null>} */
  async loadMemory() {
    await this.once('m', async () => {
      this.memory = await this.sections.read('m', bytes => memoryCurves(bytes, this.head));
    });
    return this.memory;
  }

  /** @param {number} number */
  async loadCounter(number) {
    const name = `c${number}`;
    await this.once(name, async () => {
      this.counters[number] = await this.sections.read(name, bytes => counterCurve(bytes, this.head.counters[number].bins));
    });
  }

  /** @param {string} name @param {() => Promise<void>} load */
  once(name, load) {
    let promise = this.asked.get(name);
    if (!promise) {
      promise = load().catch(() => {}).then(() => this.onload()); // sections said what is damaged
      this.asked.set(name, promise);
    }
    return promise;
  }
}

/** Live bytes at a moment: what its bin had at least and at most; before the first bin 0. @param {MemoryCurve} curve @param {number} at @returns {[number, number]} */
export function bytesAt(curve, at) {
  const i = lowerBound(curve.time, at + 1) - 1;
  return i < 0 ? [0, 0] : [curve.least[i], curve.most[i]];
}

/** A counter at a moment: what its bin had at least and at most, behind it the last; null: none was recorded before. @param {CounterCurve} curve @param {number} width
 * of a bin, ns @param {number} at @returns {[number, number] | null} */
export function valueAt(curve, width, at) {
  const i = lowerBound(curve.time, at + 1) - 1;
  if (i < 0) return null;
  if (at >= curve.time[i] + width) return [curve.last[i], curve.last[i]];
  const before = i > 0 ? [curve.last[i - 1]] : []; // it stands up to the bin's first
  return [Math.min(curve.least[i], ...before), Math.max(curve.most[i], ...before)];
}

/** The rows of curves in the timeline. @param {CanvasRenderingContext2D} c @param {Palette} p @param {View} view
 * @param {Row[]} rows @param {Curves} curves */
export function drawCurves(c, p, view, rows, curves) {
  for (const row of rows) {
    if (row.what === 'memory') {
      if (curves.memory) {
        const { time, most } = curves.memory[row.track];
        drawArea(c, p, view, row, { time, most, last: most, width: Infinity }, value => size(value));
      } else {
        curves.loadMemory();
      }
    } else if (row.what === 'counter') {
      const curve = curves.counters[row.track], { unit, width } = curves.head.counters[row.track];
      if (curve) drawArea(c, p, view, row, { ...curve, width }, value => amount(value, unit));
      else curves.loadCounter(row.track);
    }
  }
}

/** What a curve has at most and at least in view, with what stands at its begin. @param {Area} area @param {number} first @param {number} end */
function extremesOf({ most, last }, first, end) {
  let largest = -Infinity, least = Infinity;
  for (let i = first; i < end; i++) {
    largest = Math.max(largest, most[i], last[i]);
    least = Math.min(least, most[i], last[i]);
  }
  return { largest, least };
}

/** @typedef {{time: Float64Array, most: Float64Array, last: Float64Array, width: number}} Area most: within a bin of this width; last: behind it */

/** Steps of a value over time, from the least to the largest in view. @param {CanvasRenderingContext2D} c @param {Palette} p
 * @param {View} view @param {Row} row @param {Area} area @param {(value: number) => string} words */
function drawArea(c, p, view, row, area, words) {
  const { time, most, last, width } = area, first = Math.max(0, lowerBound(time, view.from) - 1), end = Math.min(time.length, lowerBound(time, view.to) + 1);
  if (first >= end) return;
  const { largest, least } = extremesOf(area, first, end), ground = Math.min(0, least);
  const scale = (row.height - 4) / Math.max(Math.max(largest, 0) - ground, 1e-9), bottom = row.y + row.height - 1;
  const bar = (/** @type {number} */ x, /** @type {number} */ right, /** @type {number} */ value) => {
    const height = (value - ground) * scale;
    if (right > x) c.fillRect(x, bottom - height, right - x, height);
  };
  c.fillStyle = p.accent;
  c.globalAlpha = 0.45;
  for (let i = first; i < end; i++) {
    const x = Math.round(Math.max(view.left, xOf(view, time[i]))), right = i + 1 < time.length ? Math.round(Math.min(view.width, xOf(view, time[i + 1]))) : view.width;
    const over = Math.min(right, Math.max(x + 1, Math.round(xOf(view, time[i] + width))));
    bar(x, over, most[i]);
    bar(over, right, last[i]);
  }
  c.globalAlpha = 1;
  c.font = SANS;
  c.textBaseline = 'top';
  const text = least < 0 ? between(least, largest, words) : words(largest), room = c.measureText(text).width;
  fill(c, p.panel, view.left + 2, row.y + 1, room + 6, 14);
  write(c, p.soft, text, view.left + 5, row.y + 3);
}
