// SPDX-License-Identifier: Apache-2.0
// Pictures of a page, to look at and for the documents: its first screen and each of its panels, dark and light, wide and narrow.
//
//   MXPROF_MODULES=build/browser MXPROF_CHROMIUM=... node pictures.mjs FOLDER PAGE.html...
//   ... node pictures.mjs --scene step --look 1400-dark --height 900 FILE.png PAGE.html     one picture
//
// Writes FOLDER/PAGE-SCENE-WIDTH-THEME.png and prints what a page had no picture of, and why.
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';

import { browserOf } from './browsers.mjs';

const WIDTHS = [1400, 700], THEMES = ['light', 'dark'], HEIGHT = 900, TALLEST = 1600;

/** The typical step in view, its path shown, its longest operator chosen, all of it selected. */
async function showStep() {
  const page = globalThis.mxprofPage, { timeline } = page, step = page.typicalStep(page.stepsOf());
  if (step) page.goStep(step);
  else timeline.fit({ from: timeline.head.length * 0.4, to: timeline.head.length * 0.6 });
  if (!timeline.path) page.togglePath();
  timeline.draw();
  await new Promise(done => setTimeout(done, 300));
  timeline.draw();
  const { hits } = timeline.scene, widths = [];
  for (let i = 0; i < hits.length; i += 6) widths.push([hits[i + 2] - hits[i], i]);
  const isOperator = ([, i]) => timeline.head.tracks[hits[i + 3]].what === 'operators';
  const [best] = [...widths].sort((a, b) => isOperator(b) - isOperator(a) || b[0] - a[0]);
  if (best) timeline.focusPlace({ block: hits[best[1] + 4], index: hits[best[1] + 5] });
  timeline.select(step ? { from: step.begin, to: step.end } : { from: timeline.view.from, to: timeline.view.to });
}

/** What is seen and what is to be done before: of the screen, of the whole panel, or of an element. */
const SCENES = {
  first: { of: 'screen', prepare: () => {} },
  step: { of: 'screen', prepare: showStep },
  search: { of: 'screen', prepare: () => globalThis.mxprofPage.setSearch('conv', true) },
  help: { of: 'screen', prepare: () => globalThis.mxprofPage.help() },
  ...Object.fromEntries(['Explain', 'Layers', 'Operators', 'Calls', 'Icicle', 'Memory', 'Path', 'Compare', 'Profile'].map(tab => [tab.toLowerCase(), { of: 'panel', tab }])),
  'what-if': { of: 'panel', tab: 'What-if', prepare: () => globalThis.mxprofPage.toggleWhatif() },
  selection: { of: 'panel', tab: 'Selection', prepare: showStep },
};

/** A panel as far as it reaches, below a screen as tall as it needs. @param {any} hands @param {number} width @param {string} file */
async function picturePanel(hands, width, file) {
  const box = await hands.run(() => {
    const top = document.querySelector('nav').getBoundingClientRect(), panel = document.getElementById('panel').getBoundingClientRect();
    return { y: top.top + scrollY, height: panel.bottom - top.top + 8 };
  });
  const height = Math.min(TALLEST, Math.ceil(box.height));
  await hands.size(width, Math.max(HEIGHT, Math.ceil(box.y + height)));
  await hands.rest(200);
  await hands.page.screenshot({ path: file, clip: { x: 0, y: box.y, width, height } });
}

async function picture(hands, { of, tab, prepare }, width, file) {
  if (tab) await hands.run(name => globalThis.mxprofPage.tabs.choose(name), tab);
  if (prepare) await hands.run(prepare);
  await hands.rest(700);
  if (tab) await hands.run(name => globalThis.mxprofPage.tabs.choose(name), tab);
  await hands.rest(300);
  if (of === 'panel') await picturePanel(hands, width, file);
  else await hands.page.screenshot({ path: file });
}

async function pictureOf(browser, page, scene, [width, theme], file, height = HEIGHT) {
  const hands = await browser.open({ width, height, colorScheme: theme });
  await hands.goto(page);
  await hands.rest(200);
  await picture(hands, scene, width, file);
  const { console: words, errors } = hands.quiet();
  for (const word of [...words, ...errors]) console.log(`${file}: ${word}`);
  await hands.page.close();
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { scene: { type: 'string' }, look: { type: 'string' }, height: { type: 'string' }, only: { type: 'string' } } });
const [to, ...pages] = positionals, browser = await browserOf('chromium');
try {
  if (values.scene) {
    const [width, theme] = (values.look ?? '1400-light').split('-');
    await pictureOf(browser, pages[0], SCENES[values.scene], [Number(width), theme], to, Number(values.height ?? HEIGHT));
  } else {
    mkdirSync(to, { recursive: true });
    const only = values.only ? values.only.split(',') : Object.keys(SCENES);
    for (const page of pages) {
      for (const name of only) {
        for (const width of WIDTHS) for (const theme of THEMES) await pictureOf(browser, page, SCENES[name], [width, theme], join(to, `${basename(page, '.html')}-${name}-${width}-${theme}.png`));
      }
    }
  }
} finally {
  await browser.close();
}
