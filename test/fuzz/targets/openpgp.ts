import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkSeal, decryptEnvironment } from '../../../src/backupset/index.ts';
import { Secret } from '../../../src/core/index.ts';
import type { FuzzTarget } from '../target.ts';
import { setOf } from './set-of.ts';

/** The passphrase of the messages in the corpus. gpg made them with a small `--s2k-count`, so that they open quickly. */
const PASSPHRASE = new Secret('correct horse battery staple');
const PLAIN = 'A=b\nSECRET=c\n';

const GOOD = readFileSync(join(import.meta.dirname, '../corpus/seal/good'));
const SUMS_BYTES = GOOD[0]!;

/** env.gpg: no change of a message opens to another text. */
export const openpgpTarget: FuzzTarget = {
  name: 'openpgp',
  covers: ['backupset/openpgp/'],
  dictionary: [
    '\x8c\x0d\x04',
    '\xd2',
    '\xa3',
    '\xcb',
    '\xff\xff\xff\xff',
    '-----BEGIN PGP MESSAGE-----\n\n',
    '-----END PGP MESSAGE-----\n',
    '\xe0',
  ],
  refusals: ['IDKIT_DAMAGED'],
  seeds: () => [],
  isSlow: true,
  async run(input) {
    const opened = await decryptEnvironment(input, PASSPHRASE);
    if (opened.outcome === 'opened') assert.equal(Buffer.from(opened.bytes).toString(), PLAIN);
  },
};

/** A set's seal, after its checksums and their length: only the true pair holds. */
export const sealTarget: FuzzTarget = {
  name: 'seal',
  covers: ['backupset/openpgp/', 'backupset/set/checksums.ts'],
  dictionary: openpgpTarget.dictionary,
  refusals: [],
  seeds: () => [],
  isSlow: true,
  async run(input) {
    const length = input[0] ?? 0;
    const sums = Buffer.from(input.subarray(1, 1 + length));
    const seal = input.subarray(1 + length);
    const set = setOf({ 'checksums.sha256': sums, 'seal.gpg': seal });
    const { seal: state } = await checkSeal(set, PASSPHRASE);
    if (state === 'holds')
      assert.deepEqual(sums, GOOD.subarray(1, 1 + SUMS_BYTES), 'a seal of other checksums holds');
  },
};
