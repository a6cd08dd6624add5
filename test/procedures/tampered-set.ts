import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  decryptEnvironment,
  encryptEnvironment,
  type Manifest,
  makeSeal,
  SET_FILES,
} from '../../src/backupset/index.ts';
import type { Secret } from '../../src/core/index.ts';
import { dumpSqlite } from '../../src/store/open.ts';
import { makeOlderSqlite } from '../store/older-schema.ts';
import { PASSPHRASE } from './platform.ts';

interface Place {
  dir: string;
}

/**
 * Writes the changed files, and updates the checksums and an existing seal, as only a person with the passphrase can. A
 * file whose content is undefined is removed.
 */
export async function listAnew(
  set: Place,
  changed: Readonly<Record<string, Uint8Array | undefined>>,
): Promise<void> {
  const file = join(set.dir, SET_FILES.checksums);
  const lines = new Map(
    (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(66), line]),
  );
  for (const [name, bytes] of Object.entries(changed)) {
    if (bytes === undefined) {
      await rm(join(set.dir, name));
      lines.delete(name);
      continue;
    }
    await writeFile(join(set.dir, name), bytes);
    lines.set(name, `${createHash('sha256').update(bytes).digest('hex')}  ${name}`);
  }
  await writeFile(file, `${[...lines.values()].join('\n')}\n`);
  await sealAnew(set);
}

/** Writes the checksums again, like a thief who can write the set but does not know the passphrase. */
export async function listAsThief(set: Place): Promise<void> {
  const names = (await readdir(set.dir)).filter((name) => !/^(checksums\.sha256|seal\.gpg)$/.test(name));
  const lines = await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(set.dir, name));
      return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;
    }),
  );
  await writeFile(join(set.dir, SET_FILES.checksums), lines.join(''));
}

/** Changes a set as if an older idkit had created it: without a seal, and with manifest format 1. */
export async function makeUnsealed(set: Place): Promise<void> {
  await rm(join(set.dir, SET_FILES.seal));
  const message = await readFile(join(set.dir, SET_FILES.environment));
  const opened = await decryptEnvironment(message, PASSPHRASE);
  if (opened.outcome !== 'opened') throw new Error(`env.gpg: ${opened.outcome}`);
  await putEnvironment(set, opened.bytes);
  await changeManifest(set, ({ sealed: _, ...rest }) => ({ ...rest, formatVersion: 1 }));
}

/** Seals a set in its current state, like the owner of its passphrase. */
export async function sealByHand(set: Place, passphrase: Secret): Promise<void> {
  const list = await readFile(join(set.dir, SET_FILES.checksums));
  const sha256 = createHash('sha256').update(list).digest('hex');
  await writeFile(join(set.dir, SET_FILES.seal), await makeSeal(basename(set.dir), sha256, passphrase));
}

/** Writes the seal again, if there is one. */
async function sealAnew(set: Place): Promise<void> {
  if (existsSync(join(set.dir, SET_FILES.seal))) await sealByHand(set, PASSPHRASE);
}

/** Replaces the manifest with the result of `change`, and updates the checksums and an existing seal. */
export async function changeManifest(set: Place, change: (manifest: Manifest) => object): Promise<void> {
  const manifest = JSON.parse(await readFile(join(set.dir, SET_FILES.manifest), 'utf8')) as Manifest;
  await listAnew(set, { [SET_FILES.manifest]: Buffer.from(JSON.stringify(change(manifest))) });
}

/** Replaces the content of a file, and its size in an existing manifest. */
export async function putContent(set: Place, name: string, bytes: Uint8Array): Promise<void> {
  await listAnew(set, { [name]: bytes });
  const manifest = await readFile(join(set.dir, SET_FILES.manifest)).catch(() => undefined);
  if (manifest === undefined) return;
  await changeManifest(set, (all) => ({ ...all, files: { ...all.files, [name]: bytes.length } }));
}

/** Changes the SQL of the dump. */
export async function changeDump(set: Place, change: (sql: string) => string): Promise<void> {
  const sql = gunzipSync(await readFile(join(set.dir, SET_FILES.dump))).toString('latin1');
  await putContent(set, SET_FILES.dump, gzipSync(Buffer.from(change(sql), 'latin1')));
}

/** Sets the schema version of the dump and of an existing manifest. */
export async function makeNewer(set: Place, version: number): Promise<void> {
  await changeDump(set, (sql) => sql.replace(/PRAGMA user_version=\d+/, `PRAGMA user_version=${version}`));
  const manifest = await readFile(join(set.dir, SET_FILES.manifest)).catch(() => undefined);
  if (manifest === undefined) return;
  await changeManifest(set, (all) => ({ ...all, database: { ...all.database, schemaVersion: version } }));
}

/** Downgrades the dump to the first schema: removes everything that later schemas added. */
export async function makeOlder(set: Place): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'idkit-test-older-'));
  const [current, file] = [join(dir, 'current.db'), join(dir, 'older.db')];
  const loaded = new DatabaseSync(current);
  loaded.exec(gunzipSync(await readFile(join(set.dir, SET_FILES.dump))).toString());
  loaded.close();
  makeOlderSqlite(current, file, 1);
  const chunks: Uint8Array[] = [];
  await dumpSqlite(file, async (chunk) => void chunks.push(Buffer.from(chunk)));
  await rm(dir, { recursive: true });
  await putContent(set, SET_FILES.dump, gzipSync(Buffer.concat(chunks)));
  await changeManifest(set, (all) => ({ ...all, database: { ...all.database, schemaVersion: 1 } }));
}

/** Replaces the set's `env.gpg` with `text`, encrypted with the passphrase. */
export async function putEnvironment(set: Place, text: string | Uint8Array): Promise<void> {
  const message = await encryptEnvironment(Buffer.from(text as Uint8Array), PASSPHRASE);
  await putContent(set, SET_FILES.environment, message);
}
