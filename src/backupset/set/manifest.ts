import { z } from 'zod';
import { IdkitError } from '../../core/index.ts';
import type { Manifest } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { damaged } from '../faults.ts';

const FILE = SET_FILES.manifest;

/** The newest format, which this version writes; it reads the first one, too. */
const FORMAT_VERSION = 2;

/** A manifest is read as a whole; a thousand realms take about 100 KiB. */
export const MANIFEST_MAX_BYTES = 64 * 1024 * 1024;

const count = z.number().int().nonnegative();
const plainName = z.string().regex(/^(?!\.{1,2}$)[^/\0]+$/, 'not a plain file name');

// Unknown members are let through: a later version may add some under the same format version.
const schema = z.object({
  formatVersion: z.literal([1, FORMAT_VERSION]),
  idkitVersion: z.string(),
  startedAt: z.iso.datetime(),
  parts: z.array(z.enum(['database', 'realms', 'config', 'env'])).min(1),
  sealed: z.boolean().exactOptional(),
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

/** Pretty-printed JSON with a line end. */
export function renderManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/**
 * Reads `manifest.json`.
 *
 * @throws IDKIT_DAMAGED naming the member that is wrong; IDKIT_VERSION for a format newer than this idkit's
 */
export function parseManifest(text: Uint8Array): Manifest {
  const value = parseJson(FILE, text);
  const version = (value as { formatVersion?: unknown } | null)?.formatVersion;
  if (Number.isSafeInteger(version) && (version as number) > FORMAT_VERSION)
    throw new IdkitError(
      'IDKIT_VERSION',
      `${FILE}: format version ${version as number} is newer than ${FORMAT_VERSION}, the newest that this idkit reads`,
      { hints: ['use the idkit version that made the set, or a newer one'] },
    );
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw damaged(FILE, `${issue.path.map(String).join('.') || 'the document'}: ${issue.message}`);
  }
  checkSealed(parsed.data);
  checkTwice(parsed.data);
  return parsed.data;
}

/** Format 2 says of every set whether it is sealed: a set from which that was removed does not become an older one. */
function checkSealed({ formatVersion, sealed }: Manifest): void {
  if (formatVersion === 2 && sealed === undefined) throw damaged(FILE, 'sealed: it is missing');
}

function checkTwice(manifest: Manifest): void {
  const names = manifest.realms.map((realm) => realm.realm);
  const files = manifest.realms.flatMap((realm) => realm.file ?? []);
  for (const list of [names, files, manifest.parts])
    if (new Set(list).size !== list.length) throw damaged(FILE, 'a realm, realm file or part is named twice');
}

/** JSON text in UTF-8, strictly. @throws IDKIT_DAMAGED */
export function parseJson(file: string, text: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(text));
  } catch (error) {
    throw damaged(file, 'it is no JSON document', error);
  }
}
