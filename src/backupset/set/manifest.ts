import { z } from 'zod';
import { IdkitError, jsonFields } from '../../core/index.ts';
import type { Manifest } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { damaged } from '../faults.ts';

const FILE = SET_FILES.manifest;

/** The newest format. This version writes it for encrypted sets, and format 2 for others. It also reads format 1. */
const FORMAT_VERSION = 3;

/** Maximum size in bytes, because a manifest is read as a whole. With a thousand realms it has about 100 KiB. */
export const MANIFEST_MAX_BYTES = 64 * 1024 * 1024;

const count = z.number().int().nonnegative();
const plainName = z.string().regex(/^(?!\.{1,2}$)[^/\0]+$/, 'not a plain file name');

// Unknown members are accepted: a later version may add some under the same format version.
const schema = z.object({
  formatVersion: z.literal([1, 2, FORMAT_VERSION]),
  idkitVersion: z.string(),
  startedAt: z.iso.datetime(),
  parts: z.array(z.enum(['database', 'realms', 'config', 'env'])).min(1),
  sealed: z.boolean().exactOptional(),
  encryption: z
    .object({ to: z.enum(['passphrase', 'keys']), fingerprints: z.array(z.string()) })
    .exactOptional(),
  service: z.object({ kind: z.enum(['idkit', 'keycloak']), version: z.string() }),
  database: z
    .object({
      kind: z.enum(['sqlite', 'postgres']),
      version: z.string(),
      schemaVersion: count,
      bytes: count,
    })
    .exactOptional(),
  realms: z.array(
    z.object({ realm: z.string(), users: count.exactOptional(), file: plainName.exactOptional() }),
  ),
  realmSource: z.enum(['api', 'snapshot']).exactOptional(),
  files: z.record(plainName, count),
  steps: z.array(z.object({ id: z.string(), milliseconds: z.number().nonnegative() })),
});

/** Renders a manifest as indented JSON that ends with a line feed. */
export function renderManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/**
 * Parses `manifest.json`.
 *
 * @throws IDKIT_DAMAGED with the name of the wrong member; IDKIT_VERSION for a newer format than this idkit reads
 */
export function parseManifest(text: Uint8Array): Manifest {
  const value = parseJson(FILE, text);
  const version = jsonFields(value)['formatVersion'];
  if (typeof version === 'number' && Number.isSafeInteger(version) && version > FORMAT_VERSION)
    throw new IdkitError(
      'IDKIT_VERSION',
      `${FILE}: format version ${version} is newer than ${FORMAT_VERSION}, the newest version that this idkit reads`,
      { hints: ['use the idkit version that created the set, or a newer version'] },
    );
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw damaged(FILE, `${issue?.path.map(String).join('.') || 'the document'}: ${issue?.message}`);
  }
  checkSealed(parsed.data);
  checkEncryption(parsed.data);
  checkDuplicates(parsed.data);
  return parsed.data;
}

/** Checks that a manifest has `sealed` since format 2, so that its set cannot pass for a set of the older format. */
function checkSealed({ formatVersion, sealed }: Manifest): void {
  if (formatVersion >= 2 && sealed === undefined) throw damaged(FILE, 'sealed: the member is missing');
}

/** Checks that a manifest has `encryption` if and only if it has format 3, and that it then names no realms. */
function checkEncryption({ formatVersion, encryption, realms }: Manifest): void {
  if (formatVersion === 3 && encryption === undefined)
    throw damaged(FILE, 'encryption: the member is missing');
  if (formatVersion !== 3 && encryption !== undefined)
    throw damaged(FILE, `encryption: a manifest of format ${formatVersion} has no such member`);
  if (formatVersion === 3 && realms.length > 0)
    throw damaged(FILE, 'realms: an encrypted set names no realms');
}

function checkDuplicates(manifest: Manifest): void {
  const names = manifest.realms.map((realm) => realm.realm);
  const files = manifest.realms.flatMap((realm) => realm.file ?? []);
  for (const list of [names, files, manifest.parts])
    if (new Set(list).size !== list.length) throw damaged(FILE, 'it lists a realm, realm file or part twice');
}

/** Parses JSON in strict UTF-8. @throws IDKIT_DAMAGED */
export function parseJson(file: string, text: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(text));
  } catch (error) {
    throw damaged(file, 'it is not a JSON document', error);
  }
}
