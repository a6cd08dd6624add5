import { createHash } from 'node:crypto';
import {
  isSignatureAlgorithm,
  type JwsKey,
  type KeyMaterial,
  readKeyComponent,
  type SignatureAlgorithm,
} from '../../crypto/index.ts';
import type { Client } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { Refusal } from '../refusal.ts';

/** One realm's keys, which are prepared once for each configuration object. */
interface PreparedKeys {
  all: readonly RealmKey[];
  signing: ReadonlyMap<string, JwsKey>;
  verifying: ReadonlyMap<string, JwsKey>;
  published: { keys: readonly Readonly<Record<string, unknown>>[] };
}

/** Opens a key ring that caches the keys of each realm configuration. */
export function openKeyRing(): KeyRing {
  const memory = new WeakMap<RealmConfiguration, PreparedKeys>();

  function keysOf(configuration: RealmConfiguration): PreparedKeys {
    let prepared = memory.get(configuration);
    if (prepared === undefined) {
      prepared = prepare(configuration);
      memory.set(configuration, prepared);
    }
    return prepared;
  }

  return {
    signingKey(configuration, algorithm) {
      const key = keysOf(configuration).signing.get(algorithm);
      if (key !== undefined) return key;
      const { name } = configuration.realm;
      throw new Refusal('no-signing-key', { detail: `realm ${name} has no active ${algorithm} key` });
    },
    verificationKey: (configuration, kid, algorithm) =>
      keysOf(configuration).verifying.get(verifyingName(kid, algorithm)),
    list: (configuration) => keysOf(configuration).all,
    publish: (configuration) => keysOf(configuration).published,
  };
}

function prepare(configuration: RealmConfiguration): PreparedKeys {
  const materials = configuration.components
    .flatMap((component) => readKeyComponent(component) ?? [])
    .sort((one, other) => other.priority - one.priority);
  const signing = new Map<string, JwsKey>();
  const verifying = new Map<string, JwsKey>();
  for (const material of materials) {
    const { algorithm, kid, status } = material;
    if (material.use !== 'SIG' || status === 'DISABLED' || !isSignatureAlgorithm(algorithm)) continue;
    const { privateKey, publicKey } = material;
    const key: JwsKey = publicKey
      ? { kid, algorithm, privateKey, publicKey }
      : { kid, algorithm, privateKey };
    const name = verifyingName(kid, algorithm);
    if (!verifying.has(name)) verifying.set(name, key);
    if (status === 'ACTIVE' && !signing.has(algorithm)) signing.set(algorithm, key);
  }
  const published = materials
    .filter(({ status, publicKey }) => status !== 'DISABLED' && publicKey !== undefined)
    .map(publicJwk);
  return {
    all: Object.freeze(materials.map(realmKey)),
    signing,
    verifying,
    published: Object.freeze({ keys: Object.freeze(published) }),
  };
}

/**
 * Returns the name under which a verifying key is stored in a map. The name contains the algorithm, because two
 * algorithms must not share a key (RFC 8725 §3.1).
 */
function verifyingName(kid: string, algorithm: string): string {
  return `${algorithm} ${kid}`;
}

function realmKey(material: KeyMaterial): RealmKey {
  const { providerId, priority, kid, status, type, algorithm, use, publicKey, certificate, validTo } =
    material;
  const key: RealmKey = { providerId, priority, kid, status, type, algorithm, use };
  if (publicKey !== undefined) {
    key.publicKey = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  }
  if (certificate !== undefined) key.certificate = certificate;
  if (validTo !== undefined) key.validTo = validTo;
  return Object.freeze(key);
}

/** Returns the algorithm that signs a client's tokens. Default: the realm's algorithm. */
export function signatureAlgorithm(
  configuration: RealmConfiguration,
  client: Client,
  kind: 'access' | 'id',
): SignatureAlgorithm {
  const own = client.attributes[`${kind}.token.signed.response.alg`];
  return (own || configuration.realm.settings.defaultSignatureAlgorithm) as SignatureAlgorithm;
}

/**
 * A key of a realm, with the values that the administrative API and the key set show (docs/keycloak/keys.md#key-set).
 */
export interface RealmKey {
  /** The id of the component that provides the key. */
  providerId: string;
  priority: number;
  kid: string;
  status: 'ACTIVE' | 'PASSIVE' | 'DISABLED';
  /** `RSA`, `EC`, `OKP` or `OCT`. */
  type: string;
  algorithm: string;
  use: 'SIG' | 'ENC';
  /** DER SubjectPublicKeyInfo in base64. */
  publicKey?: string;
  /** DER certificate in base64. */
  certificate?: string;
  /** Expiry of the certificate, Unix time in milliseconds. */
  validTo?: number;
}

/**
 * Provides the keys of every realm. It reads them from the realm's key components and caches them until the
 * configuration changes.
 */
export interface KeyRing {
  /** Returns the active key with the highest priority for the algorithm. @throws Refusal if the realm has none */
  signingKey(configuration: RealmConfiguration, algorithm: SignatureAlgorithm): JwsKey;
  /** Returns an active or passive key that can verify signatures, or undefined. */
  verificationKey(configuration: RealmConfiguration, kid: string, algorithm: string): JwsKey | undefined;
  /** Lists all keys by priority, including disabled ones. */
  list(configuration: RealmConfiguration): readonly RealmKey[];
  /** Returns the published key set (RFC 7517) in Keycloak's field order. */
  publish(configuration: RealmConfiguration): { keys: readonly Readonly<Record<string, unknown>>[] };
}

/**
 * Returns a key in its published form (RFC 7517 §4) and in Keycloak's field order: `kid, kty, alg, use`, then the
 * certificate with its two thumbprints, then the members of its key type (docs/keycloak/keys.md#key-set).
 */
function publicJwk(material: KeyMaterial): Readonly<Record<string, unknown>> {
  const jwk: Record<string, unknown> = {
    kid: material.kid,
    kty: material.type,
    alg: material.algorithm,
    use: material.use === 'SIG' ? 'sig' : 'enc',
  };
  if (material.certificate !== undefined) {
    const der = Buffer.from(material.certificate, 'base64');
    jwk.x5c = [material.certificate];
    jwk.x5t = createHash('sha1').update(der).digest('base64url');
    jwk['x5t#S256'] = createHash('sha256').update(der).digest('base64url');
  }
  const { n, e, crv, x, y } = material.publicKey?.export({ format: 'jwk' }) ?? {};
  for (const [name, value] of Object.entries({ n, e, crv, x, y })) {
    if (value !== undefined) jwk[name] = value;
  }
  return Object.freeze(jwk);
}
