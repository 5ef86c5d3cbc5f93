// SPDX-License-Identifier: Apache-2.0
// Opens a trace in the real Perfetto UI, in headless Chromium, and answers SQL queries about it.
//
//   node check.mjs TASK.json     prints a JSON object: answers, importErrors, pageErrors
//
// TASK: ui (folder of the page), modules (folder of node_modules), chromium, trace, queries (name to
// SQL), and optionally picture (PNG to write), picture_from and picture_to (the times in ns that the
// picture shows, counted from the trace's begin), width, height, expand (track groups to open),
// rest_ms (how long it may draw).
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { basename, extname, join, normalize, resolve } from 'node:path';

const LOAD_TIMEOUT_MS = 90000;
const TYPES = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json',
  '.wasm': 'application/wasm', '.svg': 'image/svg+xml', '.woff2': 'font/woff2', '.png': 'image/png',
};
const IMPORT_ERRORS = `select name, value from stats
  where severity in ('error', 'data_loss') and value > 0`;

// Serves the page, and the trace beside it under /trace/.
async function serve(ui, trace) {
  const traceUrl = '/trace/' + encodeURIComponent(basename(trace));
  const server = createServer((request, response) => {
    const path = request.url.split('?')[0];
    const inside = normalize('/' + decodeURIComponent(path));
    const file = path === traceUrl ? trace : join(ui, inside === '/' ? 'index.html' : inside);
    if (!existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  });
  await new Promise(ready => server.listen(0, '127.0.0.1', ready));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { server, page: `${origin}/#!/?url=${encodeURIComponent(origin + traceUrl)}` };
}

// Runs in the page: all rows of a query; numbers where they are numbers.
async function ask(sql) {
  const result = await self.app.trace.engine.query(sql);
  const rows = [];
  const columns = result.columns();
  for (const row = result.iter({}); row.valid(); row.next()) {
    rows.push(Object.fromEntries(columns.map(column => {
      const value = row.get(column);
      return [column, typeof value === 'bigint' ? Number(value) : value];
    })));
  }
  return rows;
}

// Runs in the page: opens the track groups and shows the wanted stretch of time.
async function arrange({ from, to, expand }) {
  const trace = self.app.trace;
  const open = node => {
    if (expand.some(text => node.name.includes(text))) {
      node.expand();
    }
    node.children.forEach(open);
  };
  trace.workspaces.currentWorkspace.children.forEach(open);
  if (to > from) {
    const start = trace.traceInfo.start;
    trace.timeline.setViewportTime(start + BigInt(from), start + BigInt(to));
  }
  self.app.sidebar?.toggleVisibility?.();
}

async function inspect(task, page) {
  const pageErrors = [];
  page.on('pageerror', error => pageErrors.push(String(error)));
  const { server, page: address } = await serve(resolve(task.ui), resolve(task.trace));
  try {
    await page.goto(address, { timeout: LOAD_TIMEOUT_MS });
    await page.waitForFunction(() => self.app?.trace?.engine !== undefined, null,
                               { timeout: LOAD_TIMEOUT_MS });
    const answers = {};
    for (const [name, sql] of Object.entries(task.queries)) {
      answers[name] = await page.evaluate(ask, sql);
    }
    const importErrors = await page.evaluate(ask, IMPORT_ERRORS);
    if (task.picture) {
      await page.waitForFunction(() => self.app.trace.workspaces.currentWorkspace.children.length > 0,
                                 null, { timeout: LOAD_TIMEOUT_MS });
      await page.evaluate(arrange, { from: task.picture_from ?? 0, to: task.picture_to ?? 0,
                                     expand: task.expand ?? [] });
      await page.waitForTimeout(task.rest_ms ?? 2500);  // tracks are fetched and drawn in the background
      await page.screenshot({ path: task.picture });
    }
    return { answers, importErrors, pageErrors };
  } finally {
    server.close();
  }
}

const task = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { chromium } = createRequire(resolve(task.modules) + '/')('playwright-core');
const browser = await chromium.launch({
  executablePath: task.chromium,
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run',
         '--disable-component-update', '--disable-sync'],
});
try {
  const viewport = { width: task.width ?? 1400, height: task.height ?? 800 };
  console.log(JSON.stringify(await inspect(task, await browser.newPage({ viewport }))));
} finally {
  await browser.close();
}
