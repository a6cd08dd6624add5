import type { Random } from '../../core/index.ts';
import { all, run, type Steps } from '../verbs/steps.ts';
import type { Keyring } from './keyring.ts';
import { proofName, proofRow } from './proofs.ts';
import { seal, sealedWith, unseal } from './seal.ts';

/**
 * Tables with encrypted records, in the order in which a rotation handles them. The bin comes first and last, because
 * meanwhile other processes may delete and restore records.
 */
export const SEALED_TABLES = [
  'trash_part',
  'realm',
  'client',
  'component',
  'credential',
  'trash_part',
] as const;
export type SealedTable = (typeof SEALED_TABLES)[number];

/** The result of one page of a table. The next page starts after `last`, which is undefined after the last page. */
export interface ResealedPage {
  records: number;
  last: string | undefined;
}

/**
 * Stores a proof of the new key in addition to that of the old one. A rotation starts with this step, so that an
 * interrupted one is detected as unfinished.
 */
export function* beginReseal(keyring: Keyring, random: Random): Steps<void> {
  yield* run('meta.add', proofRow(keyring, random));
}

/**
 * Encrypts the records of one page with the current key, except those that are already encrypted with it. The caller
 * must run it in one transaction.
 */
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
    const identity = table === 'trash_part' ? identityOfPart(id) : `${table}:${id}`;
    const next = seal(unseal(sealed, identity, keyring), identity, keyring, random);
    records += yield* run(`${table}.reseal`, { id, sealed: next, previous: sealed });
  }
  return { records, last: rows.at(-1)?.id };
}

/** Returns the identity of the row that a part of the bin was copied from, because its blob is bound to it. */
export function identityOfPart(id: string): string {
  const [, table, key] = /^[^/]*\/([^/]*)\/(.*)$/s.exec(id) ?? [];
  return `${table}:${key}`;
}

/** Removes the proofs of all other keys. */
export function* endReseal(keyring: Keyring): Steps<void> {
  yield* run('meta.deleteOthers', { pattern: `${proofName('')}%`, name: proofName(keyring.current.id) });
}
