import { isSignatureAlgorithm, type JwsKey, type KeyMaterial, readKeyComponent } from '../../crypto/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { Refusal } from '../refusal.ts';
import type { KeyRing, RealmKey } from './contract.ts';
import { publicJwk } from './public-jwk.ts';

/** One realm's keys, prepared once for as long as its configuration object lives. */
interface PreparedKeys {
  all: readonly RealmKey[];
  signing: ReadonlyMap<string, JwsKey>;
  verifying: ReadonlyMap<string, JwsKey>;
  published: { keys: readonly Readonly<Record<string, unknown>>[] };
}

/** The key ring over realm configurations; it holds nothing but what it prepared from them. */
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

/** Two algorithms never share a key: RFC 8725 §3.1. */
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
