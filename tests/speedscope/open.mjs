// SPDX-License-Identifier: Apache-2.0
// Opens profiles in speedscope itself, in headless Chromium, and prints what its table says of each.
//
//   node open.mjs TASK.json     prints a list: text (of the page with the table), log, errors of each
//
// TASK: modules (folder of node_modules), chromium, profiles.
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { basename, extname, join, normalize, resolve } from 'node:path';

const TIMEOUT_MS = 60000;
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };

// Serves the page, and the profile beside it under /profile/.
async function serve(page, profile) {
  const profileUrl = '/profile/' + encodeURIComponent(basename(profile));
  const server = createServer((request, response) => {
    const path = request.url.split('?')[0];
    const inside = normalize('/' + decodeURIComponent(path));
    const file = path === profileUrl ? profile : join(page, inside === '/' ? 'index.html' : inside);
    if (!existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  });
  await new Promise(ready => server.listen(0, '127.0.0.1', ready));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { server, address: `${origin}/#profileURL=${encodeURIComponent(origin + profileUrl)}` };
}

async function look(modules, profile, page) {
  const errors = [], log = [];
  page.on('pageerror', error => errors.push(String(error)));
  page.on('console', message => log.push(message.text()));
  page.on('dialog', dialog => { errors.push(dialog.message()); dialog.dismiss(); });
  const { server, address } = await serve(resolve(modules, 'node_modules/speedscope/dist/release'),
                                          resolve(profile));
  try {
    await page.goto(address, { timeout: TIMEOUT_MS });
    await page.waitForFunction(() => document.body.innerText.includes('Sandwich'), null, { timeout: TIMEOUT_MS });
    await page.keyboard.press('3');
    await page.waitForFunction(() => /self[^]*Symbol Name[^]*\d/i.test(document.body.innerText), null, { timeout: TIMEOUT_MS });
    return { text: await page.evaluate(() => document.body.innerText), log, errors };
  } finally {
    server.close();
  }
}

const task = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { chromium } = createRequire(resolve(task.modules) + '/')('playwright-core');
const browser = await chromium.launch({
  executablePath: task.chromium,
  args: ['--no-sandbox', '--use-gl=swiftshader', '--enable-unsafe-swiftshader', '--disable-background-networking',
         '--no-first-run', '--disable-component-update', '--disable-sync'],
});
try {
  const seen = [];
  for (const profile of task.profiles) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 800 } });
    seen.push(await look(task.modules, profile, page));
    await page.close();
  }
  console.log(JSON.stringify(seen));
} finally {
  await browser.close();
}
