import type { Random } from '../../core/index.ts';
import { all, run, type Steps } from '../verbs/steps.ts';
import type { Keyring } from './keyring.ts';
import { proofName, proofRow } from './proofs.ts';
import { seal, sealedWith, unseal } from './seal.ts';

/** Tables with encrypted records. */
export const SEALED_TABLES = ['realm', 'client', 'component', 'credential'] as const;
export type SealedTable = (typeof SEALED_TABLES)[number];

/** The result of one page of a table. `last` is the start of the next page, undefined at the end. */
export interface ResealedPage {
  records: number;
  last: string | undefined;
}

/**
 * Stores a proof of the new key in addition to that of the old one. This comes first, so that an interrupted run is
 * detected as unfinished.
 */
export function* beginReseal(keyring: Keyring, random: Random): Steps<void> {
  yield* run('meta.add', proofRow(keyring, random));
}

/** Encrypts with the current key those records of one page that have another key. The page is one transaction. */
export function* resealPage(
  table: SealedTable,
  after: string,
  keyring: Keyring,
  random: Random,
): Steps<ResealedPage> {
  const rows = yield* all(`${table}.sealedAfter`, { after });
  let records = 0;
  for (const row of rows) {
    const { id, sealed } = row;
    if (sealed === null || sealedWith(sealed) === keyring.current.id) continue;
    const identity = `${table}:${id}`;
    const next = seal(unseal(sealed, identity, keyring), identity, keyring, random);
    records += yield* run(`${table}.reseal`, { id, sealed: next, previous: sealed });
  }
  return { records, last: rows.at(-1)?.id };
}

/** Removes the proofs of all other keys. */
export function* endReseal(keyring: Keyring): Steps<void> {
  yield* run('meta.deleteOthers', { pattern: `${proofName('')}%`, name: proofName(keyring.current.id) });
}
