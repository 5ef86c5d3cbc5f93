// SPDX-License-Identifier: Apache-2.0
// A page that `mxprof view` wrote: its panels show what report, explain, path and whatif print of the same file, its selection
// of the whole run has every span, and it opens without a word.
//
// MXPROF_PRODUCT is a folder with page.html and report.json, explain.json, path.json, whatif.json, as the commands print them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { change, count, percent, time } from '../../tools/page/text.js';
import { browserOf, QUIET, which } from './browsers.mjs';

const FOLDER = process.env.MXPROF_PRODUCT, json = name => JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));

async function rows(page, name) {
  await page.run(n => mxprofPage.tabs.choose(n), name);
  await page.until(n => document.querySelector('#panel').getAttribute('aria-labelledby') === `tab-${n}` && document.querySelector('#panel').childElementCount > 0, name);
  await page.rest(100);
  return page.run(() => [...document.querySelectorAll('#panel tbody tr')].map(row => [...row.cells].map(cell => cell.textContent)));
}

async function columnOf(page, tab, title) {
  await rows(page, tab);
  return page.run(wanted => {
    const at = [...document.querySelectorAll('#panel thead th')].findIndex(head => head.textContent === wanted);
    return [...document.querySelectorAll('#panel tbody tr')].map(row => row.cells[at].textContent);
  }, title);
}

for (const name of ['chromium', 'firefox']) {
  test(name, { skip: which(name) ? false : `${name} is not here` }, async t => {
    const report = json('report'), explain = json('explain').processes[0], path = json('path').processes[0], whatif = json('whatif').processes[0];
    const browser = await browserOf(name), page = await browser.open();
    t.after(() => browser.close());
    await page.goto(join(FOLDER, 'page.html'));
    const steps = report.chosen_steps;

    await t.test('layers', async () => {
      const shown = await rows(page, 'Layers'), wanted = [...report.layers].sort((a, b) => b.sum_ns - a.sum_ns);
      assert.deepEqual(shown.map(row => row[1]), wanted.map(layer => time(layer.sum_ns / steps)));
      assert.deepEqual(await page.run(() => mxprofPage.tabs.live.csv().slice(1).map(row => row[0])), wanted.map(layer => layer.scope));
    });
    await t.test('operators and calls', async () => {
      for (const [tab, list] of [['Operators', report.operators], ['Calls', report.spans]]) {
        const shown = await rows(page, tab), wanted = [...list].sort((a, b) => b.total_ns - a.total_ns);
        assert.deepEqual(shown.map(row => row.slice(1, 5)), wanted.map(row => [time(row.total_ns), time(row.self_ns), count(row.calls), time(row.total_ns / row.calls)]), tab);
        assert.deepEqual(shown.map(row => row[8]), wanted.map(row => time(row.max_ns)), tab);
      }
      const slack = new Map(whatif.slack.map(row => [`${row.name} ${row.scope}`, row.mean_ns]));
      assert.deepEqual(await columnOf(page, 'Operators', 'Slack'), [...report.operators].sort((a, b) => b.total_ns - a.total_ns).map(row => time(slack.get(`${row.name} ${row.scope}`))));
    });
    await t.test('path, what-if, explain', async () => {
      const pieces = await rows(page, 'Path'), largest = [...path.rows].sort((a, b) => b.total_ns - a.total_ns);
      assert.deepEqual(pieces.map(row => row[3]), largest.map(row => percent(row.total_ns / path.total_ns)));
      const changes = await rows(page, 'What-if');
      assert.deepEqual(changes.map(row => [row[1].split(' (')[0], row[3]]), whatif.predictions.map(each => [change(-each.gain_ns), time(each.mean_ns)]));
      await rows(page, 'Explain');
      const told = explain.causes.filter(cause => cause.is_told), text = await page.run(() => document.querySelector('#panel').textContent);
      assert.equal(await page.run(() => document.querySelectorAll('.causes li').length), told.length);
      for (const cause of told) assert.ok(text.includes(time(cause.gain_ns, 3)), `${cause.cause}: ${text}`);
    });
    await t.test('the cards are of explain\u2019s window', async () => {
      const [what, slow] = await page.run(() => [...document.querySelectorAll('.card')].map(card => card.innerText));
      assert.ok(slow.includes(`${time(explain.median_ns)} of ${count(explain.steps)} steps`), slow);
      assert.ok(slow.includes(`${time(explain.noise_ns, 3)}, ${percent(explain.noise_ns / explain.mean_ns)} of a step`), slow);
      assert.match(slow, new RegExp(`run delay ${typeof explain.run_delay_share === 'number' ? `${percent(explain.run_delay_share)} of the time` : 'not recorded'}`));
      const [layer] = [...report.layers].sort((a, b) => b.sum_ns - a.sum_ns);
      assert.ok(what.includes(percent(layer.sum_ns / report.wall_ns)) && what.includes(time(layer.sum_ns / steps, 3)), what);
    });
    await t.test('a selection of the whole run has every span of the page', async () => {
      await page.run(() => mxprofPage.timeline.select({ from: 0, to: mxprofPage.head.length }));
      await page.until(() => mxprofPage.selected !== null);
      assert.equal(await page.run(() => mxprofPage.selected.spans), await page.run(() => mxprofPage.head.tracks.reduce((n, track) => n + track.spans, 0)));
      const sums = await page.run(() => mxprofPage.selected.rows.every(row => mxprofPage.head.stats[row.kind].sum === row.sum && mxprofPage.head.stats[row.kind].count === row.count));
      assert.ok(sums);
    });
    assert.deepEqual(page.quiet(), QUIET);
  });
}
