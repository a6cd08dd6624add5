import type { PoolClient } from 'pg';
import type { Random } from '../../core/index.ts';
import type { Keyring } from '../sealing/keyring.ts';
import { beginReseal, endReseal, resealPage, SEALED_TABLES } from '../sealing/reseal.ts';
import { advance } from './transactions.ts';

/**
 * Encrypts every record with the keyring's current key, page by page in separate transactions. If another process
 * writes a record meanwhile, that record is encrypted with that process's key.
 */
export async function resealAll(
  client: PoolClient,
  keyring: Keyring,
  random: Random,
): Promise<{ records: number }> {
  await advance(client, beginReseal(keyring, random));
  let records = 0;
  for (const table of SEALED_TABLES) {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const from: string = after;
      const page = await inTransaction(client, () =>
        advance(client, resealPage(table, from, keyring, random)),
      );
      records += page.records;
      after = page.last;
    }
  }
  await advance(client, endReseal(keyring));
  return { records };
}

async function inTransaction<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const value = await work();
    await client.query('COMMIT');
    return value;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}
