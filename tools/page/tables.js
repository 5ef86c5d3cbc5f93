// SPDX-License-Identifier: Apache-2.0
// The tables of layers, operators and calls: the rows of `mxprof report --json`, each with a bar.
import { empty } from './dom.js';
import { layersOf, partsOf, shortScopes } from './cards.js';
import { barColumn, countColumn, shareColumn, table, timeColumn } from './table.js';
import { dotted, name } from './text.js';
/** @import { Head } from './head.js' */
/** @import { Panel } from './tabs.js' */

/** @param {any[]} rows @param {(row: any) => number} of */
export function largestOf(rows, of) {
  return rows.reduce((most, row) => Math.max(most, of(row)), 1);
}

/** @param {Head} head @param {(text: string) => void} search @returns {Panel} */
export function layersPanel({ report }, search) {
  const steps = Math.max(1, report.chosen_steps || 1), wall = Math.max(1, report.wall_ns || 1), layers = layersOf(report), names = shortScopes(layers.map(row => String(row.scope)));
  const rows = layers.map((row, i) => ({ ...row, short: names[i] }));
  if (!rows.length) return { element: empty('No scopes were recorded: a block\u2019s name (Gluon), or profiler.scope(\u201cname\u201d) around a part of the program.') };
  const each = (/** @type {string} */ key) => (/** @type {any} */ row) => (row[key] ? row[key] / steps : null);
  const hasPath = rows.some(row => row.path_ns > 0), hasUpdate = rows.some(row => row.update_ns > 0), hasOther = rows.some(row => row.no_phase_ns > 0), hasCommunication = rows.some(row => row.communication_ns > 0);
  return table('Layers', [
    { title: 'Layer', value: row => row.scope, show: row => row.short, hint: row => name(row.scope) },
    timeColumn(report.chosen_steps ? 'A step' : 'In all', each('sum_ns')), timeColumn('Forward', each('forward_ns')), timeColumn('Backward', each('backward_ns')),
    ...(hasUpdate ? [timeColumn('Update', each('update_ns'), true)] : []), ...(hasCommunication ? [timeColumn('Communication', each('communication_ns'), true)] : []), ...(hasOther ? [timeColumn('No phase', each('no_phase_ns'), true)] : []),
    shareColumn('Share', row => row.sum_ns / wall), barColumn(partsOf, largestOf(rows, row => row.sum_ns)),
    timeColumn('Waited', row => (row.calls ? row.waited_ns / row.calls : null), true), ...(hasPath ? [shareColumn('Of the path', row => (row.path_ns ? row.path_ns / wall : null))] : []),
    countColumn('Calls', row => row.calls, true),
  ], rows, { text: row => row.scope, pick: row => search(row.scope), note: report.chosen_steps ? 'Times are of one step, the mean of the verdict\u2019s window; waited is of one call, from ready to its run.' : '' });
}

/** @param {any} row */
function phaseOf(row) {
  return row.phase && row.phase !== 'none' ? String(row.phase) : '';
}

const PERCENTILES = ['p50', 'p90', 'p99'];

/** @param {any} row */
function slackKey(row) {
  return [row.name, row.scope, row.phase].join('\n');
}

/** What operators of a name, scope and phase may end later without a step ending later: the mean of a run, as `mxprof whatif --json`
 * has it, of several processes together. @param {any} whatif @returns {Map<string, number>} by slackKey */
export function slackOf(whatif) {
  const sums = new Map(), means = new Map();
  for (const row of (whatif?.processes ?? []).flatMap((/** @type {any} */ process) => process.slack ?? [])) {
    const key = slackKey(row), { runs, ns } = sums.get(key) ?? { runs: 0, ns: 0 };
    sums.set(key, { runs: runs + row.runs, ns: ns + row.runs * row.mean_ns });
    means.set(key, (ns + row.runs * row.mean_ns) / (runs + row.runs));
  }
  return means;
}

/** @param {any[]} rows @param {string} what @param {(row: any) => string} token @param {(text: string) => void} search @param {number} wall @param {Map<string, number>} slack @returns {Panel} */
function callTable(rows, what, token, search, wall, slack) {
  const mark = (/** @type {any} */ row) => (row.exact === false ? '~' : '');
  const hasPath = rows.some(row => row.path_ns > 0);
  return table(what, [
    { title: 'Name', value: row => row.name, show: row => name(row.name), hint: row => name(row.name) },
    timeColumn('Total', row => row.total_ns), timeColumn('Self', row => row.self_ns ?? null, true), countColumn('Count', row => row.calls),
    timeColumn('Mean', row => row.total_ns / Math.max(1, row.calls)),
    ...PERCENTILES.map((title, i) => ({ ...timeColumn(title, (/** @type {any} */ row) => row[`${title}_ns`] ?? null, i !== 0),
      show: (/** @type {any} */ row) => mark(row) + String(timeColumn(title, (/** @type {any} */ of) => of[`${title}_ns`] ?? null).show?.(row) ?? '') })),
    timeColumn('Max', row => row.max_ns ?? null), ...(hasPath ? [shareColumn('Of the path', (/** @type {any} */ row) => (row.path_ns ? row.path_ns / wall : null))] : []),
    ...(slack.size ? [timeColumn('Slack', row => slack.get(slackKey(row)) ?? null, true)] : []),
    { title: 'Where', kind: 'text', value: row => dotted([row.scope, phaseOf(row) || (row.category !== 'operator' && row.category)]), minor: true,
      show: row => dotted([row.scope && name(row.scope), phaseOf(row) || (row.category && row.category !== 'operator' && name(row.category))]) || '\u2013' },
    barColumn(row => [[token(row), row.total_ns]], largestOf(rows, row => row.total_ns)),
  ], rows, { text: row => dotted([row.name, row.scope, row.phase, row.category]), pick: row => search(row.name),
    note: slack.size ? 'Slack, a column of wide pages and of the CSV: a run may end so much later, on the mean, and no step does.' : '' });
}

/** @param {Head} head @param {(text: string) => void} search @returns {Panel} */
export function operatorsPanel({ report, whatif }, search) {
  const rows = report.operators ?? [];
  if (!rows.length) return { element: empty('No operators were recorded: profiler.set_config(profile_imperative=True, profile_symbolic=True), or profile_all=True.') };
  return callTable(rows, 'Operators', row => phaseOf(row) || 'other', search, Math.max(1, report.wall_ns || 1), slackOf(whatif));
}

/** @param {Head} head @param {(text: string) => void} search @returns {Panel} */
export function callsPanel({ report }, search) {
  const rows = report.spans ?? [];
  if (!rows.length) return { element: empty('No calls were recorded: profiler.set_config(profile_api=True) records the C API, spans of the program\u2019s own appear here, too.') };
  return callTable(rows, 'Calls', () => 'call', search, Math.max(1, report.wall_ns || 1), new Map());
}
