import { createHash } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { decode } from '../../seed.ts';
import { readEnvironment } from '../../service.ts';

/** Signs refresh tokens of sessions that exist only as rows. */
export interface TokenMint {
  /** The id of the session and of the token family of the login that is copied. */
  readonly sessionId: string;
  readonly familyId: string;
  sign(ids: {
    sessionId: string;
    familyId: string;
    userId: string;
  }): Promise<{ token: string; hash: Buffer }>;
}

/** What opens the database of a platform: a file, or an address and its password. */
export type Database = { file: string } | { url: string; password: string };

/**
 * Opens the mint of the realm `rs` with the modules of the checkout that serves the database. An older checkout has the
 * same exports.
 *
 * @param token a refresh token of a real login, whose claims all other tokens have, except for the ids and the end
 */
export async function openMint(
  checkout: string,
  dir: string,
  database: Database,
  token: string,
): Promise<TokenMint> {
  const load = (path: string) => import(pathToFileURL(join(checkout, 'src', path)).href);
  const [{ openStore }, { openKeyRing }, { signJws }, { Secret }] = await Promise.all([
    load('store/open.ts'),
    load('protocol/index.ts'),
    load('crypto/index.ts'),
    load('core/index.ts'),
  ]);
  const masterKey = new Secret(readEnvironment(dir)['IDKIT_MASTER_KEY'] ?? '');
  const place =
    'file' in database
      ? { file: database.file }
      : { postgres: { url: database.url, password: new Secret(database.password) } };
  const store = await openStore({ ...place, masterKey, mode: 'read' });
  const realm = await store.findRealm('rs');
  await store.close();
  const key = await openKeyRing().signingKey(realm, 'HS512');
  const claims = decode(token);
  const exp = Math.floor(Date.now() / 1000) + 59 * 86_400;
  return {
    sessionId: String(claims['sid']),
    familyId: String(claims['reuse_id']),
    async sign({ sessionId, familyId, userId }) {
      const ids = { sid: sessionId, reuse_id: familyId, sub: userId, jti: familyId };
      const signed: string = await signJws(key, { ...claims, ...ids, exp });
      return { token: signed, hash: createHash('sha256').update(signed).digest() };
    },
  };
}

/** Writes tokens to a file, one per line. The load reads and replaces the file. */
export function tokenFile(file: string): { add(tokens: readonly string[]): void } {
  writeFileSync(file, '');
  return { add: (tokens) => appendFileSync(file, tokens.map((token) => `${token}\n`).join('')) };
}
