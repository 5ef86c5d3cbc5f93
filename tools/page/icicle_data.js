// SPDX-License-Identifier: Apache-2.0
// The icicle as arrays: root, scopes, phases, operators; width is total time. From section `i`, or from the kinds of a
// selection. Children stand before one another by size; no recursion, whatever the depth. Pure.
import { columnsOf, Damage, varints } from './bytes.js';
import { PHASES } from './palette.js';
/** @import { Head } from './head.js' */
/** @import { Selected } from './selection.js' */

/** @typedef {{parent: Int32Array, label: string[], phase: Uint8Array, self: Float64Array, total: Float64Array, count: Float64Array,
 *             children: number[][], depth: Uint16Array}} Icicle node 0 is the root */

/** @param {number[]} parents @param {{label: string, phase: number, self: number, total: number, count: number}[]} nodes @returns {Icicle} */
function icicleFrom(parents, nodes) {
  /** @type {number[][]} */
  const children = nodes.map(() => []);
  const depth = new Uint16Array(nodes.length);
  for (let i = 1; i < nodes.length; i++) {
    children[parents[i]].push(i);
    depth[i] = Math.min(65535, depth[parents[i]] + 1);
  }
  for (const list of children) list.sort((a, b) => nodes[b].total - nodes[a].total);
  return { parent: Int32Array.from(parents), label: nodes.map(node => node.label), phase: Uint8Array.from(nodes, node => node.phase),
    self: Float64Array.from(nodes, node => node.self), total: Float64Array.from(nodes, node => node.total),
    count: Float64Array.from(nodes, node => node.count), children, depth };
}

/** Section `i`; of steps, the time in which no operator ran is a part, too. @param {Uint8Array} bytes @param {Head} head @returns {Icicle} */
export function icicleOf(bytes, head) {
  const { count, columns } = columnsOf(bytes, 6), read = (/** @type {number} */ i, /** @type {number} */ below = 2 ** 53) => varints(columns[i], new Float64Array(count), below);
  const back = read(0), label = read(1, Math.max(1, head.texts.length)), phase = read(2, PHASES.length), self = read(3), total = read(4), calls = read(5);
  const parents = [...back].map((by, i) => i - by);
  if (!count || count !== head.icicle?.nodes || parents.some((parent, i) => parent < 0 || (i > 0 && parent >= i))) throw new Damage('has a node without a parent before it');
  const nodes = parents.map((_, i) => ({ label: head.texts[label[i]] ?? '', phase: phase[i], self: self[i], total: total[i], count: calls[i] }));
  const { steps, wall } = head.icicle, [root] = nodes;
  if (steps > 0) root.label = 'step';
  if (steps > 0 && wall > root.total) {
    nodes.push({ label: 'no operator ran', phase: 0, self: wall - root.total, total: wall - root.total, count: 0 });
    parents.push(0);
    root.total = wall;
  }
  return icicleFrom(parents, nodes);
}

/** Of a selection: the time inside it by scope, phase and operator. @param {Head} head @param {Selected[]} rows @returns {Icicle} */
export function icicleOfSelection(head, rows) {
  const nodes = [{ label: 'selection', phase: 0, self: 0, total: 0, count: 1 }], parents = [0];
  /** @type {Map<string, number>} */
  const places = new Map();
  for (const row of rows) {
    const kind = head.kinds[row.kind];
    if (kind.form !== 1) continue;
    const way = [...kind.scope.split(':').filter(Boolean), ...(kind.phase ? [PHASES[kind.phase]] : []), kind.name];
    let at = 0, key = '';
    nodes[0].total += row.inside;
    way.forEach((label, i) => {
      key += `\n${label}`;
      let place = places.get(key);
      if (place === undefined) {
        place = nodes.length;
        places.set(key, place);
        nodes.push({ label, phase: i >= way.length - 2 ? kind.phase : 0, self: 0, total: 0, count: 0 });
        parents.push(at);
      }
      at = place;
      nodes[at].total += row.inside;
    });
    nodes[at].self += row.inside;
    nodes[at].count += row.count;
  }
  return icicleFrom(parents, nodes);
}

/** What is drawn below a node: boxes of at least `least` px. @param {Icicle} icicle @param {number} root @param {number} width
 * @param {number} least @returns {{node: number, x: number, width: number, row: number}[]} */
export function boxesOf(icicle, root, width, least) {
  const boxes = [{ node: root, x: 0, width, row: 0 }];
  for (let i = 0; i < boxes.length; i++) {
    const box = boxes[i], whole = Math.max(1, icicle.total[box.node]);
    let x = box.x;
    for (const child of icicle.children[box.node]) {
      const w = Math.min(box.x + box.width - x, box.width * icicle.total[child] / whole);
      if (w >= least) boxes.push({ node: child, x, width: w, row: box.row + 1 });
      x += w;
    }
  }
  return boxes;
}
