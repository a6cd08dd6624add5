import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PAGE, readResults, renderPage, resultsOf } from './page.ts';
import { KINDS, MATRIX } from './rows.ts';

const TESTS = join(import.meta.dirname, '../..');

describe('the fault matrix', () => {
  it('has 20 rows, each with a test on every kind of platform or the reason why it has none', () => {
    assert.deepEqual(
      MATRIX.map(({ number }) => number),
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    for (const { number, proofs, without } of MATRIX)
      for (const kind of KINDS) {
        const count = proofs.filter(({ on }) => on.includes(kind)).length;
        assert.equal(count > 0, without?.[kind] === undefined, `row ${number} on ${kind}`);
      }
  });

  it('names tests that exist', () => {
    for (const { number, proofs } of MATRIX)
      for (const { file, title } of proofs) {
        const source = readFileSync(join(TESTS, file), 'utf8');
        const begins = ["'", '`'].some((quote) =>
          source.includes(`(${quote}${title.replaceAll("'", "\\'")}`),
        );
        const onNewLine = new RegExp(`\\(\\s*['\`]${escapePattern(title)}`).test(source);
        assert.ok(begins || onNewLine || source.includes(`\`${title}`), `row ${number}: ${file}: ${title}`);
      }
  });

  it('is shown in docs/operate/fault-matrix.md with the results of the last run, in which no test failed', () => {
    const results = readResults();
    assert.equal(readFileSync(PAGE, 'utf8'), renderPage(results));
    assert.deepEqual(
      results.tests.filter(({ outcome }) => outcome === 'failed').map(({ title }) => title),
      [],
    );
    for (const { number, proofs } of MATRIX)
      for (const kind of KINDS.filter((one) => one !== 'containers')) {
        const own = proofs.filter(({ on, file }) => on.includes(kind) && !file.startsWith('containers/'));
        if (own.length === 0) continue;
        const ran = own.flatMap((proof) => resultsOf(proof, results.tests, kind));
        assert.ok(
          ran.some(({ outcome }) => outcome === 'passed'),
          `row ${number} ran on ${kind}`,
        );
      }
  });
});

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
