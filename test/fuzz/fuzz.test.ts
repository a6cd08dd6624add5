import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCorpus } from './corpus.ts';
import { findFault, fuzz } from './engine.ts';
import { dictionaryOf, mutate, randomNumbers } from './mutate.ts';
import type { FuzzTarget } from './target.ts';
import { TARGETS } from './targets/table.ts';

/** Number of changed inputs for each target. `npm run fuzz` runs many more, guided by coverage. */
const INPUTS = Number(process.env['IDKIT_TEST_FUZZ_INPUTS'] ?? 150);

/** A reader with a fault that only one word reveals. Each letter of it runs one more block. */
const broken: FuzzTarget = {
  name: 'broken',
  covers: ['fuzz/fuzz.test.ts'],
  dictionary: ['f', 'u', 'z', 'a', 'b', 'c'],
  refusals: [],
  seeds: () => [Buffer.from('....')],
  run(input) {
    if (input[0] !== 0x66) return;
    if (input[1] !== 0x75) return;
    if (input[2] !== 0x7a) return;
    throw new TypeError('the fault');
  },
};

describe('the readers of input from outside', () => {
  for (const target of TARGETS) {
    const inputs = target.isSlow ? Math.ceil(INPUTS / 10) : INPUTS;
    it(`${target.name}: reads or refuses its corpus and ${inputs} changed inputs`, async () => {
      const corpus = await readCorpus(target);
      assert.ok(corpus.length > 0);
      const random = randomNumbers(14);
      const dictionary = dictionaryOf(target.dictionary);
      const changed = Array.from({ length: inputs }, () =>
        mutate(corpus[random(corpus.length)]!, corpus, dictionary, random),
      );
      for (const input of [...corpus, ...changed]) {
        const fault = await findFault(target, input);
        if (fault === undefined || fault === 'refused') continue;
        assert.fail(`${fault}\ninput: ${Buffer.from(input).toString('base64')}`);
      }
    });
  }
});

describe('the fuzzing engine', () => {
  it('finds a fault behind several conditions, because each new block of code is kept', async () => {
    const { finding, corpus } = await fuzz(broken, { seed: 1, milliseconds: 60_000 });
    assert.match(finding?.what ?? 'nothing', /TypeError: the fault/);
    assert.ok(corpus >= 3);
  });

  it('repeats its inputs for the same seed', () => {
    const inputs = (seed: number) => {
      const random = randomNumbers(seed);
      return Array.from({ length: 20 }, () => mutate(Buffer.from('abc'), [], [], random).toString('hex'));
    };
    assert.deepEqual(inputs(7), inputs(7));
    assert.notDeepEqual(inputs(7), inputs(8));
  });
});
