// SPDX-License-Identifier: Apache-2.0
// Real browsers behind one small face: Chromium by playwright-core, Firefox by puppeteer-core (WebDriver BiDi). Every request
// but the page's own file, every word on the console and every uncaught error is kept for the test to look at.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const MODULES = process.env.MXPROF_MODULES, TIMEOUT_MS = 60000;

/** Where a browser is, or why it is not used. */
export function which(name) {
  const path = process.env[`MXPROF_${name.toUpperCase()}`];
  return path && existsSync(path) ? path : null;
}

function watch(page, isFirefox) {
  const seen = { requests: [], console: [], errors: [] };
  page.on('request', request => {
    const url = request.url();
    if (!/^(file|blob|data):/.test(url)) seen.requests.push(url);
  });
  page.on('console', message => seen.console.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', error => seen.errors.push(String(error?.stack ?? error)));
  if (!isFirefox) page.on('crash', () => seen.errors.push('the page crashed'));
  return seen;
}

/** A page's hands: the same for both browsers. */
class Hands {
  constructor(page, isFirefox) {
    this.page = page;
    this.isFirefox = isFirefox;
    this.seen = watch(page, isFirefox);
  }

  async goto(file, hash = '') {
    await this.page.goto(`file://${resolve(file)}${hash}`, { timeout: TIMEOUT_MS, waitUntil: 'load' });
    await this.until(() => Boolean(globalThis.mxprofPage) || !document.getElementById('trouble').hidden);
    await this.rest();
  }

  run(f, ...values) {
    return this.page.evaluate(`(${f})(...${JSON.stringify(values)})`); // as text, which the page's policy does not see
  }

  async until(f, ...values) {
    const end = Date.now() + 20000;
    for (;;) {
      const got = await this.run(f, ...values).catch(() => null);
      if (got) return got;
      if (Date.now() > end) throw new Error(`never true: ${f}`);
      await this.rest(20);
    }
  }

  rest(ms = 60) {
    return new Promise(done => setTimeout(done, ms));
  }

  /** "Shift+n", "Control+a", "]". */
  async press(keys) {
    const parts = keys.length > 1 && keys.includes('+') && keys !== '+' ? keys.split('+') : [keys];
    const held = parts.slice(0, -1), last = parts.at(-1) || '+';
    for (const key of held) await this.page.keyboard.down(key);
    await this.page.keyboard.press(this.isFirefox && last === 'Space' ? ' ' : last);
    for (const key of held.reverse()) await this.page.keyboard.up(key);
    await this.rest();
  }

  async type(text) {
    await this.page.keyboard.type(text);
    await this.rest();
  }

  move(x, y) {
    return this.page.mouse.move(x, y);
  }

  async click(x, y, button = 'left') {
    await this.page.mouse.click(x, y, { button });
    await this.rest();
  }

  async doubleClick(x, y) {
    await this.page.mouse.click(x, y, this.isFirefox ? { count: 2 } : { clickCount: 2 });
    await this.rest(120);
  }

  async drag([x0, y0], [x1, y1], { key, button = 'left' } = {}) {
    if (key) await this.page.keyboard.down(key);
    await this.move(x0, y0);
    await this.page.mouse.down({ button });
    await this.move((x0 + x1) / 2, (y0 + y1) / 2);
    await this.move(x1, y1);
    await this.page.mouse.up({ button });
    if (key) await this.page.keyboard.up(key);
    await this.rest(120);
  }

  async wheel(x, y, { dx = 0, dy = 0, key } = {}) {
    await this.move(x, y);
    if (key) await this.page.keyboard.down(key);
    if (this.isFirefox) await this.page.mouse.wheel({ deltaX: dx, deltaY: dy });
    else await this.page.mouse.wheel(dx, dy);
    if (key) await this.page.keyboard.up(key);
    await this.rest(120);
  }

  size(width, height) {
    return this.isFirefox ? resized(this.page, { width, height }) : this.page.setViewportSize({ width, height });
  }

  /** What the page must never do. */
  quiet() {
    return { requests: this.seen.requests, console: this.seen.console, errors: this.seen.errors };
  }
}

/** Sets the size of a page in Firefox. With it goes an orientation, which older releases do not know. */
async function resized(page, size) {
  try {
    await page.setViewport(size);
  } catch (error) {
    if (!String(error).includes('unknown command emulation.setScreenOrientationOverride')) throw error;
  }
}

/** Opens a browser; `open` gives pages, `close` ends it. */
export async function browserOf(name) {
  const executablePath = which(name), load = createRequire(`${resolve(MODULES)}/`);
  if (name === 'firefox') {
    const browser = await load('puppeteer-core').launch({ browser: 'firefox', executablePath, headless: true });
    return { name, open: async ({ width = 1400, height = 900 } = {}) => {
      const page = await browser.newPage();
      await resized(page, { width, height });
      return new Hands(page, true);
    }, close: () => browser.close() };
  }
  const browser = await load('playwright-core').chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking', '--no-first-run', '--disable-component-update', '--disable-sync'] });
  return { name, open: async ({ width = 1400, height = 900, ...more } = {}) => {
    const context = await browser.newContext({ viewport: { width, height }, acceptDownloads: true, ...more });
    const hands = new Hands(await context.newPage(), false);
    hands.context = context;
    return hands;
  }, close: () => browser.close() };
}

export const QUIET = { requests: [], console: [], errors: [] };
