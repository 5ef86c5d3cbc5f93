// SPDX-License-Identifier: Apache-2.0
// The pages of pages.py without a browser: their sections, head and spans, for tests of the modules.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { headOf } from '../../tools/page/head.js';
import { Profile } from '../../tools/page/lod.js';
import { Sections } from '../../tools/page/sections.js';

const FOLDER = process.env.MXPROF_PAGES;

export function sectionsOfPage(name) {
  const { head, sections } = JSON.parse(readFileSync(join(FOLDER, `${name}.sections.json`), 'utf8'));
  return { head, sections: new Sections(key => sections[key] ?? null), texts: sections };
}

export function headBytes(head) {
  return new TextEncoder().encode(JSON.stringify(head));
}

/** {profile, spans}: spans of each track as [begin, duration, kind, depth]. */
export function profileOf(name) {
  const { head, sections } = sectionsOfPage(name), read = headOf(headBytes(head));
  sections.lengths = read.sizes;
  return { profile: new Profile(read, sections), spans: JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) };
}

export async function loadAll(profile) {
  for (let i = 0; i < profile.head.blocks.length; i++) await profile.load(i);
  for (let l = 0; l < profile.head.tiles.length; l++) {
    profile.tile(l);
    await profile.tiles[l];
  }
}

/** Numbers that are the same in every run. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
