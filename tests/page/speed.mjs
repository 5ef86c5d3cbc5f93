// SPDX-License-Identifier: Apache-2.0
// How fast a page opens and draws, beside what the same browser on the same machine needs at least. Not a test: a bench.
//
//   MXPROF_MODULES=build/browser MXPROF_CHROMIUM=... [MXPROF_FIREFOX=...] node speed.mjs PAGE.html
//
// Prints for each browser: opened_ms (from navigation to the first picture), bare_ms (a page of the same bytes without the
// script), frame_ms (median and 95 % of panning at several zooms, each ended by reading a pixel), unit_ms (10,000 rectangles
// on the same canvas, between the frames), settle_ms (the longest time until a new view was whole), heap_mb, held (decoded spans).
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { browserOf, which } from './browsers.mjs';

const page = resolve(process.argv[2]), ROUNDS = 3;
const bare = `${page}.bare.html`, whole = readFileSync(page), from = whole.indexOf('<script>'), to = whole.indexOf('</script>', from); // what unpacks the page's script
writeFileSync(bare, Buffer.concat([whole.subarray(0, from), Buffer.from('<!--'), whole.subarray(from + 4, to).map(b => (b === 0x2d || b === 0x3e ? 0x20 : b)), Buffer.from('-->'), whole.subarray(to + 9)]));

/** In the page: frames while panning by a twentieth at zooms from the whole to a millionth. */
async function frames() {
  const { timeline, head, profile } = globalThis.mxprofPage, c = timeline.context ?? timeline.canvas.getContext('2d');
  const times = [], settled = [], rectangles = [];
  const read = () => c.getImageData(0, 0, 1, 1), units = [];
  const unit = () => {
    const begun = performance.now();
    for (let k = 0; k < 10000; k++) c.fillRect((k * 7919) % 1300, (k * 31) % 200, 1 + k % 9, 17);
    read();
    units.push(performance.now() - begun);
  };
  for (const share of [1, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6]) {
    const width = head.length * share;
    timeline.show(head.length * 0.45, head.length * 0.45 + width);
    let begun = performance.now();
    do {
      timeline.draw();
      await new Promise(done => setTimeout(done, 0));
    } while (!timeline.scene.isWhole && performance.now() - begun < 10000);
    settled.push(performance.now() - begun);
    for (let i = 0; i < 40; i++) {
      timeline.show(timeline.view.from + width / 20 * (i < 20 ? 1 : -1), timeline.view.to + width / 20 * (i < 20 ? 1 : -1));
      begun = performance.now();
      timeline.draw();
      read();
      const took = performance.now() - begun;
      if (i >= 2) times.push(took);
      if (i % 4 === 0) unit();
      rectangles.push([...timeline.scene.rects.values()].reduce((n, list) => n + list.length / 4, 0));
      await new Promise(done => setTimeout(done, 0));
    }
  }
  const both = list => {
    list.sort((a, b) => a - b);
    return [list[list.length >> 1], list[Math.floor(list.length * 0.95)]];
  };
  return { frame_ms: both(times), unit_ms: both(units), settle_ms: Math.max(...settled), most_rectangles: Math.max(...rectangles),
    held: profile.held, heap_mb: performance.memory ? performance.memory.usedJSHeapSize / 1e6 : null };
}

for (const name of ['chromium', 'firefox'].filter(which)) {
  const browser = await browserOf(name), opened = [], without = [];
  let drawn = null;
  for (let round = 0; round < ROUNDS; round++) {
    const hands = await browser.open();
    await hands.page.goto(`file://${bare}`, { waitUntil: 'load', timeout: 120000 });
    without.push(await hands.run(() => performance.getEntriesByType('navigation')[0].loadEventStart));
    await hands.goto(page);
    await hands.until(() => performance.getEntriesByName('drawn').length > 0);
    opened.push(await hands.run(() => performance.getEntriesByName('drawn')[0].startTime));
    if (round === ROUNDS - 1) drawn = await hands.run(frames);
    await hands.page.close();
  }
  await browser.close();
  console.log(JSON.stringify({ browser: name, opened_ms: opened, bare_ms: without, ...drawn }));
}
unlinkSync(bare);
