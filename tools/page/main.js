// SPDX-License-Identifier: Apache-2.0
// Opens the page. The script stands before the sections, so it begins when the document is whole; what goes wrong is told above
// the plain text, which then stands.
import { bytesOfBase64, Damage } from './bytes.js';
import { byId } from './dom.js';
import { headOf } from './head.js';
import { idOf } from './links.js';
import { Page } from './page.js';
import { sectionsOf } from './sections.js';
import { cutWords, trouble } from './whole.js';

/** What the page needs and this browser lacks. */
function missing() {
  return [['DecompressionStream', 'DecompressionStream' in globalThis], ['ResizeObserver', 'ResizeObserver' in globalThis], ['Array.prototype.flatMap', 'flatMap' in Array.prototype]].flatMap(([what, there]) => (there ? [] : [String(what)]));
}

async function start() {
  const lacks = missing();
  if (lacks.length) throw new Damage(`this browser lacks ${lacks.join(', ')}; Chromium from 80, Firefox from 113 and Safari from 16.4 have it. The verdict as text follows`);
  const sections = sectionsOf(document);
  sections.onproblem = (section, what) => trouble('A part of this page is damaged', `section ${section} ${what}`);
  const head = await sections.read('head', headOf);
  sections.lengths = head.sizes;
  const page = new Page(head, sections, idOf(bytesOfBase64((sections.textOf('head') ?? '').trim())));
  page.open();
  setTimeout(() => {
    const cut = cutWords();
    if (cut) trouble('This page is not whole', cut);
  }, 0);
  Object.assign(globalThis, { mxprofPage: page });
}

/** Without the head nothing can be drawn; the plain text stands. */
function begin() {
  start().catch(error => {
    byId('page').hidden = true;
    byId('plain').hidden = false;
    const cut = document.getElementById('x-end') ? '' : ' This page was cut.';
    trouble('This page cannot be shown', `${error instanceof Damage ? '' : 'an error in the page: '}${error instanceof Error ? error.message : String(error)}.${cut}`);
  });
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin);
else begin();
