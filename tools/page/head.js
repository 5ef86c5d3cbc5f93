// SPDX-License-Identifier: Apache-2.0
// The section `head`, read and checked once (docs/page-format.md): what the other modules take for granted of
// numbers, places and texts holds from here on. Rows of numbers become objects with names.
import { Damage } from './bytes.js';

/** @typedef {{name: string, category: string, scope: string, phase: number, form: number}} Kind */
/** @typedef {{count: number, sum: number, least: number, p50: number, p90: number, p99: number, largest: number,
 *             isExact: boolean}} Stat */
/** @typedef {{name: string, thread: number, process: number, what: string, rows: number, spans: number, isFull: boolean,
 *             hasInstants: boolean}} Track */
/** @typedef {{process: number, number: number, begin: number, end: number, parts: number[], waiting: number, isChosen: boolean,
 *             isFirstRun: boolean, marks: string[], cpu: number, runDelay: number}} Step
 * parts: forward, backward, update, communication, other */
/** @typedef {{width: number, bins: number, lanes: [number, number, number][]}} Tile */
/** @typedef {{track: number, cls: number, count: number, first: number, last: number, stats: number, row: number,
 *             rows: number}} BlockInfo */
/** @typedef {{pid: number, name: string, died: boolean, info: [string, string][]}} Process */
/** @typedef {{process: number, name: string, tid: number}} Thread */
/** @typedef {{process: number, name: string, bins: number, peak: number, peakAt: number, owners: string[]}} Device */
/** @typedef {{process: number, name: string, category: string, unit: number, bins: number, width: number}} CounterInfo */
/** @typedef {{process: number, cause: number, title: string, evidence: string[], next: string, step: number}} Told */
/** @typedef {{isWhole: boolean, word: string, spans: number, keptSpans: number, kept: number[][], cls: number | null,
 *             full: number[][], clsKept: number | null, rest: any}} Dropped */

/**
 * @typedef {{version: number, title: string, file: string, command: string, length: number, begin: bigint, texts: string[],
 *   processes: Process[], threads: Thread[], kinds: Kind[], stats: Stat[], tracks: Track[], steps: Step[], tiles: Tile[],
 *   blocks: BlockInfo[], report: any, explain: any, explainRefused: string, told: Told[], plain: string,
 *   workers: string, memory: {documents: any[], devices: Device[]}, counters: CounterInfo[], flows: number, flowsLeftOut: number,
 *   path: {categories: string[], document: any, steps: [number, number][]} | null, pathRefused: string,
 *   whatif: any, whatifRefused: string, icicle: {nodes: number, steps: number, wall: number} | null,
 *   losses: {process: number, thread: number, from: number, to: number, records: number, reason: string}[],
 *   states: {process: number, from: number, to: number, what: string}[],
 *   trust: {state: string, word: string, rows: [string, string][]}, dropped: Dropped, truncated: any, other: string | null,
 *   sizes: Map<string, number>}} Head
 */

const TRACKS = 65536, STEPS = 1e6;
export const FORM = { span: 0, operator: 1, engine: 2, wait: 3, asynchronous: 4, instant: 5, step: 6 };

/** @param {boolean} holds @param {string} what */
function check(holds, what) {
  if (!holds) throw new Damage(`has ${what}`);
}

/** @param {unknown} value @param {string} what @returns {any[]} */
function list(value, what) {
  check(Array.isArray(value), `no list of ${what}`);
  return /** @type {any[]} */ (value);
}

/** A number of the head; with a limit: a whole one from `least` to below it. @param {unknown} value @param {string} what
 * @param {number} [below] @param {number} [least] */
function number(value, what, below, least = 0) {
  check(typeof value === 'number' && Number.isFinite(value), `no number where ${what} is`);
  const n = /** @type {number} */ (value);
  if (below !== undefined) check(Number.isInteger(n) && n >= least && n < below, `${what} out of range`);
  return n;
}

/** @param {unknown} value @returns {string} */
function text(value) {
  return typeof value === 'string' ? value : value === null || value === undefined ? '' : String(value);
}

/** @param {Uint8Array} bytes @returns {Head} */
export function headOf(bytes) {
  /** @type {any} */
  let json;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new Damage('is not JSON');
  }
  check(json !== null && typeof json === 'object' && !Array.isArray(json), 'no object');
  check(json.version === 1, `version ${text(json.version)}, which this page cannot read`);
  try {
    return readHead(json);
  } catch (error) {
    throw error instanceof Damage ? error : new Damage(`has a part of another form (${String(error)})`);
  }
}

/** @param {any} json @returns {Head} */
function readHead(json) {
  const processes = list(json.processes, 'processes').map(processOf), threads = threadsOf(json, processes.length);
  const kinds = list(json.kinds, 'kinds').map(kindOf), tracks = tracksOf(json, processes.length, threads.length);
  const tiles = list(json.tiles, 'tiles').map(tile => tileRow(tile, tracks));
  const stats = list(json.stats, 'statistics').map(statOf);
  check(stats.length === kinds.length, 'another number of statistics than of kinds');
  return {
    version: 1, title: text(json.title), file: text(json.file), command: text(json.command), plain: text(json.plain),
    length: Math.max(1, number(json.end, 'the end')), begin: beginOf(json.begin), texts: list(json.texts ?? [], 'texts').map(text),
    processes, threads, kinds, stats, tracks, tiles, steps: stepsOf(json, processes.length),
    blocks: list(json.blocks, 'blocks').map(row => blockRow(row, tracks, tiles.length)), ...documentsOf(json),
    memory: memoryOf(json.memory), counters: list(json.counters ?? [], 'counters').map(counterOf), flows: number(json.flows?.points ?? 0, 'flows'), flowsLeftOut: number(json.flows?.left_out ?? 0, 'flows'),
    losses: list(json.losses ?? [], 'losses').map(([process, thread, from, to, records, reason]) => ({ process, thread,
      from: number(from, 'a loss'), to: number(to, 'a loss'), records: number(records, 'a loss'), reason: text(reason) })),
    states: list(json.states ?? [], 'states').map(([process, from, to, what]) => ({ process, from: number(from, 'a state'),
      to: number(to, 'a state'), what: text(what) })),
    dropped: droppedOf(json.dropped ?? {}), truncated: json.truncated ?? {}, other: json.other === null || json.other === undefined ? null : text(json.other),
    sizes: new Map(Object.entries(json.sizes ?? {}).map(([key, value]) => [key, number(value, 'a size')])),
  };
}

/** @param {unknown} value */
function beginOf(value) {
  check(typeof value === 'string' && /^-?\d{1,20}$/.test(value), 'no begin');
  return BigInt(/** @type {string} */ (value));
}

/** @param {any} row @returns {Process} */
function processOf(row) {
  return { pid: number(row?.pid, 'a process'), name: text(row.name), died: Boolean(row.died),
    info: list(row.info ?? [], 'info').map(([key, value]) => [text(key), text(value)]) };
}

/** @param {any} json @param {number} processes @returns {Thread[]} */
function threadsOf(json, processes) {
  return list(json.threads ?? [], 'threads').map(row => ({ process: number(row?.process, 'a thread', processes), name: text(row.name),
    tid: number(row.tid ?? -1, 'a thread') }));
}

/** @param {any} row @returns {Kind} */
function kindOf(row) {
  const [name, category, scope, phase, form] = list(row, 'a kind');
  return { name: text(name), category: text(category), scope: text(scope), phase: number(phase, 'a phase', 5),
    form: number(form, 'a form', 7) };
}

/** @param {any} row @returns {Stat} */
function statOf(row) {
  const [count, sum, least, p50, p90, p99, largest, isExact] = list(row, 'statistics').map(value => number(value, 'a statistic'));
  return { count, sum, least, p50, p90, p99, largest, isExact: isExact === 1 };
}

/** @param {any} json @param {number} processes @param {number} threads @returns {Track[]} */
function tracksOf(json, processes, threads) {
  const rows = list(json.tracks, 'tracks');
  check(rows.length < TRACKS, 'too many tracks');
  return rows.map(row => ({ name: text(row?.name), thread: number(row.thread, 'a thread', threads, -1), what: text(row.what),
    process: number(row.process, 'a process', Math.max(1, processes)), rows: number(row.rows, 'rows', 257, 0), spans: number(row.spans ?? 0, 'spans'),
    isFull: Boolean(row.is_full), hasInstants: row.what === 'instants' }));
}

const STEP_MARKS = [[4, 'losses'], [8, 'a pause'], [16, 'not ended']];

/** @param {any} json @param {number} processes @returns {Step[]} */
function stepsOf(json, processes) {
  const rows = list(json.steps ?? [], 'steps'), cpu = json.cpu ?? null;
  check(rows.length < STEPS, 'too many steps');
  return rows.map((row, i) => {
    const [process, n, begin, end, forward, backward, update, communication, other, waiting, flags] =
      list(row, 'a step').map(value => number(value, 'a step'));
    check(process >= 0 && process < Math.max(1, processes) && end >= begin, 'a step out of range');
    return { process, number: n, begin, end, parts: [forward, backward, update, communication, other], waiting,
      isChosen: (flags & 1) !== 0, isFirstRun: (flags & 2) !== 0, cpu: cpu?.[i]?.[0] ?? -1, runDelay: cpu?.[i]?.[1] ?? -1,
      marks: STEP_MARKS.flatMap(([bit, word]) => (flags & Number(bit) ? [String(word)] : [])) };
  });
}

/** @param {any} tile @param {Track[]} tracks @returns {Tile} */
function tileRow(tile, tracks) {
  const bins = number(tile?.bins, 'bins', 2 ** 32);
  return { width: Math.max(1, number(tile.width_ns, 'a width')), bins, lanes: list(tile.lanes, 'lanes').map(lane => {
    const [track, depth, n] = list(lane, 'a lane');
    number(track, 'a track', tracks.length);
    return [track, number(depth, 'a depth', tracks[track].rows), number(n, 'bins', bins + 1)];
  }) };
}

/** @param {any} row @param {Track[]} tracks @param {number} tiles @returns {BlockInfo} */
function blockRow(row, tracks, tiles) {
  const [track, cls, count, first, last, stats, begin, rows] = list(row, 'a block').map(value => number(value, 'a block'));
  number(track, 'a track', tracks.length);
  number(cls, 'a class', tiles + 1);
  number(count, 'a count', 2 ** 24);
  return { track, cls, count, first, last, stats, row: begin, rows };
}

/** The documents as they are: panels look at each figure they show. @param {any} json */
function documentsOf(json) {
  const path = json.path ?? null;
  return {
    workers: text(json.workers), report: json.report ?? {}, explain: json.explain ?? null, explainRefused: text(json.explain_refused),
    told: list(json.told ?? [], 'causes').map(row => ({ process: row.process ?? 0, cause: row.cause ?? -1, title: text(row.title),
      evidence: list(row.evidence ?? [], 'evidence').map(text), next: text(row.next), step: row.step ?? -1 })),
    path: path && { categories: list(path.categories, 'categories').map(text), document: path.document ?? null,
      steps: list(path.steps ?? [], 'steps').map(([step, pieces]) => /** @type {[number, number]} */ ([number(step, 'a step'), number(pieces, 'pieces')])) },
    pathRefused: text(json.path_refused), whatif: json.whatif ?? null, whatifRefused: text(json.whatif_refused),
    icicle: json.icicle ? { nodes: number(json.icicle.nodes, 'nodes'), steps: number(json.icicle.steps, 'steps'),
      wall: number(json.icicle.wall_ns, 'a time') } : null,
    trust: { state: ['good', 'warn', 'bad'].includes(json.trust?.state) ? String(json.trust.state) : 'warn', word: text(json.trust?.word),
      rows: list(json.trust?.rows ?? [], 'rows').map(([label, value]) => /** @type {[string, string]} */ ([text(label), text(value)])) },
  };
}

/** @param {any} memory @returns {Head['memory']} */
function memoryOf(memory) {
  if (!memory) return { documents: [], devices: [] };
  return { documents: list(memory.documents ?? [], 'documents'), devices: list(memory.devices ?? [], 'devices').map(row => ({
    process: number(row?.process ?? 0, 'a process'), name: text(row.name), bins: number(row.bins, 'bins', 2 ** 32), peak: number(row.peak_bytes ?? 0, 'a peak'),
    peakAt: number(row.peak_ns ?? 0, 'a peak'), owners: list(row.owners ?? [], 'owners').map(text) })) };
}

/** @param {any} row @returns {CounterInfo} */
function counterOf(row) {
  return { process: number(row?.process ?? 0, 'a process'), name: text(row.name), category: text(row.category), unit: row.unit ?? 0,
    bins: number(row.bins, 'bins', 2 ** 32), width: number(row.bin_ns ?? 1, 'a width') };
}

/** @param {any} row @returns {Dropped} */
function droppedOf(row) {
  return { isWhole: row.is_whole !== false, word: text(row.word), spans: Number(row.spans ?? 0), keptSpans: Number(row.kept_spans ?? 0),
    kept: list(row.kept ?? [], 'times'), cls: row.class ?? null, full: list(row.full ?? [], 'times'), clsKept: row.class_kept ?? null, rest: row };
}
