import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AdminContext, importRealm } from '../../admin/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import type { ServiceLog } from '../../http/index.ts';
import type { Unenforceable } from '../service.ts';

/** What a start imported. */
export interface ImportedRealms {
  realms: readonly string[];
  unenforced: readonly Unenforceable[];
}

/**
 * Imports every `*.json` of a directory, by name, whose realm does not exist yet; each realm in one transaction
 * (issue: serve). What a realm asks for and the service does not enforce is logged.
 *
 * @throws IDKIT_IMPORT that names file, JSON path and what was expected; nothing of that realm is imported
 */
export async function importRealms(
  directory: string,
  admin: AdminContext,
  log: ServiceLog,
): Promise<ImportedRealms> {
  const realms: string[] = [];
  const unenforced: Unenforceable[] = [];
  for (const name of await listRealmFiles(directory)) {
    const file = join(directory, name);
    const representation = await readRealmFile(file);
    const realm = (representation as { realm?: unknown } | null)?.realm;
    if (typeof realm === 'string' && (await admin.store.findRealm(realm)) !== undefined) continue;
    const imported = await importRealm(admin, representation, { source: file }).catch(
      async (error: unknown) => {
        // Another replica that starts now may have been first.
        if (typeof realm === 'string' && (await admin.store.findRealm(realm)) !== undefined) return undefined;
        throw error;
      },
    );
    if (imported === undefined) continue;
    realms.push(imported.realm);
    log.info(
      { file, realm: imported.realm, users: imported.users, clients: imported.clients },
      'realm imported',
    );
    for (const { path, what, refuses } of imported.unenforced) {
      unenforced.push({ realm: imported.realm, path, what, refuses });
      log.warn({ realm: imported.realm, path, what, refuses }, 'asked for and not enforced yet');
    }
  }
  return { realms, unenforced };
}

async function listRealmFiles(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory)).filter((name) => name.endsWith('.json')).sort();
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return [];
    throw new IdkitError('IDKIT_IMPORT', `${directory} cannot be read`, { cause });
  }
}

async function readRealmFile(file: string): Promise<unknown> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    throw new IdkitError('IDKIT_IMPORT', `${file} cannot be read`, { cause });
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new IdkitError('IDKIT_IMPORT', `${file} is not UTF-8 text`);
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch (error) {
    // The parser's own message quotes the file, which may hold secrets; only the place is told.
    throw new IdkitError('IDKIT_IMPORT', `${file} is not JSON${placeOf(error, text)}`);
  }
}

function placeOf(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  if (position === undefined) return ': it ends too early';
  const before = text.slice(0, Number(position)).split('\n');
  return `: line ${before.length}, column ${before.at(-1)!.length + 1}`;
}
