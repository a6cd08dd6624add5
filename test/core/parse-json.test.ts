import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonInSlices } from '../../src/core/index.ts';

// The parser must return what `JSON.parse` returns, and refuse what it refuses.

const decoder = new TextDecoder('utf-8', { fatal: true });

function expected(bytes: Buffer): { value: unknown } | 'refused' {
  try {
    return { value: JSON.parse(decoder.decode(bytes)) };
  } catch {
    return 'refused';
  }
}

async function actual(bytes: Buffer): Promise<{ value: unknown } | 'refused'> {
  try {
    return { value: await parseJsonInSlices(bytes) };
  } catch (error) {
    assert.ok(error instanceof SyntaxError || error instanceof TypeError);
    return 'refused';
  }
}

/** Returns a generator of numbers from 0 to 1 that depends only on the seed. */
function random(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function anyText(next: () => number): string {
  const parts = ['a', '"', '\\', '\n', '{', '}', '[', ']', ',', ':', 'é', '😀', '\u2028', '\0', ' '];
  const length = Math.floor(next() * (next() < 0.01 ? 40_000 : 12));
  return Array.from({ length }, () => parts[Math.floor(next() * parts.length)]).join('');
}

function anyValue(next: () => number, depth: number): unknown {
  const kind = next();
  if (depth > 3 || kind < 0.3) return anyText(next);
  if (kind < 0.4) return Math.floor(next() * 1e6) / 7;
  if (kind < 0.45) return [true, false, null][Math.floor(next() * 3)];
  const length = Math.floor(next() * (depth < 2 ? 40 : 4));
  if (kind < 0.75) return Array.from({ length }, () => anyValue(next, depth + 1));
  return Object.fromEntries(Array.from({ length }, () => [anyText(next), anyValue(next, depth + 1)]));
}

test('returns what JSON.parse returns for generated texts, and refuses them if a byte is wrong', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const next = random(seed);
    const text = JSON.stringify(anyValue(next, 0), null, next() < 0.5 ? 0 : 2);
    const bytes = Buffer.from(text);
    assert.deepEqual(await actual(bytes), expected(bytes), `seed ${seed}`);
    for (let fault = 0; fault < 5; fault++) {
      const broken = Buffer.from(bytes);
      broken[Math.floor(next() * broken.length)] = [0x2c, 0x22, 0x7d, 0x5d, 0xff, 0x5c][
        Math.floor(next() * 6)
      ]!;
      assert.deepEqual(await actual(broken), expected(broken), `seed ${seed}, fault ${fault}`);
    }
  }
});

test('agrees with JSON.parse at the edges', async () => {
  const long = JSON.stringify('x'.repeat(20_000));
  const spaces = ' '.repeat(20_000);
  const many = Array.from({ length: 20_000 }, (_, i) => i).join(',');
  const texts = [
    ...['', ' ', '1', '"', 'nul', '[]', '{}', '\ufeff{}', `\ufeff[${long}]`],
    ...[`[${spaces}]`, `{${spaces}}`, `[${spaces},${spaces}]`, `[${long},]`, `[,${long}]`, `[${long}`],
    ...[`[${many}]`, `[${many},]`, `[${many}}`, `{${many}}`, `[${many}] ${long}`, `[${many}],1`],
    ...[`{"a":${long},"a":[${many}],"b":1}`, `{"__proto__":[${many}],"c":${long}}`],
    ...[`{"__proto__":1,"c":${long}}`, `{"a"${long}}`, `{a:${long}}`, `{"a":${long},}`, `{${long}:1}`],
    ...[`${'['.repeat(50)}${many}${']'.repeat(50)}`, `[${many}]]`, `[[${many}]`, `{"a":[${many}}]`],
    ...[`[${long}${long}]`, `[${many} ${many}]`, `{"10":${long},"2":[${many}],"x":0}`],
  ];
  for (const text of texts) {
    const bytes = Buffer.from(text);
    const wanted = expected(bytes);
    assert.deepEqual(await actual(bytes), wanted, text.slice(0, 60));
    if (wanted !== 'refused' && typeof wanted.value === 'object' && wanted.value !== null)
      assert.deepEqual(Object.keys((await parseJsonInSlices(bytes)) as object), Object.keys(wanted.value));
  }
  const proto = (await parseJsonInSlices(Buffer.from(`{"__proto__":[${many}]}`))) as object;
  assert.equal(Object.getPrototypeOf(proto), Object.prototype);
  assert.ok(Object.hasOwn(proto, '__proto__'));
});

test('lets other work run while it parses a large text', async () => {
  const bytes = Buffer.from(JSON.stringify(Array.from({ length: 200_000 }, (_, id) => ({ id, name: 'x' }))));
  let turns = 0;
  const counter = setInterval(() => turns++, 0);
  await parseJsonInSlices(bytes);
  clearInterval(counter);
  assert.ok(turns > 2, `${turns} turns`);
});

test('refuses what cannot be divided: many levels, and long strings', async () => {
  const megabyte = 'x'.repeat(1_048_576);
  const levels = (count: number) => `[${'['.repeat(count)}${']'.repeat(count)},"${'x'.repeat(20_000)}"]`;
  const texts = [
    ...[`["${megabyte}"]`, `{"a":"${megabyte}"}`, `{"${megabyte}":1}`, `["${'\\"'.repeat(600_000)}"]`],
    ...[levels(101), `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ...[`${'[1,'.repeat(40)}[${'1,'.repeat(600_000)}1]${']'.repeat(40)}`],
  ];
  for (const text of texts) {
    JSON.parse(text);
    assert.equal(await actual(Buffer.from(text)), 'refused', text.slice(0, 60));
  }
  for (const text of [levels(100), `["${megabyte.slice(2)}"]`, `[${'"\\\\\\"",'.repeat(400_000)}1]`])
    assert.deepEqual(await actual(Buffer.from(text)), { value: JSON.parse(text) }, text.slice(0, 60));
});

test('other work runs while a large text is parsed, whatever it contains', async () => {
  const texts = [
    `[${Array.from({ length: 20_000 }, () => `"${'\\"'.repeat(100)}"`)}]`,
    `${'[{"a":'.repeat(14)}[${Array.from({ length: 400_000 }, (_, i) => i)}]${'}]'.repeat(14)}`,
  ];
  for (const text of texts) {
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await parseJsonInSlices(Buffer.from(text));
    clearImmediate(next);
    assert.ok(turns >= 4, `${turns} turns`);
  }
});
