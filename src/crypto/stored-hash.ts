import { type JsonObject, parseJsonObject } from '../core/index.ts';
import type { Credential } from '../model/index.ts';
import type { HashPolicy } from './contract.ts';
import { type HashParameters, mostIterations, parametersFor } from './hash-parameters.ts';

/** A stored password hash, parsed from Keycloak's two JSON texts. */
export interface StoredHash {
  parameters: HashParameters;
  salt: Buffer;
  hash: Buffer;
}

/** Limits of a stored hash. Imported hashes can have any parameters, and an expensive one could exhaust the service. */
const MOST = {
  /** In kibibytes. Each thread can need this much. */
  argon2Memory: 256 * 1024,
  argon2Parallelism: 16,
  bytes: 1024,
} as const;

/**
 * Parses a stored hash. Returns undefined if its algorithm or parameters are unknown, or if it needs more resources
 * than a login is allowed to use. Such a hash never matches.
 */
export function readStoredHash(
  stored: Pick<Credential, 'secretData' | 'credentialData'>,
): StoredHash | undefined {
  const known = parseStoredHash(stored);
  return known === undefined || findExcess(known) !== undefined ? undefined : known;
}

/**
 * Describes the parameter of a stored hash that exceeds a limit. Returns undefined if all parameters are within the
 * limits.
 */
export function findHashExcess(
  stored: Pick<Credential, 'secretData' | 'credentialData'>,
): string | undefined {
  const known = parseStoredHash(stored);
  return known === undefined ? undefined : findExcess(known);
}

function findExcess({ parameters, salt, hash }: StoredHash): string | undefined {
  if (salt.length > MOST.bytes)
    return `the salt has ${salt.length} bytes, but at most ${MOST.bytes} are allowed`;
  if (hash.length > MOST.bytes)
    return `the hash has ${hash.length} bytes, but at most ${MOST.bytes} are allowed`;
  const { iterations } = parameters;
  if (parameters.kind === 'argon2') {
    const { memory, parallelism } = parameters;
    if (memory > MOST.argon2Memory)
      return `memory is ${memory} KiB, but at most ${MOST.argon2Memory} are allowed`;
    if (parallelism > MOST.argon2Parallelism)
      return `parallelism is ${parallelism}, but at most ${MOST.argon2Parallelism} is allowed`;
  }
  const most = mostIterations(parameters);
  if (iterations <= most) return undefined;
  const rest = parameters.kind === 'argon2' ? `${parameters.memory} KiB` : `${parameters.length} bytes`;
  return `hashIterations is ${iterations}, but at most ${most} are allowed with ${rest}: checking a password would take too long`;
}

function parseStoredHash(stored: Pick<Credential, 'secretData' | 'credentialData'>): StoredHash | undefined {
  const secret = parseObject(stored.secretData);
  const data = parseObject(stored.credentialData);
  const hash = base64(secret.value);
  const salt = base64(secret.salt);
  if (hash === undefined || salt === undefined) return undefined;
  if (hash.length < 4) return undefined;
  const parameters = readParameters(data, hash.length);
  return parameters === undefined ? undefined : { parameters, salt, hash };
}

/**
 * Returns `secretData` and `credentialData` of a new hash, exactly as Keycloak writes them
 * (docs/keycloak/users.md#password-hashes).
 */
export function renderStoredHash(
  policy: HashPolicy,
  salt: Buffer,
  hash: Buffer,
): { secretData: string; credentialData: string } {
  const parameters = parametersFor(policy);
  const additionalParameters =
    parameters.kind === 'pbkdf2'
      ? {}
      : {
          hashLength: [String(parameters.length)],
          memory: [String(parameters.memory)],
          type: ['id'],
          version: ['1.3'],
          parallelism: [String(parameters.parallelism)],
        };
  return {
    secretData: JSON.stringify({
      value: hash.toString('base64'),
      salt: salt.toString('base64'),
      additionalParameters: {},
    }),
    credentialData: JSON.stringify({
      hashIterations: parameters.iterations,
      algorithm: policy.algorithm,
      additionalParameters,
    }),
  };
}

/** Reports whether the policy's parameters for new hashes differ from those of this hash. */
export function isOutdated(stored: StoredHash, policy: HashPolicy): boolean {
  const now: Record<string, unknown> = { ...parametersFor(policy) };
  const then: Record<string, unknown> = { ...stored.parameters };
  return Object.keys({ ...now, ...then }).some((name) => now[name] !== then[name]);
}

function readParameters(data: JsonObject, length: number): HashParameters | undefined {
  const iterations = data.hashIterations;
  if (typeof iterations !== 'number' || !Number.isInteger(iterations) || iterations < 1) return undefined;
  const digest = DIGESTS.get(String(data.algorithm));
  if (digest !== undefined) {
    return { kind: 'pbkdf2', digest, iterations, length };
  }
  if (data.algorithm !== 'argon2') return undefined;
  return readArgon2(parseFields(data.additionalParameters), iterations, length);
}

function readArgon2(
  fields: Readonly<Record<string, string>>,
  iterations: number,
  length: number,
): HashParameters | undefined {
  const variant = VARIANTS.get(fields.type ?? 'id');
  const version = VERSIONS.get(fields.version ?? '1.3');
  const memory = Number(fields.memory ?? 7168);
  const parallelism = Number(fields.parallelism ?? 1);
  if (variant === undefined || version === undefined) return undefined;
  if (!Number.isInteger(memory) || memory < 8) return undefined;
  if (!Number.isInteger(parallelism) || parallelism < 1) return undefined;
  if (memory < 8 * parallelism) return undefined;
  return { kind: 'argon2', variant, version, iterations, memory, parallelism, length };
}

const DIGESTS: ReadonlyMap<string, 'sha1' | 'sha256' | 'sha512'> = new Map([
  ['pbkdf2', 'sha1'],
  ['pbkdf2-sha1', 'sha1'],
  ['pbkdf2-sha256', 'sha256'],
  ['pbkdf2-sha512', 'sha512'],
]);
const VARIANTS: ReadonlyMap<string, 0 | 1 | 2> = new Map([
  ['d', 0],
  ['i', 1],
  ['id', 2],
]);
const VERSIONS: ReadonlyMap<string, 0 | 1> = new Map([
  ['1.0', 0],
  ['1.3', 1],
]);

/**
 * Parses the additional parameters of a hash. Keycloak stores a list for each of them, but only the first value counts.
 */
function parseFields(value: unknown): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  if (typeof value !== 'object' || value === null) return fields;
  for (const [name, list] of Object.entries(value)) {
    const first: unknown = Array.isArray(list) ? list[0] : list;
    if (typeof first === 'string') fields[name] = first;
  }
  return fields;
}

function base64(value: unknown): Buffer | undefined {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) return undefined;
  return Buffer.from(value, 'base64');
}

function parseObject(text: string | undefined): JsonObject {
  return parseJsonObject(text ?? '{}') ?? {};
}
