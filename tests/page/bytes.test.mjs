// SPDX-License-Identifier: Apache-2.0
// Sections as bytes: every length of varint, what is refused, and what a second writer made (page_writer.py).
import assert from 'node:assert/strict';
import test from 'node:test';

import { bytesOfBase64, columnsOf, Damage, doubles, gunzip, MAGIC, signedVarints, sums, varints } from '../../tools/page/bytes.js';
import { headOf } from '../../tools/page/head.js';
import { Sections } from '../../tools/page/sections.js';
import { gzipSync } from 'node:zlib';
import { headBytes, loadAll, profileOf, random, sectionsOfPage } from './fixture.mjs';

function leb(values) {
  const out = [];
  for (let value of values.map(BigInt)) {
    while (value > 127n) {
      out.push(Number(value & 127n) | 128);
      value >>= 7n;
    }
    out.push(Number(value));
  }
  return Uint8Array.from(out);
}

const LENGTHS = Array.from({ length: 53 }, (_, i) => [2 ** i - 1, 2 ** i, 2 ** (i + 1) - 1]).flat();

test('varints of every length to 53 bits are exact', () => {
  const bytes = leb(LENGTHS);
  assert.deepEqual([...varints(bytes, new Float64Array(LENGTHS.length))], LENGTHS);
});

test('numbers of more than 53 bits, cut ones and ones that are left over are refused', () => {
  const one = new Float64Array(1);
  for (const bad of [leb([2n ** 53n]), leb([2n ** 64n - 1n]), Uint8Array.of(0x80), Uint8Array.of(), Uint8Array.of(1, 2), new Uint8Array(11).fill(0xff)]) {
    assert.throws(() => varints(bad, one), Damage);
  }
  assert.throws(() => varints(leb([300]), new Uint8Array(1), 256), Damage);
});

test('zigzag and running sums', () => {
  const values = [0, -1, 1, -2, 2 ** 51, -(2 ** 51)];
  const bytes = leb(values.map(v => (v >= 0 ? 2n * BigInt(v) : -2n * BigInt(v) - 1n)));
  assert.deepEqual([...signedVarints(bytes, values.length)], values);
  assert.deepEqual([...sums(Float64Array.of(0, 5, 2), 100)], [100, 105, 107]);
});

test('columns: magic, lengths, further columns, doubles', () => {
  const make = (magic, columns, extra = 0) => {
    const out = new Uint8Array(12 + 4 * columns.length + columns.reduce((n, c) => n + c.length, 0) + extra), view = new DataView(out.buffer);
    [magic, 1, columns.length, ...columns.map(c => c.length)].forEach((n, i) => view.setUint32(4 * i, n, true));
    let at = 12 + 4 * columns.length;
    for (const column of columns) {
      out.set(column, at);
      at += column.length;
    }
    return out;
  };
  const good = make(MAGIC, [leb([7]), leb([8]), leb([9])]);
  assert.equal(columnsOf(good, 2).columns.length, 3);
  for (const bad of [make(MAGIC + 1, [leb([7])]), make(MAGIC, [leb([7])], 1), good.subarray(0, good.length - 1), good.subarray(0, 11), new Uint8Array(0)]) {
    assert.throws(() => columnsOf(bad, 1), Damage);
  }
  assert.throws(() => columnsOf(good, 4), Damage);
  assert.deepEqual([...doubles(new Uint8Array(new Float64Array([1.5, -2]).buffer), 2)], [1.5, -2]);
  assert.throws(() => doubles(new Uint8Array(9), 1), Damage);
});

test('a section that unpacks to more than it says is not read further', async () => {
  const bomb = gzipSync(new Uint8Array(50 << 20));
  await assert.rejects(gunzip(bomb, 1000), /longer than/);
  await assert.rejects(gunzip(new Uint8Array(30), 1000), /does not decompress/);
  assert.throws(() => bytesOfBase64('@@@'), Damage);
});

test('every flipped byte of a section is found, and every cut', async () => {
  const { texts } = sectionsOfPage('small'), whole = bytesOfBase64(texts.b0), random_ = random(3), good = await gunzip(whole, 1e6);
  let found = 0;
  for (let i = 0; i < 200; i++) {
    const bytes = whole.slice();
    if (i % 2) {
      const at = 10 + Math.floor(random_() * (bytes.length - 10)); // the ten before have no checksum, by gzip's format
      bytes[at] ^= 1 << Math.floor(random_() * 8);
    }
    try {
      const got = await gunzip(i % 2 ? bytes : bytes.subarray(0, Math.floor(random_() * bytes.length)), 1e6);
      assert.deepEqual(got, good); // bits that nothing depends on: padding, another copy of the same bytes
    } catch (error) {
      assert.ok(error instanceof Damage, error.stack);
      found++;
    }
  }
  assert.ok(found > 190, `${found} of 200`);
});

test('blocks and tiles are what the second writer put in', async () => {
  for (const name of ['small', 'large', 'one', 'huge']) {
    const { profile, spans } = profileOf(name), { head } = profile;
    await loadAll(profile);
    assert.equal(profile.damaged.size, 0, name);
    const seen = head.tracks.map(() => []);
    head.blocks.forEach((info, n) => {
      const block = profile.decoded.get(n);
      for (let i = 0; i < block.count; i++) seen[info.track].push([block.begin[i], block.duration[i], block.kind[i], block.depth[i]]);
    });
    const order = (a, b) => a[0] - b[0] || b[1] - a[1] || a[3] - b[3];
    seen.forEach((list, track) => assert.deepEqual(list.sort(order), spans[track].sort(order), `${name} track ${track}`));
  }
});

test('a head with anything missing or of another kind is refused with a sentence, never otherwise', () => {
  const { head } = sectionsOfPage('small');
  assert.ok(headOf(headBytes(head)));
  const values = [null, undefined, -1, 1e300, 'text', [], [[]], [null], {}, [{}], [[1, 2, 3]], NaN, true];
  for (const key of Object.keys(head)) {
    for (const value of values) {
      const changed = { ...head, [key]: value };
      try {
        headOf(headBytes(changed));
      } catch (error) {
        assert.ok(error instanceof Damage, `${key} = ${JSON.stringify(value)}: ${error.stack}`);
      }
    }
  }
  for (const text of ['', '{', 'null', '[]', '3']) assert.throws(() => headOf(new TextEncoder().encode(text)), Damage);
});

test('a missing section, one that is no base64 and one that fails to decode are each told once', async () => {
  const told = [], sections = new Sections(name => ({ bad: '@@', odd: Buffer.from(gzipSync('x')).toString('base64') })[name] ?? null);
  sections.onproblem = (name, what) => told.push(`${name} ${what}`);
  for (const name of ['none', 'bad', 'odd', 'odd']) {
    await assert.rejects(sections.read(name, () => {
      throw new TypeError('no such thing');
    }), Damage);
  }
  assert.deepEqual(told.map(line => line.split(' ')[0]), ['none', 'bad', 'odd']);
});
