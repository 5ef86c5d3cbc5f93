// SPDX-License-Identifier: Apache-2.0
// The page in real browsers: every line of the keyboard, mouse and touch map, the numbers of the panels, links, exports, hostile
// names, damage, accessibility. Each page must stay quiet: no request, no word on the console, no uncaught error.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';

import { count, percent, size, time } from '../../tools/page/text.js';
import { browserOf, QUIET, which } from './browsers.mjs';
import { random } from './fixture.mjs';

const PAGES = process.env.MXPROF_PAGES, LONG = process.env.MXPROF_TEST_LONG === '1';
const file = name => join(PAGES, `${name}.html`), MS = 1e6;
const { head } = JSON.parse(readFileSync(join(PAGES, 'small.sections.json'), 'utf8'));
const TABS = ['Explain', 'Layers', 'Operators', 'Calls', 'Icicle', 'Memory', 'Path', 'What-if', 'Compare', 'Selection', 'Profile'];

const view = page => page.run(() => ({ from: mxprofPage.timeline.view.from, to: mxprofPage.timeline.view.to }));
const selection = page => page.run(() => mxprofPage.timeline.selection);
const focus = page => page.run(() => mxprofPage.timeline.focus && { track: mxprofPage.timeline.focus.track, begin: mxprofPage.timeline.focus.begin, depth: mxprofPage.timeline.focus.depth });
const tab = page => page.run(() => document.querySelector('[aria-selected="true"]').textContent);
const text = (page, selector) => page.run(s => document.querySelector(s)?.textContent ?? null, selector);
const near = (a, b, slack = 1) => assert.ok(Math.abs(a - b) <= slack, `${a} is not ${b}`);
/** Where a time of a row is on the screen. */
const point = (page, ns, track, depth = 0) => page.run((t, row, d) => {
  const { timeline } = mxprofPage, box = timeline.canvas.getBoundingClientRect();
  return [box.left + timeline.xAt(t), box.top + timeline.rowOf(row).y - timeline.top + d * 18 + 9];
}, ns, track, depth);
const whole = async page => {
  await page.run(() => {
    mxprofPage.timeline.letGo();
    mxprofPage.timeline.whole();
    mxprofPage.timeline.canvas.focus();
    scrollTo(0, 0);
  });
  await page.rest(120);
};

async function rows(page, name) {
  await page.run(n => mxprofPage.tabs.choose(n), name);
  await page.until(n => document.querySelector('#panel').getAttribute('aria-labelledby') === `tab-${n}` && document.querySelector('#panel').childElementCount > 0, name);
  await page.rest(80);
  return page.run(() => [...document.querySelectorAll('#panel tbody tr')].map(row => [...row.cells].map(cell => cell.textContent)));
}

for (const name of ['chromium', 'firefox']) {
  const skip = which(name) && process.env.MXPROF_MODULES ? false : `${name} is not here (make browser)`;
  test(name, { skip }, async t => {
    const browser = await browserOf(name);
    t.after(() => browser.close());
    const page = await browser.open();
    const part = (title, f) => t.test(title, async () => {
      await f();
      assert.deepEqual(page.quiet(), QUIET);
    });

    await part('the first screen answers: what took most, which step was slowest, is it whole, what to try', async () => {
      await page.goto(file('small'));
      assert.equal((await text(page, 'h1')).replaceAll('\u00a0', ' '), head.title);
      const [what, steps, trust] = await page.run(() => [...document.querySelectorAll('.card')].map(card => card.innerText));
      assert.match(what, /conv1 38\u00a0%, dense0 8\u00a0%/);
      assert.match(steps, /Slowest: step 4, 32\.0 ms/);
      assert.match(steps, /no operator ran for 8\.00 ms more/);
      assert.match(steps, /1\.00 ms, 4\.0 % of a step; run delay 1\.2 % of the time/);
      assert.match(steps, /Try first: One slow layer, net:conv1: saves at most 4\.00 ms a step/);
      assert.match(trust, /Complete: nothing was lost/);
      assert.ok(await page.run(() => document.getElementById('tabs').getBoundingClientRect().top < innerHeight && document.getElementById('plain').hidden));
    });

    await part('panels show the numbers of the documents', async () => {
      const [conv] = await rows(page, 'Layers'), layer = head.report.layers[0];
      assert.deepEqual([conv[0], conv[1], conv[2], conv[3], conv[4], conv[5]], ['conv1', time(layer.sum_ns / 4), time(layer.forward_ns / 4), time(layer.backward_ns / 4), time(layer.update_ns / 4), percent(layer.sum_ns / head.report.wall_ns)]);
      const operators = await rows(page, 'Operators'), [back] = head.report.operators.filter(row => row.name.startsWith('_back'));
      assert.deepEqual(operators[0].slice(0, 8), [back.name, time(back.total_ns), time(back.self_ns), '4', time(6 * MS), `~${time(back.p50_ns)}`, `~${time(back.p90_ns)}`, `~${time(back.p99_ns)}`]);
      assert.deepEqual(await page.run(() => {
        const [titles, ...lines] = mxprofPage.tabs.live.csv(), at = titles.indexOf('Slack (ns)');
        return lines.map(line => [line[0], line[at]]);
      }), [['_backward_Convolution', ''], ['Convolution', 2 * MS]]);
      assert.deepEqual((await rows(page, 'Calls'))[0].slice(0, 4), ['MXImperativeInvoke', time(4 * MS), time(4 * MS), '8']);
      const path = await rows(page, 'Path');
      assert.deepEqual(path[0].slice(0, 4), ['run', 'net:conv1/Convolution', time(15 * MS), percent(0.6)]);
      assert.match(await text(page, '#panel'), /unknown0\.0 %/);
      const whatif = await rows(page, 'What-if');
      assert.equal(whatif[0][0], 'net:conv1 twice as fast');
      assert.match(whatif[0][1], /\u22125\.00 ms \(\u22126\.00 ms to \u22124\.00 ms\)/);
      assert.match(whatif[1][5], /at most \u00b7 modelled/);
      const memory = await rows(page, 'Memory'), { peak, owners } = head.memory.documents[0].devices[0];
      assert.ok(memory.some(row => row[0] === 'net:conv1' && row[1] === size(owners[0].bytes) && row[3] === '3'));
      assert.match(await text(page, '#panel'), new RegExp(`${size(peak.bytes)} at 35.000 ms.*grows by 1.00 kB a step`));
      const icicle = await rows(page, 'Icicle');
      assert.deepEqual(icicle.map(row => row.slice(0, 2)), [['step', '25.00 ms'], ['net', '15.00 ms'], ['no operator ran', '10.00 ms']]);
      const compare = await rows(page, 'Compare');
      assert.deepEqual(compare[0].slice(0, 4), ['net:conv1/Convolution', time(MS), time(3 * MS), '+2.00 ms']);
      assert.match(await text(page, '#panel'), /beforeNothing stands outafterOne slow layer/);
      assert.match(await text(page, '#panel'), /20\.00 ms \u2192 25\.00 ms: \+25\.0 % \(\+20\.0 % to \+30\.0 %, p 0\.01\); slower/);
      await rows(page, 'Explain');
      assert.match(await text(page, '.causes'), /One slow layer, net:conv136 % of the path.*at most 4\.00 ms a step \(3\.00 ms to 5\.00 ms\), from the path/);
      const profile = await rows(page, 'Profile');
      assert.deepEqual(profile, [['command', 'python test.py'], ['host', 'here']]);
    });

    await part('keys zoom and move: W S + - A D arrows, with Shift more', async () => {
      await whole(page);
      const all = await view(page);
      const width = v => v.to - v.from;
      for (const [keys, factor] of [['w', 0.8], ['+', 0.8], ['s', 1.25], ['-', 1.25], ['Shift+W', 0.8 ** 5], ['Shift+S', 0.8 ** -5]]) {
        await page.run(() => mxprofPage.timeline.show(40e6, 50e6));
        const before = await view(page);
        await page.press(keys);
        near(width(await view(page)) / width(before), Math.min(factor, width(all) / width(before) * 1.1), 1e-6);
      }
      for (const [keys, share] of [['a', -0.1], ['ArrowLeft', -0.1], ['d', 0.1], ['ArrowRight', 0.1], ['Shift+A', -0.5], ['Shift+D', 0.5], ['Shift+ArrowRight', 0.5]]) {
        await page.run(() => mxprofPage.timeline.show(40e6, 50e6));
        await page.press(keys);
        near((await view(page)).from, 40e6 + share * 10e6, 1);
      }
    });

    await part('keys: 0 and Home show the whole run, F and Space fit', async () => {
      for (const key of ['0', 'Home']) {
        await page.run(() => mxprofPage.timeline.show(40e6, 50e6));
        await page.press(key);
        assert.deepEqual(await view(page), { from: 0, to: 100e6 });
      }
      await page.run(() => mxprofPage.timeline.select({ from: 20e6, to: 40e6 }));
      for (const key of ['f', ' ']) {
        await page.press('0');
        await page.press(key === ' ' ? 'Space' : key);
        assert.deepEqual(await view(page), { from: 19e6, to: 41e6 });
      }
      await whole(page);
    });

    await part('keys: . and , go along a row, J and K to the rows below and above', async () => {
      await page.run(() => mxprofPage.address.focusAt(0, 2e6));
      await page.until(() => mxprofPage.timeline.focus?.begin === 2e6);
      for (const [key, begin, track, depth] of [['.', 5e6, 0, 0], ['.', 8e6, 0, 0], ['j', 9e6, 0, 1], ['k', 8e6, 0, 0], [',', 5e6, 0, 0], [',', 2e6, 0, 0], [',', 2e6, 0, 0]]) {
        await page.press(key);
        await page.rest(80);
        assert.deepEqual(await focus(page), { track, begin, depth }, key);
      }
      assert.match(await text(page, '#say'), /^Convolution, net:conv1 \u00b7 forward, 3\.000 ms from 2\.000000 ms, queued 1\.500 ms/);
      assert.match(await text(page, '#detail'), /4 spans of this name here: mean 3\.00 ms/);
    });

    await part('arrows of the trace: the focused span says where its flows go, and they are drawn', async () => {
      await page.run(() => mxprofPage.address.focusAt(1, 1e6));
      await page.until(() => mxprofPage.timeline.known?.flows.arrows.length === 1);
      assert.match(await text(page, '#say'), /^MXImperativeInvoke, .*launch to Convolution$/);
      assert.match(await text(page, '#detail'), /launch to Convolution/);
      assert.match(await page.run(() => mxprofPage.timeline.svg('x')), /<path d="M[^"]*C[^"]*" fill="none" stroke="#0b5bd3"/);
      await page.run(() => mxprofPage.address.focusAt(0, 2e6));
      await page.until(() => /launch from shape/.test(document.getElementById('say').textContent));
    });

    await part('keys: M selects the focus, Shift+. and Shift+, grow it by a span', async () => {
      await page.press('.');
      await page.press('m');
      assert.deepEqual(await selection(page), { from: 5e6, to: 7e6 });
      await page.press('Shift+.');
      await page.until(() => mxprofPage.timeline.selection.to === 15e6);
      await page.press('Shift+,');
      await page.until(() => mxprofPage.timeline.selection.from === 2e6);
      assert.deepEqual(await selection(page), { from: 2e6, to: 15e6 });
      await page.until(() => document.querySelector('[aria-selected="true"]').textContent === 'Selection');
      await page.press('Escape');
      assert.deepEqual([await selection(page), await focus(page)], [null, null]);
    });

    await part('keys: [ and ] go from step to step', async () => {
      await whole(page);
      await page.run(() => { mxprofPage.strip.at = -1; });
      for (const [key, n] of [[']', 1], [']', 2], ['[', 1], ['[', 1]]) {
        await page.press(key);
        const { from, to } = await view(page), [, , begin, end] = head.steps[n - 1];
        assert.ok(from <= Math.max(0, begin) && to >= end && to - from < 1.2 * (end - begin), `${key} ${from} ${to}`);
      }
    });

    await part('keys: P path, E arrows, H what-if, as the buttons say', async () => {
      for (const [key, label, before] of [['p', 'Path', 'false'], ['e', 'Arrows', 'true'], ['h', 'What-if', 'false']]) {
        const pressed = () => page.run(l => [...document.querySelectorAll('#tools button')].find(b => b.textContent.startsWith(l)).getAttribute('aria-pressed'), label);
        assert.equal(await pressed(), before);
        await page.press(key);
        await page.rest(120);
        assert.notEqual(await pressed(), before);
        if (key === 'h') {
          await page.until(() => mxprofPage.gains !== null);
          assert.match(await text(page, '#steps-legend'), /with net:conv1 twice as fast, a step takes 20\.0 ms: the marks are where each would end/);
          assert.deepEqual(await page.run(() => mxprofPage.head.steps.map(step => mxprofPage.gains.get(step))), [5 * MS, 4 * MS, 6 * MS, 5 * MS]);
          assert.deepEqual(await page.run(() => { // a mark of the path's colour on each step, as high as it would end
            const { canvas, top, steps } = mxprofPage.strip, one = new OffscreenCanvas(1, 76).getContext('2d', { willReadFrequently: true }), style = getComputedStyle(document.documentElement).getPropertyValue('--path').trim();
            return steps.map((step, i) => {
              one.drawImage(canvas, -Math.round((i + 0.5) * canvas.clientWidth / steps.length), 0, canvas.clientWidth, 76);
              const y = Math.round(76 - 4 - (step.end - step.begin - mxprofPage.gains.get(step)) / top * (76 - 14 - 4)), data = one.getImageData(0, 0, 1, 76).data;
              const hex = k => '#' + [...data.slice(4 * k, 4 * k + 3)].map(n => n.toString(16).padStart(2, '0')).join('');
              return [y, y + 1].some(k => hex(k) === style);
            });
          }), [true, true, true, true]);
        }
        if (key === 'p') assert.equal(await page.run(() => mxprofPage.timeline.path.length.length), 4);
        await page.press(key);
        await page.rest(120);
        assert.equal(await pressed(), before);
      }
    });

    await part('keys: / finds, Enter and N go to the next, Shift+N before, Escape lets the search go', async () => {
      await whole(page);
      await page.press('/');
      assert.equal(await page.run(() => document.activeElement.id), 'find');
      await page.type('sgd');
      assert.equal(await text(page, '#found'), '2 spans');
      await page.press('Enter');
      await page.until(() => mxprofPage.timeline.focus?.begin === 35e6);
      await page.press('n');
      await page.until(() => mxprofPage.timeline.focus?.begin === 83e6);
      await page.press('Shift+N');
      await page.until(() => mxprofPage.timeline.focus?.begin === 35e6);
      await page.press('/');
      await page.press('Escape');
      assert.deepEqual(await page.run(() => [document.getElementById('find').value, mxprofPage.timeline.find, document.activeElement.id]), ['', null, 'timeline']);
    });

    await part('key ? shows the map, ? and Escape close it', async () => {
      await page.press('?');
      assert.ok(await page.run(() => document.getElementById('help').open));
      assert.ok((await text(page, '#help')).includes('long press, then drag'));
      const pressed = await page.run(() => document.getElementById('tools').textContent + [...document.querySelectorAll('#tools [aria-pressed]')].map(b => b.getAttribute('aria-pressed')));
      for (const key of ['p', 'e', 'h', ']']) await page.press(key);
      assert.equal(await page.run(() => document.getElementById('tools').textContent + [...document.querySelectorAll('#tools [aria-pressed]')].map(b => b.getAttribute('aria-pressed'))), pressed, 'nothing happens behind the help');
      await page.press('Escape');
      await page.until(() => !document.getElementById('help').open);
    });

    await part('keys in a field, with Ctrl or on a button are left alone; arrows up and down scroll', async () => {
      await whole(page);
      const before = await view(page);
      await page.run(() => document.getElementById('find').focus());
      await page.type('wasd0');
      await page.press('Escape');
      await page.press('Control+d').catch(() => {});
      assert.deepEqual(await view(page), before);
      await page.run(() => {
        document.body.style.minHeight = '3000px';
        mxprofPage.timeline.canvas.focus({ preventScroll: true });
      });
      await page.press('ArrowDown');
      await page.until(() => scrollY > 0);
      await page.run(() => {
        document.body.style.minHeight = '';
        scrollTo(0, 0);
      });
    });

    await part('keys of other keyboards: Shift+, is ; on a German one, where ] is behind AltGr, which some systems call Ctrl+Alt', async () => {
      await whole(page);
      const type = (key, code, more) => page.run((k, c, m) => { document.dispatchEvent(new KeyboardEvent('keydown', { key: k, code: c, bubbles: true, ...m })); }, key, code, more);
      await page.run(() => mxprofPage.address.focusAt(0, 5e6));
      await page.until(() => mxprofPage.timeline.focus?.begin === 5e6);
      await page.press('m');
      await type(';', 'Comma', { shiftKey: true });
      await page.until(() => mxprofPage.timeline.selection?.from === 2e6);
      await type(':', 'Period', { shiftKey: true });
      await page.until(() => mxprofPage.timeline.selection?.to === 15e6);
      await page.run(() => mxprofPage.goStep(mxprofPage.head.steps[0]));
      await type(']', 'Digit9', { ctrlKey: true, altKey: true });
      assert.equal(await page.run(() => mxprofPage.step.number), 1, 'Ctrl+Alt alone is the system\u2019s');
      await type(']', 'Digit9', { ctrlKey: true, altKey: true, modifierAltGraph: true });
      assert.equal(await page.run(() => mxprofPage.step.number), 2);
    });

    await part('mouse: click focuses, click on the ground lets go, double click fits', async () => {
      await whole(page);
      const [x, y] = await point(page, 10e6, 0, 0);
      await page.click(x, y);
      assert.equal((await focus(page)).begin, 8e6);
      const [gx, gy] = await point(page, 17e6, 0, 1);
      await page.click(gx, gy);
      assert.equal(await focus(page), null);
      await page.doubleClick(x, y);
      near((await view(page)).from, 8e6 - 0.35e6, 1);
      await whole(page);
    });

    await part('mouse: a drag selects, a double click on its ground fits the selection', async () => {
      await page.drag(await point(page, 20e6, 1, 1), await point(page, 44e6, 1, 1));
      const { from, to } = await selection(page), pixel = 100e6 / 1100;
      near(from, 20e6, pixel);
      near(to, 44e6, pixel);
      await page.until(() => document.querySelector('[aria-selected="true"]').textContent === 'Selection' && /spans touch it/.test(document.querySelector('#panel').textContent));
      const words = await text(page, '#panel');
      assert.match(words, /by phasebackward/);
      assert.match(words, /memory cpu\/0.*at its begin/);
      const [gx, gy] = await point(page, 40e6, 0, 1);
      await page.doubleClick(gx, gy);
      near((await view(page)).from, 20e6 - 1.2e6, 2 * pixel);
      await whole(page);
    });

    await part('mouse: Shift+drag and the middle button move', async () => {
      for (const how of [{ key: 'Shift' }, { button: 'middle' }]) {
        await page.run(() => mxprofPage.timeline.show(40e6, 60e6));
        await page.rest();
        const a = await point(page, 50e6, 1, 1), b = await point(page, 45e6, 1, 1);
        await page.drag(a, b, how);
        near((await view(page)).from, 45e6, 20e6 / 1000 * 2);
        assert.equal(await selection(page), null);
      }
    });

    await part('wheel: without focus it scrolls the page, with focus it zooms at the pointer; Ctrl zooms always; Shift and sideways move', async () => {
      await whole(page);
      const [x, y] = await point(page, 50e6, 1, 1);
      await page.run(() => {
        document.activeElement.blur();
        document.body.style.minHeight = '3000px';
      });
      await page.wheel(x, y, { dy: 100 });
      assert.deepEqual(await view(page), { from: 0, to: 100e6 });
      await page.until(() => scrollY > 0);
      await page.run(() => scrollTo(0, 0));
      await page.rest(150);
      await page.wheel(x, y, { dy: -100, key: 'Control' });
      let v = await view(page);
      assert.ok(v.to - v.from < 99e6 && v.from < 50e6 && v.to > 50e6);
      near((50e6 - v.from) / (v.to - v.from), 0.5, 0.01);
      await whole(page);
      await page.wheel(x, y, { dy: -100 });
      v = await view(page);
      near((v.to - v.from) / 100e6, Math.exp(-0.2), 0.02);
      await page.run(() => mxprofPage.timeline.show(40e6, 60e6));
      await page.wheel(x, y, { dx: 50 });
      v = await view(page);
      assert.ok(v.from > 40e6 && Math.abs(v.to - v.from - 20e6) < 1, 'sideways');
      await page.wheel(x, y, { dy: 50, key: 'Shift' });
      assert.ok((await view(page)).from > v.from, 'Shift');
      assert.equal(await page.run(() => scrollY), 0);
      await page.run(() => { document.body.style.minHeight = ''; });
    });

    await part('steps: a click and arrow keys go to a step; cards and causes show theirs', async () => {
      await whole(page);
      const [x, y] = await page.run(() => {
        const box = document.getElementById('steps').getBoundingClientRect();
        return [box.left + box.width * 0.4, box.top + 50];
      });
      await page.click(x, y);
      near((await view(page)).from, 20e6 - 1.2e6, 1);
      await page.press('ArrowRight');
      near((await view(page)).from, 44e6 - 1.2e6, 1);
      await page.press('End');
      near((await view(page)).from, 68e6 - 1.6e6, 1);
      await page.run(() => [...document.querySelectorAll('.card button')].find(b => /^Show/.test(b.textContent)).click());
      near((await view(page)).from, 68e6 - 1.6e6, 1);
      await rows(page, 'Explain');
      await page.run(() => document.querySelector('.causes button').click());
      await page.rest(150);
      assert.deepEqual(await page.run(() => [document.getElementById('find').value, mxprofPage.timeline.path !== null, mxprofPage.timeline.selection.from]), ['_backward_Convolution', true, 44e6], 'the step at the place that is told');
      await page.run(() => {
        mxprofPage.togglePath();
        mxprofPage.setSearch('', true);
      });
    });

    await part('buttons: whole run, path, arrows, what-if, theme, help', async () => {
      const push = label => page.run(l => [...document.querySelectorAll('#tools button')].find(b => b.textContent.startsWith(l)).click(), label);
      await page.run(() => mxprofPage.timeline.show(40e6, 60e6));
      await push('Whole');
      assert.deepEqual(await view(page), { from: 0, to: 100e6 });
      const ground = () => page.run(() => getComputedStyle(document.body).backgroundColor);
      const before = await ground();
      await push('\u25d0');
      assert.notEqual(await ground(), before);
      await push('\u25d0');
      assert.equal(await ground(), before);
      await push('?');
      assert.ok(await page.run(() => document.getElementById('help').open));
      await page.run(() => document.querySelector('#help button').click());
    });

    await part('tables: a heading sorts, a row searches for its name, the search filters', async () => {
      await rows(page, 'Operators');
      await page.run(() => document.querySelector('#panel thead button').click());
      assert.deepEqual(await page.run(() => [document.querySelector('#panel th').getAttribute('aria-sort'), document.querySelector('#panel tbody th').textContent]), ['ascending', 'Convolution']);
      await page.run(() => document.querySelector('#panel tbody tr').focus());
      await page.press('ArrowDown');
      await page.press('Enter');
      assert.equal(await page.run(() => document.getElementById('find').value), '_backward_Convolution');
      assert.equal(await page.run(() => document.querySelectorAll('#panel tbody tr').length), 1);
      await page.run(() => mxprofPage.setSearch('nothing of the kind', true));
      assert.match(await text(page, '#panel'), /Nothing here matches/);
      await page.run(() => mxprofPage.setSearch('', true));
    });

    await part('icicle: Enter goes in, Backspace comes up; memory: arrows and P move the cursor', async () => {
      await whole(page);
      await page.rest(200);
      await rows(page, 'Icicle');
      await page.run(() => document.querySelector('.icicle').focus());
      for (const key of ['ArrowDown', 'Enter', 'ArrowDown', 'Enter']) await page.press(key);
      assert.equal(await text(page, '.way'), 'step \u203a net \u203a conv1');
      await page.press('Backspace');
      assert.equal(await text(page, '.way'), 'step \u203a net');
      await rows(page, 'Memory');
      await page.run(() => document.querySelector('.stacked').focus());
      await page.press('ArrowRight');
      assert.match(await text(page, '#panel thead'), /Owner at 40\.0000 ms/);
      await page.press('p');
      assert.match(await text(page, '#panel thead'), /Owner at 35\.0000 ms/);
      const cursor = await page.run(() => [...document.querySelectorAll('#panel tbody tr')].slice(0, 3).map(row => [...row.cells].map(cell => cell.textContent).slice(0, 2)));
      const largest = head.memory.devices[0].peak_bytes;
      assert.deepEqual(cursor, [['net:conv1', size(Math.floor(largest / 2))], ['others', size(largest - Math.floor(largest / 2) - Math.floor(largest / 4))], ['net:dense0', size(Math.floor(largest / 4))]]);
    });

    await part('links: written after a change, read on load and on hashchange, a stranger\u2019s says so', async () => {
      await whole(page);
      await page.run(() => {
        mxprofPage.timeline.show(20e6, 44e6);
        mxprofPage.timeline.select({ from: 21e6, to: 30e6 });
        mxprofPage.setSearch('conv', true);
      });
      await page.run(() => mxprofPage.address.focusAt(0, 22e6));
      await page.run(() => mxprofPage.togglePath());
      await page.rest(200);
      await page.run(() => mxprofPage.tabs.choose('Memory'));
      await page.rest(500);
      const hash = await page.run(() => location.hash);
      assert.match(hash, /^#id=[0-9a-f]{8}&t=20000000-44000000&s=21000000-30000000&f=0\.22000000&(step=\d+&)?tab=Memory&q=conv&path=1$/);
      await page.goto(file('one'));
      await page.goto(file('small'), hash);
      await page.until(() => mxprofPage.timeline.focus && mxprofPage.timeline.path);
      assert.deepEqual([await view(page), await selection(page), (await focus(page)).begin, await tab(page), await page.run(() => document.getElementById('find').value)],
        [{ from: 20e6, to: 44e6 }, { from: 21e6, to: 30e6 }, 22e6, 'Memory', 'conv']);
      await page.run(() => { location.hash = '#t=1000000-2000000&tab=Path&id=00000000'; });
      await page.until(() => mxprofPage.timeline.view.from === 1e6);
      assert.equal(await tab(page), 'Path');
      assert.deepEqual(await page.run(() => [mxprofPage.timeline.selection, mxprofPage.timeline.focus, mxprofPage.timeline.path, document.getElementById('find').value]), [null, null, null, ''], 'what the link does not say is not there');
      assert.match(await text(page, '#trouble'), /made for another profile/);
      for (const bad of ['#t=9-1&tab=<img>', '#%%%', '#t=99999999999999999-0', '#f=77.1&s=1']) {
        await page.run(h => { location.hash = h; }, bad);
        await page.rest(80);
      }
    });

    await t.test('in a notebook\u2019s frame the page works without an address of its own', async () => {
      const own = await browser.open(), cell = join(PAGES, `cell-${name}.html`), escaped = readFileSync(file('small'), 'utf8').replace(/[&"<>]/g, c => `&#${c.charCodeAt(0)};`);
      writeFileSync(cell, `<!doctype html><iframe sandbox="allow-scripts allow-downloads" style="width: 900px; height: 700px" srcdoc="${escaped}"></iframe>`);
      await own.page.goto(`file://${cell}`, { waitUntil: 'load' });
      const inFrame = async script => {
        for (let i = 0; i < 200; i++) {
          if (await own.page.frames()[1]?.evaluate(script).catch(() => false)) return;
          await own.rest(100);
        }
        assert.fail(`never true: ${script}`);
      };
      await inFrame("globalThis.mxprofPage && document.querySelector('#panel').textContent !== ''");
      await inFrame("mxprofPage.tabs.choose('Layers'); mxprofPage.goStep(mxprofPage.head.steps[1]); true");
      await inFrame("document.querySelector('#panel').textContent.startsWith('Layer')");
      await own.rest(600); // the address is written a moment later
      await own.page.close(); // else another tab has the focus
      assert.deepEqual(own.quiet(), QUIET);
    });

    await part('exports: CSV, SVG and PNG hold what is shown', async () => {
      await page.goto(file('small'));
      await page.run(() => {
        globalThis.saved = [];
        const make = URL.createObjectURL.bind(URL);
        URL.createObjectURL = blob => { globalThis.saved.push(blob); return make(blob); };
        HTMLAnchorElement.prototype.click = function () { globalThis.savedName = this.download; };
      });
      const push = label => page.run(l => [...document.querySelectorAll('#tools button')].find(b => b.textContent === l).click(), label);
      await rows(page, 'Layers');
      await push('CSV');
      const csv = await page.run(() => globalThis.saved[0].text());
      assert.equal(await page.run(() => globalThis.savedName), 'small-layers.csv');
      const lines = csv.trim().split('\r\n').map(line => line.split(','));
      assert.deepEqual(lines[1].slice(0, 3), ['net:conv1', String(38e6 / 4), String(12e6 / 4)]);
      assert.match(lines[0][1], /\(ns\)$/);
      await page.press('p');
      await page.until(() => mxprofPage.timeline.path !== null);
      await page.run(() => mxprofPage.address.focusAt(0, 5e6));
      await page.until(() => mxprofPage.timeline.known?.links.by);
      await push('SVG');
      const svg = await page.run(async () => {
        const parsed = new DOMParser().parseFromString(await globalThis.saved[1].text(), 'image/svg+xml'), style = getComputedStyle(document.documentElement);
        const of = (shape, attribute, token) => parsed.querySelectorAll(`${shape}[${attribute}="${style.getPropertyValue(`--${token}`).trim()}"]`).length;
        return { error: parsed.querySelector('parsererror')?.textContent ?? null, texts: [...parsed.querySelectorAll('text')].map(e => e.textContent), rects: parsed.querySelectorAll('rect').length,
          path: of('rect', 'fill', 'path'), curves: of('rect[opacity="0.45"]', 'fill', 'accent'), arrows: of('path', 'stroke', 'accent') };
      });
      assert.equal(svg.error, null);
      assert.ok(svg.texts.includes('MXNDArrayWaitAll') && svg.texts.includes('loss') && svg.rects > 30);
      assert.ok(svg.path >= 4 && svg.curves >= 38 && svg.arrows >= 1, JSON.stringify(svg));
      await page.press('p');
      await page.press('Escape');
      await push('PNG');
      await page.until(() => globalThis.saved.length === 3);
      const bytes = await page.run(async () => [...new Uint8Array(await globalThis.saved[2].arrayBuffer()).slice(0, 4)]);
      assert.deepEqual(bytes, [0x89, 0x50, 0x4e, 0x47]);
    });

    await part('hostile names stay text in every panel', async () => {
      await page.goto(file('hostile'));
      for (const each of TABS) await rows(page, each);
      for (let i = 0; i < 10; i++) {
        await page.press('.');
        await page.press('j');
      }
      assert.deepEqual(await page.run(() => [document.images.length, document.querySelectorAll('b b, h1 *, script:not([type])').length, document.title.startsWith('</script>')]), [0, 1, true]);
      assert.ok(await page.run(() => !/[\u202a-\u202e\u2066-\u2069\u0000]/.test(document.getElementById('page').textContent)));
      await page.run(() => mxprofPage.address.focusAt(5, 510));
      await page.until(() => /whole name, 1,000,000 characters/.test(document.getElementById('detail').textContent));
    });

    await part('pages with little or nothing in them open, and every panel says what is missing', async () => {
      for (const each of ['one', 'nothing', 'no_tracks', 'huge', 'lost', 'ranks']) {
        await page.goto(file(each));
        for (const panel of TABS) {
          await rows(page, panel);
          assert.ok((await text(page, '#panel')).length > 10, `${each} ${panel}`);
        }
        for (const key of ['w', 's', 'd', '.', 'j', 'm', 'f', '0', ']', 'p', 'h', 'n', 'Escape']) await page.press(key);
      }
    });

    await part('without steps no cause is told: the page says what to do about it, and nothing is called a step', async () => {
      await page.goto(file('unmarked'));
      const [what, steps] = await page.run(() => [...document.querySelectorAll('.card')].map(card => card.innerText));
      assert.match(what, /conv1 38\u00a0%/);
      assert.match(steps, /No steps were marked[^]*Try first: mark steps, without which no cause is told; the largest is conv1, 38\.0 %/);
      assert.deepEqual((await rows(page, 'Explain')).map(row => [row[1], row[3]]), [['at most 4.00 ms of the run (3.00 ms to 5.00 ms), from the path', 'the run']]);
      assert.match(await text(page, '#panel'), /^No steps were marked, and without them no cause is told/);
    });

    await part('ranks are processes: each has its steps and its rows', async () => {
      await page.goto(file('ranks'));
      assert.deepEqual(await page.run(() => [...document.querySelectorAll('#steps-of option')].map(option => option.textContent)), ['rank 0 \u00b7 process 100', 'rank 1 \u00b7 process 101', 'rank 2 \u00b7 process 102 \u00b7 died']);
      assert.match(await page.run(() => document.querySelectorAll('.card')[1].innerText), /Slowest: step 20, 92 ns[^]*rank 2/);
      await page.run(() => mxprofPage.chooseProcess(1));
      assert.equal(await page.run(() => mxprofPage.strip.median), 91);
      for (const track of [0, 1, 2]) {
        await page.run(at => mxprofPage.address.focusAt(at, 5), track);
        await page.until(at => mxprofPage.timeline.focus?.track === at, track);
        assert.ok((await page.run(() => [...document.querySelectorAll('#detail > span')].map(word => word.textContent))).includes(`step ${10 * track}`), 'a span is of a step of its own process');
      }
      await page.run(() => mxprofPage.chooseProcess(0));
      await rows(page, 'Explain');
      await page.run(() => document.querySelector('.causes button').click());
      await page.rest(150);
      assert.deepEqual(await page.run(() => [mxprofPage.process, mxprofPage.step.number]), [1, 13], 'a cause leads to its own process');
      await page.run(() => document.querySelector('#panel tbody tr:last-child').click());
      assert.deepEqual(await page.run(() => [mxprofPage.process, mxprofPage.step.process]), [2, 2]);
    });

    await part('400 tracks: the canvas is as high as its window, keys bring the focused row into it', async () => {
      await page.goto(file('many'));
      await page.run(() => mxprofPage.timeline.canvas.focus());
      await page.press('.');
      for (let i = 0; i < 20; i++) await page.press('j');
      await page.until(() => mxprofPage.timeline.focus?.track === 20);
      await page.rest(100);
      const { top, height, y, all } = await page.run(() => {
        const { timeline } = mxprofPage;
        return { top: timeline.top, height: timeline.height, y: timeline.rowOf(20).y, all: timeline.layout.height };
      });
      assert.ok(height <= 900 && all > 10000 && y > top && y + 18 <= top + height, `${top} ${height} ${y} ${all}`);
    });

    // A changed element may be a script to the browser: then its policy keeps it from running, and the browser says that.
    const besidesPolicy = own => [own.seen.requests, ...[own.seen.errors, own.seen.console].map(list => list.filter(line => !/Content[ -]Security[ -]Policy/.test(line)))];
    await t.test('a cut page and a changed one say so, and what can be read is shown', async () => {
      const own = await browser.open();
      const whole_ = readFileSync(file('small')), start = whole_.indexOf('id="x-head"'), odd = join(PAGES, `odd-${name}.html`);
      const state = () => own.run(() => ({ trouble: document.getElementById('trouble')?.innerText ?? '', plain: Boolean(document.getElementById('plain') && !document.getElementById('plain').hidden), drawn: Boolean(globalThis.mxprofPage) }));
      // Of all places every 64th is looked at as a reader does; of the others only what the page says, which is there at once.
      const open = async (bytes, place = 0, isTold = () => true) => {
        writeFileSync(odd, bytes);
        await own.page.goto(`file://${odd}`, { waitUntil: 'load' });
        for (let i = 0; LONG && place % 64 && i < 40; i++) {
          const now = await state();
          if ((now.drawn || now.plain) && isTold(now)) return now;
          await own.rest(25);
        }
        await own.rest(150);
        if (await own.run(() => Boolean(globalThis.mxprofPage))) {
          for (const panel of ['Icicle', 'Memory', 'Compare']) await rows(own, panel);
          await own.press('p');
        }
        return state();
      };
      const end = whole_.lastIndexOf('</script>'); // behind it nothing is missing but words that browsers add
      const places = LONG ? Array.from({ length: end - start }, (_, i) => start + i) : Array.from({ length: 24 }, (_, i) => Math.floor(start + (whole_.length - start - 20) * (i + 0.5) / 24));
      for (const at of places) {
        const cut = await open(whole_.subarray(0, at), at, now => now.trouble !== '');
        assert.match(cut.trouble, /cut|missing|damaged|end says/, `cut at ${at}`);
        assert.ok(cut.drawn || cut.plain);
        const changed = Buffer.from(whole_);
        changed[at] = changed[at] === 0x41 ? 0x42 : 0x41;
        const { trouble, plain, drawn } = await open(changed, at, now => now.drawn || now.trouble.length > 20);
        assert.ok(drawn || plain, `changed at ${at}`);
        assert.ok(drawn || trouble.length > 20, `changed at ${at}: ${trouble}`);
      }
      const at = whole_.indexOf('id="x-b0"') + 40, longer = await open(Buffer.concat([whole_.subarray(0, at), Buffer.from('\n'), whole_.subarray(at)]));
      assert.match(longer.trouble, /not whole: it has \d+ sections of [\d,]+ characters where its end says/);
      assert.ok(longer.drawn);
      await own.page.close(); // else another tab has the focus
      assert.deepEqual(besidesPolicy(own), [[], [], []]);
    });

    await t.test('sections that are whole and hold nonsense: no error is left uncaught, the page or its text stands', async () => {
      const own = await browser.open(), odd = join(PAGES, `nonsense-${name}.html`), page_ = readFileSync(file('small'), 'utf8'), next = random(7);
      const names = [...page_.matchAll(/id="x-(\w+)">([^<]+)</g)].map(found => found[1]).filter(each => each !== 'end');
      for (const each of names.flatMap(section => Array(LONG ? 40 : 2).fill(section))) {
        const [, before] = page_.match(new RegExp(`id="x-${each}">([^<]+)<`)), bytes = gunzipSync(Buffer.from(before, 'base64'));
        for (let k = 0; k < 1 + Math.floor(next() * 3); k++) bytes[Math.floor(next() * bytes.length)] = each === 'head' ? 0x30 + Math.floor(next() * 10) : Math.floor(next() * 256);
        writeFileSync(odd, page_.replace(before, gzipSync(bytes).toString('base64')));
        await own.page.goto(`file://${odd}`, { waitUntil: 'load' });
        await own.rest(120);
        const state = await own.run(() => ({ drawn: Boolean(globalThis.mxprofPage), plain: !document.getElementById('plain').hidden, trouble: document.getElementById('trouble').innerText }));
        assert.ok(state.drawn || (state.plain && state.trouble.length > 20), `${each}: ${JSON.stringify(state)}`);
        if (state.drawn) {
          for (const panel of TABS) await own.run(n => mxprofPage.tabs.choose(n), panel);
          await own.run(() => {
            mxprofPage.timeline.canvas.focus();
            mxprofPage.timeline.select({ from: 0, to: 1e8 });
            mxprofPage.timeline.svg('x');
          });
          for (const key of ['.', 'p', 'h', ']', 'f']) await own.page.keyboard.press(key);
          await own.rest(60);
        }
      }
      await own.page.close(); // else another tab has the focus
      assert.deepEqual(own.quiet(), QUIET);
    });

    await t.test('a page that is cut within its script shows its text; the policy keeps the rest of the script from running', async () => {
      const own = await browser.open(), all = readFileSync(file('small')), from = all.indexOf('<script type="text/plain"'), to = all.indexOf('</script>', all.indexOf('<script>')), odd = join(PAGES, `script-${name}.html`);
      for (const at of [0.1, 0.5, 0.99].map(share => Math.floor(from + (to - from) * share))) {
        writeFileSync(odd, all.subarray(0, at));
        await own.page.goto(`file://${odd}`, { waitUntil: 'load' });
        await own.rest(150);
        assert.ok(await own.run(() => !globalThis.mxprofPage && !document.getElementById('plain').hidden && /net:conv1/.test(document.getElementById('plain').textContent)), `cut at ${at}`);
      }
      for (const at of [0.1, 0.5, 0.9].map(share => Math.floor(from + 50 + (to - from) * 0.9 * share))) {
        const changed = Buffer.from(all);
        changed[at] = changed[at] === 65 ? 66 : 65;
        writeFileSync(odd, changed);
        await own.page.goto(`file://${odd}`, { waitUntil: 'load' });
        await own.until(() => !document.getElementById('trouble').hidden);
        assert.ok(await own.run(() => !globalThis.mxprofPage && !document.getElementById('plain').hidden && /its script is damaged/.test(document.getElementById('trouble').textContent)), `changed at ${at}`);
      }
      await own.page.close(); // else another tab has the focus
      assert.deepEqual(besidesPolicy(own), [[], [], []]);
    });

    await part('at 700 px nothing is wider than the page, in every panel', async () => {
      await page.size(700, 800);
      await page.goto(file('small'));
      for (const each of TABS) {
        await rows(page, each);
        assert.ok(await page.run(() => document.documentElement.scrollWidth <= innerWidth), each);
      }
      assert.ok(await page.run(() => document.getElementById('scroller').getBoundingClientRect().top < 800), 'first tracks are seen');
      await page.size(1400, 900);
    });

    await part('keyboard alone: Tab reaches all there is, each with a focus that is seen; tabs go by arrows', async () => {
      await page.goto(file('small'));
      await rows(page, 'What-if');
      for (const label of ['Hide', 'Show']) {
        await page.run(() => document.querySelector('#panel tbody button').focus());
        await page.press('Enter');
        await page.until(word => document.activeElement.textContent === word, label); // in the panel that was made anew
      }
      await rows(page, 'Icicle');
      await page.run(() => document.querySelectorAll('#panel tbody tr')[1].focus());
      await page.press('Enter');
      assert.deepEqual(await page.run(() => [document.activeElement.className, [...document.querySelectorAll('.way button')].map(e => e.textContent)]), ['icicle', ['step', 'net']]);
      await page.goto(file('small'));
      await page.run(() => document.activeElement.blur());
      const reached = [];
      for (let i = 0; i < 60; i++) {
        await page.page.keyboard.press('Tab');
        const at = await page.run(() => {
          const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
          return e === document.body ? null : { id: e.id, text: e.textContent.slice(0, 20), role: e.getAttribute('role'), label: e.getAttribute('aria-label'), seen: style.outlineStyle !== 'none' && box.width > 0, high: box.height };
        });
        if (!at) break;
        reached.push(at);
      }
      for (const id of ['steps', 'timeline', 'find', 'tab-Explain']) assert.ok(reached.some(e => e.id === id), id);
      for (const label of ['Explain', 'Show it', 'Whole run (0)', 'Path (P)', 'CSV', 'Copy']) assert.ok(reached.some(e => e.text.startsWith(label)), label);
      for (const e of reached) {
        assert.ok(e.seen, `focus is not seen: ${JSON.stringify(e)}`);
        assert.ok(e.high >= 20, `${JSON.stringify(e)} is too small`);
        assert.ok(e.text || e.label, JSON.stringify(e));
      }
      await page.run(() => document.getElementById('tab-Explain').focus());
      for (const [key, wanted] of [['ArrowRight', 'Layers'], ['End', 'Profile'], ['ArrowRight', 'Explain'], ['ArrowLeft', 'Profile'], ['Home', 'Explain']]) {
        await page.press(key);
        assert.equal(await tab(page), wanted);
        assert.equal(await page.run(() => document.activeElement.textContent), wanted);
      }
    });

    await part('landmarks, one h1, names of pictures, table headings', async () => {
      assert.deepEqual(await page.run(() => [document.querySelectorAll('h1').length, document.querySelectorAll('main, header, nav, footer').length, document.documentElement.lang]), [1, 4, 'en']);
      for (const each of TABS) {
        await rows(page, each);
        assert.equal(await page.run(() => [...document.querySelectorAll('canvas, [role=img]')].filter(e => !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby')).length), 0, each);
        assert.equal(await page.run(() => [...document.querySelectorAll('th')].filter(e => !e.getAttribute('scope')).length), 0, each);
      }
      assert.equal(await page.run(() => new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size), await page.run(() => document.querySelectorAll('[id]').length));
    });

    if (name === 'chromium') await chromiumOnly(t, browser);
  });
}

/** What only playwright can do: fingers, media, an old browser. */
async function chromiumOnly(t, browser) {
  await t.test('fingers: sideways moves, two zoom, a long press selects, a tap focuses, two fit', async () => {
    const page = await browser.open({ hasTouch: true, width: 1000, height: 800 });
    await page.goto(file('small'));
    const cdp = await page.context.newCDPSession(page.page);
    const touch = (type, ...points) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
    const swipe = async (from, to, hold = 0) => {
      await touch('touchStart', ...from);
      await page.rest(hold);
      for (let i = 1; i <= 6; i++) await touch('touchMove', ...from.map(([x, y], k) => [x + (to[k][0] - x) * i / 6, y + (to[k][1] - y) * i / 6]));
      await touch('touchEnd');
      await page.rest(120);
    };
    await page.run(() => mxprofPage.timeline.show(40e6, 60e6));
    await page.rest();
    const a = await point(page, 55e6, 1, 1), b = await point(page, 50e6, 1, 1);
    await swipe([a], [b]);
    near((await view(page)).from, 45e6, 20e6 / 400);
    assert.equal(await selection(page), null);
    const left = await point(page, 50e6, 1, 1), right = await point(page, 60e6, 1, 1);
    await swipe([left, right], [[left[0] - 100, left[1]], [right[0] + 100, right[1]]]);
    const zoomed = await view(page);
    assert.ok(zoomed.to - zoomed.from < 17e6, `${zoomed.to - zoomed.from}`);
    await page.run(() => mxprofPage.timeline.whole());
    await page.rest();
    await swipe([await point(page, 20e6, 1, 1)], [await point(page, 44e6, 1, 1)], 600);
    const chosen = await selection(page);
    near(chosen.from, 20e6, 3e5);
    near(chosen.to, 44e6, 3e5);
    const tap = async ([x, y]) => {
      await touch('touchStart', [x, y]);
      await touch('touchEnd');
    };
    const at = await point(page, 10e6, 0, 0);
    await tap(at);
    await page.until(() => mxprofPage.timeline.focus?.begin === 8e6);
    await page.rest(500);
    await tap(at);
    await tap(at);
    await page.until(() => mxprofPage.timeline.view.from > 7e6);
    assert.deepEqual(page.quiet(), QUIET);
  });

  await t.test('the system\u2019s dark, forced colours, reduced motion and print', async () => {
    const page = await browser.open();
    await page.goto(file('small'));
    const ground = () => page.run(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await ground(), 'rgb(255, 255, 255)');
    await page.page.emulateMedia({ colorScheme: 'dark' });
    assert.equal(await ground(), 'rgb(16, 20, 24)');
    await page.until(() => {
      const one = new OffscreenCanvas(1, 1).getContext('2d');  // a copy: browsers complain of a canvas that is read again and again
      one.drawImage(document.getElementById('timeline'), -2, -40);
      return [...one.getImageData(0, 0, 1, 1).data.slice(0, 3)].join() === '16,20,24';
    });
    await page.page.emulateMedia({ colorScheme: 'light', forcedColors: 'active', reducedMotion: 'reduce' });
    assert.notEqual(await page.run(() => getComputedStyle(document.querySelector('.stack > *')).backgroundColor), 'rgba(0, 0, 0, 0)');
    assert.equal(await page.run(() => document.getAnimations().length), 0);
    await page.page.emulateMedia({ forcedColors: 'none' });
    await page.run(() => [...document.querySelectorAll('#tools button')].find(b => b.getAttribute('aria-label') === 'Dark or light').click());
    assert.equal(await ground(), 'rgb(16, 20, 24)');
    await page.run(() => dispatchEvent(new Event('beforeprint')));
    assert.equal(await ground(), 'rgb(255, 255, 255)', 'paper is light');
    await page.run(() => dispatchEvent(new Event('afterprint')));
    assert.equal(await ground(), 'rgb(16, 20, 24)');
    await page.page.emulateMedia({ media: 'print' });
    assert.equal(await page.run(() => getComputedStyle(document.getElementById('timeline-section')).display), 'none');
    assert.deepEqual(page.quiet(), QUIET);
  });

  await t.test('a browser without DecompressionStream says so above the text', async () => {
    const page = await browser.open();
    await page.context.addInitScript(() => { delete globalThis.DecompressionStream; });
    await page.goto(file('small'));
    assert.match(await text(page, '#trouble'), /lacks DecompressionStream; Chromium from 80/);
    assert.ok(await page.run(() => !document.getElementById('plain').hidden && document.getElementById('page').hidden));
    assert.deepEqual(page.quiet(), QUIET);
  });

  await t.test('without fromBase64 the page opens all the same', async () => {
    const page = await browser.open();
    await page.context.addInitScript(() => { delete Uint8Array.fromBase64; });
    await page.goto(file('small'));
    assert.equal((await text(page, 'h1')).replaceAll('\u00a0', ' '), head.title);
    assert.deepEqual(page.quiet(), QUIET);
  });

  await t.test('a large page: coarser tiles stand until the finer are there, then the view is whole', async () => {
    const page = await browser.open();
    await page.goto(file('large'));
    for (const share of [1, 0.3, 0.01, 0.0001, 1]) {
      await page.run(s => mxprofPage.timeline.show(1e9, 1e9 + 4e9 * s), share);
      await page.until(() => mxprofPage.timeline.scene.isWhole);
      assert.ok(await page.run(() => [...mxprofPage.timeline.scene.rects.values()].reduce((n, list) => n + list.length, 0) > 0));
    }
    assert.deepEqual(page.quiet(), QUIET);
    assert.equal(count(1), '1');
  });
}
