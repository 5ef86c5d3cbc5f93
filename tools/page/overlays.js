// SPDX-License-Identifier: Apache-2.0
// What lies over the timeline's spans: focus, selection, arrows of the focused operator, the critical path. Arrows are
// of the focus only, never of all.
import { AXIS, ROW } from './layout.js';
import { lowerBound } from './lod.js';
import { fill, SANS } from './palette.js';
import { hatch } from './strokes.js';
/** @import { Timeline } from './timeline.js' */
/** @import { Palette } from './palette.js' */
/** @import { Path } from './path_data.js' */
/** @import { Links, Operator } from './operators.js' */
/** @import { Span } from './neighbours.js' */

/** @typedef {CanvasRenderingContext2D} Brush */
/** @typedef {{operator: Operator | null, links: Links, flows: {arrows: import('./flows.js').FlowArrow[], more: number}}} Known what is known of the focused span */

const BAR_HEIGHT = ROW - 1, PATH_LINE = 3;
const IDLE = ['dispatch', 'wake', 'hand-off', 'back pressure', 'unknown']; // categories of the path in which nobody ran

/** @param {Timeline} timeline @param {Span} span */
function boxOf(timeline, span) {
  const row = timeline.rowOf(span.track);
  if (!row) return null;
  const x = timeline.xAt(span.begin);
  return { x, y: row.y + span.depth * ROW, right: Math.max(timeline.xAt(span.end), x + 2) };
}

/** @param {Brush} c @param {Palette} p @param {Timeline} timeline */
export function drawFocus(c, p, timeline) {
  const box = timeline.focus && boxOf(timeline, timeline.focus);
  if (!box) return;
  const x = Math.max(box.x, -4), right = Math.min(box.right, timeline.view.width + 4);
  c.lineWidth = 2;
  c.strokeStyle = p.page;
  c.strokeRect(x - 2, box.y - 2, right - x + 4, BAR_HEIGHT + 4);
  c.strokeStyle = p.text;
  c.strokeRect(x, box.y, right - x, BAR_HEIGHT);
}

/** @param {Brush} c @param {Palette} p @param {Timeline} timeline */
export function drawSelection(c, p, timeline) {
  const { selection, top, height } = timeline;
  if (!selection) return;
  const a = timeline.xAt(selection.from), b = timeline.xAt(selection.to), y = top + AXIS - 8;
  c.fillStyle = p.accent;
  c.globalAlpha = 0.14;
  c.fillRect(a, y, b - a, height);
  c.globalAlpha = 1;
  c.fillRect(a, y, 1, height);
  c.fillRect(b - 1, y, 1, height);
}

/** Of the focused span: those of its flows, and of an operator. @param {Brush} c @param {Palette} p @param {Timeline} timeline */
export function drawArrows(c, p, timeline) {
  const { focus, known } = timeline, box = focus && boxOf(timeline, focus);
  if (!focus || !known || !box) return;
  const { operator, links, flows } = known, more = links.more + flows.more;
  c.lineWidth = 1.5;
  if (operator) drawOperator(c, p, timeline, { focus, operator, links, box });
  c.strokeStyle = c.fillStyle = p.accent;
  for (const { from, to } of flows.arrows) {
    const a = timeline.rowOf(from.track), b = timeline.rowOf(to.track);
    if (!a || !b) continue;
    const y0 = a.y + from.depth * ROW, y1 = b.y + to.depth * ROW; // from edge to edge: a line through a bar would cross its name
    arrow(c, timeline.xAt(from.at), y0 + (y1 > y0 ? BAR_HEIGHT : 0), timeline.xAt(to.at), y1 + (y1 > y0 ? 0 : BAR_HEIGHT));
  }
  if (!more) return;
  c.font = SANS;
  c.textBaseline = 'top';
  c.fillText(`and ${more} more`, box.right + 6, box.y + ROW + 2);
}

/** From the push, inside the pusher's call, to the start; dashed while it was ready; to what released it and to what it
 * released. @param {Brush} c @param {Palette} p @param {Timeline} timeline
 * @param {{focus: Span, operator: Operator, links: Links, box: {x: number, y: number, right: number}}} of */
function drawOperator(c, p, timeline, { focus, operator, links, box }) {
  const middle = box.y + BAR_HEIGHT / 2;
  c.strokeStyle = c.fillStyle = p.path;
  const calls = timeline.layout.rows.find(row => row.what === 'spans' && operator.pusher >= 0
    && timeline.head.tracks[row.track].thread === operator.pusher && timeline.head.tracks[row.track].what === 'calls');
  if (calls) arrow(c, timeline.xAt(focus.begin - operator.push), calls.y + BAR_HEIGHT / 2, box.x, middle);
  if (operator.ready > 0) {
    c.setLineDash([3, 2]);
    c.beginPath();
    c.moveTo(timeline.xAt(focus.begin - operator.ready), box.y + ROW + 1);
    c.lineTo(box.x, box.y + ROW + 1);
    c.stroke();
    c.setLineDash([]);
  }
  const by = links.by && boxOf(timeline, links.by);
  c.strokeStyle = c.fillStyle = p.accent;
  if (by) arrow(c, by.right, by.y + BAR_HEIGHT / 2, box.x, middle);
  for (const span of links.to) {
    const to = boxOf(timeline, span);
    if (to) arrow(c, box.right, middle, to.x, to.y + BAR_HEIGHT / 2);
  }
}

/** @param {Brush} c @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
function arrow(c, x0, y0, x1, y1) {
  const bend = Math.min(40, Math.max(8, Math.abs(x1 - x0) / 2));
  c.beginPath();
  c.moveTo(x0, y0);
  if (Math.abs(y1 - y0) < 1) c.quadraticCurveTo((x0 + x1) / 2, y0 - 14, x1, y1);
  else c.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  c.stroke();
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x1 - 6, y1 - 3);
  c.lineTo(x1 - 6, y1 + 3);
  c.fill();
}

/** The path as a line below the row that it runs in; hatched where nobody ran. @param {Brush} c @param {Palette} p
 * @param {Timeline} timeline @param {Path} path */
export function drawPath(c, p, timeline, path) {
  const { view, head } = timeline, rows = pathRows(timeline);
  const gap = hatch(c, p.path, 1.4) ?? p.path;
  /** @type {number | null} */
  let before = null;
  for (const { step, from, to } of path.groups) {
    const { begin, end, process } = head.steps[step] ?? { begin: 0, end: head.length, process: head.threads[path.thread[from] - 1]?.process ?? 0 };
    if (end < view.from || begin > view.to) continue;
    let drawn = -1e9;
    for (let i = Math.max(from, from + lowerBound(path.begin.subarray(from, to), view.from) - 1); i < to && path.begin[i] <= view.to; i++) {
      const x = timeline.xAt(path.begin[i]), right = timeline.xAt(path.begin[i] + path.length[i]);
      if (right < 0 || x > view.width || right < drawn + 0.5) continue;
      drawn = Math.max(x + 1, right);
      const category = head.path?.categories[path.category[i]] ?? '', thread = path.thread[i] - 1, first = category === 'run' ? 'operators' : 'calls';
      const y = [first, 'calls', 'operators', 'async'].map(what => rows.get(`${thread} ${what}`)).find(at => at !== undefined) ?? rows.get(`process ${process}`) ?? AXIS;
      fill(c, IDLE.includes(category) ? gap : p.path, x, y, drawn - x, PATH_LINE);
      if (before !== null && Math.abs(before - y) > 1) c.fillRect(x - 0.5, Math.min(before, y), 1, Math.abs(before - y) + PATH_LINE);
      before = y;
    }
  }
}

/** Where the path's line of a thread is: below the last row of its operators or calls. @param {Timeline} timeline */
function pathRows(timeline) {
  /** @type {Map<string, number>} */
  const rows = new Map();
  for (const row of timeline.layout.rows) {
    if (row.what !== 'spans') continue;
    const { thread, what, process } = timeline.head.tracks[row.track], y = row.y + row.height + 1;
    if (!rows.has(`${thread} ${what}`)) rows.set(`${thread} ${what}`, y);
    if (!rows.has(`process ${process}`)) rows.set(`process ${process}`, y);
  }
  return rows;
}
