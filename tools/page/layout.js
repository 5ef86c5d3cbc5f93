// SPDX-License-Identifier: Apache-2.0
// Where the rows of the timeline stand: tracks by process and thread in the head's order, threads named once; then
// counters, then memory. Wide pages have names at the left, narrow ones above their tracks. Pure.
import { dotted, name } from './text.js';
/** @import { Head } from './head.js' */

export const ROW = 18, AXIS = 24, LEFT = 168, NARROW = 900;
const WHAT = /** @type {Record<string, string>} */ ({ async: 'tasks and frames', lane: '', '': '' });
const OVERLAPS = 'the last row overlaps'; // what found no free one is in it
const GAP = 10, TITLE = 16, CURVE = 38, PROCESS = 22, INSTANTS = 10;

/** @typedef {{what: 'spans' | 'memory' | 'counter', track: number, depth: number, y: number, height: number,
 *             title: string, isThread: boolean, hasInstants: boolean}} Row
 * y: of its first pixel; track: of head.tracks, head.counters or head.memory.devices */
/** @typedef {{text: string, y: number, what: 'process' | 'thread' | 'track'}} Heading */
/** @typedef {{rows: Row[], headings: Heading[], height: number, left: number}} Layout */

/**
 * @param {Head} head @param {number} width CSS pixels @returns {Layout}
 */
export function layoutOf(head, width) {
  const isNarrow = width < NARROW;
  /** @type {Layout} */
  const layout = { rows: [], headings: [], height: AXIS, left: isNarrow ? 0 : LEFT };
  const order = inOrder(head), processes = new Set(head.tracks.map(track => track.process));
  /** @type {number | null} */
  let process = null;
  let thread = '';
  for (const i of order) {
    const track = head.tracks[i];
    if (processes.size > 1 && track.process !== process) {
      layout.height += process === null ? 0 : 4;
      layout.headings.push({ text: processName(head, track.process), y: layout.height, what: 'process' });
      layout.height += PROCESS;
      thread = '';
    }
    process = track.process;
    const parts = [name(track.name), WHAT[track.what] ?? name(track.what)];
    if (isNarrow) {
      addRow(layout, { text: dotted([...parts, track.isFull && OVERLAPS]), what: 'track' }, true, trackRow(track, i));
    } else {
      if (parts[0] !== thread) layout.headings.push({ text: parts[0], y: layout.height, what: 'thread' });
      if (parts[0] !== thread && parts[1]) layout.height += TITLE;
      thread = parts[0];
      if (parts[1]) addRow(layout, { text: parts[1], what: 'track' }, false, trackRow(track, i));
      else addRow(layout, null, false, trackRow(track, i));
      if (track.isFull) layout.headings.push({ text: OVERLAPS, y: layout.height - GAP - ROW, what: 'track' });
    }
  }
  head.counters.forEach((counter, i) => addRow(layout, { text: dotted([name(counter.name), ofMany(head, counter.process)]), what: 'thread' }, isNarrow, curveRow('counter', i)));
  head.memory.devices.forEach((_, i) => addRow(layout, { text: deviceName(head, i), what: 'thread' }, isNarrow,
    curveRow('memory', i)));
  return layout;
}

/** @param {Head['tracks'][number]} track @param {number} i @returns {Row} */
function trackRow(track, i) {
  return { what: 'spans', track: i, depth: track.rows, y: 0, height: track.hasInstants ? INSTANTS : track.rows * ROW, title: track.name, isThread: true,
    hasInstants: track.hasInstants };
}

/** @param {'counter' | 'memory'} what @param {number} i @returns {Row} */
function curveRow(what, i) {
  return { what, track: i, depth: 1, y: 0, height: CURVE, title: '', isThread: false, hasInstants: false };
}

/** @param {Layout} layout @param {{text: string, what: 'thread' | 'track'} | null} heading @param {boolean} above
 * @param {Row} row */
function addRow(layout, heading, above, row) {
  if (heading) layout.headings.push({ ...heading, y: layout.height });
  if (above) layout.height += TITLE;
  row.y = layout.height;
  layout.rows.push(row);
  layout.height += row.height + GAP;
}

/** Tracks of a process and of a thread stand together, in the order of the first of each. @param {Head} head */
function inOrder(head) {
  /** @type {Map<string, number>} */
  const first = new Map(), key = (/** @type {number} */ i) => `${head.tracks[i].process}/${head.tracks[i].name}`;
  /** @type {Map<number, number>} */
  const firstOfProcess = new Map();
  head.tracks.forEach((track, i) => {
    if (!first.has(key(i))) first.set(key(i), i);
    if (!firstOfProcess.has(track.process)) firstOfProcess.set(track.process, i);
  });
  const place = (/** @type {Map<any, number>} */ map, /** @type {unknown} */ of) => map.get(of) ?? 0;
  return head.tracks.map((_, i) => i).sort((a, b) =>
    place(firstOfProcess, head.tracks[a].process) - place(firstOfProcess, head.tracks[b].process)
    || place(first, key(a)) - place(first, key(b)) || a - b);
}

/** A program of a command line: "train.py" of "python /x/train.py --steps 5"; other names as they are. @param {string} command */
export function programOf(command) {
  if (!/[/\\]|\.py\b/.test(command)) return command;
  const words = command.split(' ').filter(Boolean), script = words.find(word => /\.py$/.test(word)) ?? words[0] ?? command;
  return script.split(/[/\\]/).pop() || command;
}

/** @param {Head} head @param {number} pid */
export function nameOfPid(head, pid) {
  return processName(head, head.processes.findIndex(process => process.pid === pid));
}

/** "memory cpu/0", of several processes with the name of its own. @param {Head} head @param {number} place of head.memory.devices */
export function deviceName(head, place) {
  const { name: device, process } = head.memory.devices[place];
  return dotted([`memory ${name(device)}`, ofMany(head, process)]);
}

/** The name of one of several processes. @param {Head} head @param {number} place */
export function ofMany(head, place) {
  return head.processes.length > 1 && name(programOf(head.processes[place]?.name || `process ${head.processes[place]?.pid}`));
}

/** @param {Head} head @param {number} place of head.processes */
export function processName(head, place) {
  const process = head.processes[place];
  return dotted([process?.name && name(programOf(process.name)), `process ${process?.pid ?? '?'}`, process?.died && 'died']);
}
