import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  createGzipWriter,
  createSetWriter,
  encryptEnvironment,
  type Manifest,
  parseSetName,
  realmFileName,
  renderManifest,
  type SetPart,
  type SetWriter,
  writeConfigArchive,
} from '../../src/backupset/index.ts';
import { Secret } from '../../src/core/index.ts';

export const PASSPHRASE = new Secret('a passphrase for tests');
export const ENVIRONMENT = 'IDKIT_ADMIN_USERNAME=admin\nIDKIT_ADMIN_PASSWORD=hunter2-hunter2\n';
export const SET_NAME = '20261101_020000';

/** Creates a directory that is removed after the test. */
export async function temporaryDirectory(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'idkit-backupset-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export async function* chunked(content: Uint8Array | string, size = 65_536): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(content as Uint8Array);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** A sink that collects its chunks. */
export function collector() {
  const chunks: Buffer[] = [];
  return {
    write: async (chunk: Uint8Array) => {
      chunks.push(Buffer.from(chunk));
    },
    bytes: () => Buffer.concat(chunks),
  };
}

export async function gzipped(content: Uint8Array | string): Promise<Buffer> {
  const out = collector();
  const gzip = createGzipWriter(out.write);
  await gzip.write(Buffer.from(content as Uint8Array));
  await gzip.end();
  return out.bytes();
}

/** An embedded dump as idkit writes it, with every kind of value. */
export const DUMP = [
  'PRAGMA foreign_keys=OFF;',
  'BEGIN;',
  'CREATE TABLE realm (id TEXT PRIMARY KEY, name TEXT NOT NULL, doc TEXT, sealed BLOB) STRICT;',
  "INSERT INTO realm(id,name,doc,sealed) VALUES('r1','master','{}',X'00ff'),",
  `('r2','it''s "b" ; -- no comment',CAST(X'610062' AS TEXT),NULL);`,
  'CREATE TABLE account (id TEXT PRIMARY KEY, realm_id TEXT, service_account_client TEXT, score REAL);',
  "INSERT INTO account(id,realm_id,service_account_client,score) VALUES('u1','r1',NULL,1.5e3);",
  "INSERT INTO account(id,realm_id,service_account_client,score) VALUES('u2','r1','c1',-9e999),('u3','r2',NULL,9e999),",
  "('u4','r2',NULL,-9223372036854775808);",
  'CREATE UNIQUE INDEX realm_name ON realm (name);',
  'PRAGMA application_id=1768188788;',
  'PRAGMA user_version=1000;',
  'COMMIT;',
  '-- idkit dump complete',
  '',
].join('\n');

export const DUMP_REALMS = [
  { realm: `it's "b" ; -- no comment`, users: 2 },
  { realm: 'master', users: 1 },
];

export interface SampleOptions {
  name?: string;
  parts?: readonly SetPart[];
  dump?: string | Buffer;
  manifest?: (manifest: Manifest) => Manifest | undefined;
  /** If true, creates the set like an older idkit, which wrote no seal. */
  older?: true;
  /** Files that are written after the others and before the manifest. */
  extra?: Record<string, string>;
}

let encrypted: Promise<Uint8Array> | undefined;
let encryptedOlder: Promise<Uint8Array> | undefined;

/** Returns the encrypted environment. Caches it, because hashing the passphrase takes a tenth of a second. */
function encryptedEnvironment(older: boolean): Promise<Uint8Array> {
  if (older) {
    encryptedOlder ??= encryptEnvironment(Buffer.from(ENVIRONMENT), PASSPHRASE);
    return encryptedOlder;
  }
  encrypted ??= encryptEnvironment(Buffer.from(ENVIRONMENT), PASSPHRASE, SET_NAME);
  return encrypted;
}

/** Creates a set as backup does, but does not publish it. */
export async function makeSet(root: string, options: SampleOptions = {}): Promise<SetWriter> {
  const name = options.name ?? SET_NAME;
  const parts = options.parts ?? ['database', 'realms', 'config', 'env'];
  const writer = await createSetWriter(root, name);
  const has = (part: SetPart) => parts.includes(part);
  if (has('database')) {
    const dump = options.dump ?? DUMP;
    await writer.putFile('keycloak-db.sql.gz', Buffer.isBuffer(dump) ? dump : await gzipped(dump));
  }
  const files = new Map(DUMP_REALMS.map(({ realm }) => [realm, realmFileName(realm)]));
  if (has('realms'))
    for (const [realm, file] of files) await writer.putFile(file, `${JSON.stringify({ realm }, null, 2)}\n`);
  if (has('config')) await putConfig(root, writer);
  if (has('env')) await writer.putFile('env.gpg', await encryptedEnvironment(options.older === true));
  for (const [file, content] of Object.entries(options.extra ?? {})) await writer.putFile(file, content);
  const manifest: Manifest = {
    formatVersion: options.older === true ? 1 : 2,
    idkitVersion: '0.1.0',
    startedAt: new Date(parseSetName(name)!).toISOString(),
    parts,
    ...(options.older === true ? {} : { sealed: true }),
    service: { kind: 'idkit', version: '0.1.0' },
    ...(has('database')
      ? { database: { kind: 'sqlite', version: '3.53.4', schemaVersion: 1000, bytes: 4096 } as const }
      : {}),
    realms: DUMP_REALMS.map(({ realm, users }) => ({
      realm,
      ...(has('database') ? { users } : {}),
      ...(has('realms') ? { file: files.get(realm)! } : {}),
    })).filter((one) => 'users' in one || 'file' in one),
    ...(has('realms') ? { realmSource: 'api' as const } : {}),
    files: Object.fromEntries([...writer.files].map(([file, digest]) => [file, digest.bytes])),
    steps: [{ id: 'database', milliseconds: 12 }],
  };
  const edited = options.manifest === undefined ? manifest : options.manifest(manifest);
  if (edited !== undefined) await writer.putFile('manifest.json', renderManifest(edited));
  await writer.writeChecksums();
  if (options.older !== true) await writer.writeSeal(PASSPHRASE);
  return writer;
}

async function putConfig(root: string, writer: SetWriter): Promise<void> {
  const platform = await mkdtemp(join(root, '.platform-'));
  await mkdir(join(platform, 'config/proxy'), { recursive: true });
  await writeFile(join(platform, 'config/proxy/Caddyfile'), 'localhost\n');
  await writeFile(join(platform, 'idkit.yaml'), 'runtime: embedded\n');
  const file = await writer.createFile('config.tar.gz');
  await writeConfigArchive(
    { configDir: join(platform, 'config'), idkitYaml: join(platform, 'idkit.yaml') },
    (chunk) => file.write(chunk),
  );
  await file.close();
  await rm(platform, { recursive: true });
}
