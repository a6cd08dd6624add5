import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';
import type { Component } from '../model/index.ts';
import { SIGNATURE_ALGORITHMS } from './jws.ts';

/** The provider type of components that contain a realm's keys. */
export const KEY_PROVIDER_TYPE = 'org.keycloak.keys.KeyProvider';

/** The names of the secrets in `config` of a key component. Their values are in `Component.secrets`. */
export const KEY_SECRET_NAMES: ReadonlySet<string> = new Set([
  'privateKey',
  'secret',
  'ecdsaPrivateKey',
  'eddsaPrivateKey',
  'ecdhPrivateKey',
]);

/** The parsed key of a key component. */
export interface KeyMaterial {
  /** The component's id. */
  providerId: string;
  /** Keys with a higher priority are preferred. */
  priority: number;
  status: 'ACTIVE' | 'PASSIVE' | 'DISABLED';
  kid: string;
  /** `OCT` is a shared secret. */
  type: 'RSA' | 'EC' | 'OKP' | 'OCT';
  /** For example `RS256`, `RSA-OAEP` or `AES`. */
  algorithm: string;
  use: 'SIG' | 'ENC';
  /** For `OCT`, the shared secret. */
  privateKey: KeyObject;
  publicKey?: KeyObject;
  /** DER in base64. */
  certificate?: string;
  /** Unix time in milliseconds at which the certificate expires. */
  validTo?: number;
}

const read = new WeakMap<Component, KeyMaterial | 'unreadable'>();

/**
 * Parses the key of a component. Returns undefined if the provider is unknown or the key cannot be read. The result is
 * cached as long as the component object exists.
 */
export function readKeyComponent(component: Component): KeyMaterial | undefined {
  if (component.providerType !== KEY_PROVIDER_TYPE) return undefined;
  let known = read.get(component);
  if (known === undefined) {
    known = material(component) ?? 'unreadable';
    read.set(component, known);
  }
  return known === 'unreadable' ? undefined : known;
}

/** Returns a `config` value of a component, but not a secret. */
export function setting(component: Pick<Component, 'config'>, name: string): string | undefined {
  const value = component.config[name]?.[0];
  return value === undefined || value === '' ? undefined : value;
}

/** Returns a secret from the `config` of a component. */
export function secretSetting(component: Pick<Component, 'secrets'>, name: string): string | undefined {
  const value = component.secrets[`/config/${name}/0`]?.reveal();
  return value === undefined || value === '' ? undefined : value;
}

/** Returns a kid as Keycloak computes it: base64url of the SHA-256 of the DER public key. */
export function keyId(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64url');
}

/** Reads a private key in Keycloak's formats: DER in base64 (PKCS #1 or PKCS #8), or a whole PEM file. */
export function readPrivateKey(text: string): KeyObject | undefined {
  try {
    if (text.includes('-----BEGIN')) return createPrivateKey(text);
    const key = Buffer.from(text, 'base64');
    for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
      try {
        return createPrivateKey({ key, format: 'der', type });
      } catch {
        // The key may have another encoding, so the next one is tried.
      }
    }
    return undefined;
  } catch {
    return undefined;
  }
}

const RSA_SIGNATURES: ReadonlySet<string> = new Set(
  SIGNATURE_ALGORITHMS.filter((name) => name.startsWith('RS') || name.startsWith('PS')),
);
const HMAC_SIGNATURES: ReadonlySet<string> = new Set(
  SIGNATURE_ALGORITHMS.filter((name) => name.startsWith('HS')),
);
/** Algorithms for the encryption of keys (RFC 7518 §4.1). */
const RSA_ENCRYPTION: ReadonlySet<string> = new Set(['RSA-OAEP', 'RSA-OAEP-256', 'RSA1_5']);

/** The signature algorithm of each curve (RFC 7518 §3.4, RFC 8037 §3.1). */
export const CURVE_ALGORITHMS: Readonly<Record<string, string>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
};

function material(component: Component): KeyMaterial | undefined {
  try {
    switch (component.providerId) {
      case 'rsa':
      case 'rsa-generated':
        return rsa(component, 'SIG', setting(component, 'algorithm') ?? 'RS256');
      case 'rsa-enc':
      case 'rsa-enc-generated':
        return rsa(component, 'ENC', setting(component, 'algorithm') ?? 'RSA-OAEP');
      case 'ecdsa-generated':
        return curve(component, 'ecdsa', 'SIG');
      case 'eddsa-generated':
        return curve(component, 'eddsa', 'SIG');
      case 'ecdh-generated':
        return curve(component, 'ecdh', 'ENC');
      case 'hmac-generated':
        return shared(component, setting(component, 'algorithm') ?? 'HS256', 'SIG');
      case 'aes-generated':
        return shared(component, 'AES', 'ENC');
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}

function rsa(component: Component, use: 'SIG' | 'ENC', algorithm: string): KeyMaterial | undefined {
  const privateKey = readPrivateKey(secretSetting(component, 'privateKey') ?? '');
  if (privateKey?.asymmetricKeyType !== 'rsa') return undefined;
  const known = (use === 'SIG' ? RSA_SIGNATURES : RSA_ENCRYPTION).has(algorithm);
  if (!known) return undefined;
  const publicKey = createPublicKey(privateKey);
  const certificate = readCertificate(setting(component, 'certificate'));
  return {
    ...stateOf(component),
    kid: setting(component, 'kid') ?? keyId(publicKey),
    type: 'RSA',
    algorithm,
    use,
    privateKey,
    publicKey,
    ...certificate,
  };
}

function curve(
  component: Component,
  kind: 'ecdsa' | 'eddsa' | 'ecdh',
  use: 'SIG' | 'ENC',
): KeyMaterial | undefined {
  const privateKey = readPrivateKey(secretSetting(component, `${kind}PrivateKey`) ?? '');
  if (privateKey === undefined) return undefined;
  const publicKey = createPublicKey(privateKey);
  const { crv = '' } = publicKey.export({ format: 'jwk' });
  const algorithm =
    kind === 'ecdsa'
      ? CURVE_ALGORITHMS[crv]
      : kind === 'eddsa'
        ? 'EdDSA'
        : (setting(component, 'ecdhAlgorithm') ?? 'ECDH-ES');
  if (algorithm === undefined) return undefined;
  return {
    ...stateOf(component),
    kid: setting(component, 'kid') ?? keyId(publicKey),
    type: kind === 'eddsa' ? 'OKP' : 'EC',
    algorithm,
    use,
    privateKey,
    publicKey,
  };
}

function shared(component: Component, algorithm: string, use: 'SIG' | 'ENC'): KeyMaterial | undefined {
  const secret = Buffer.from(secretSetting(component, 'secret') ?? '', 'base64url');
  const kid = setting(component, 'kid');
  if (secret.length === 0 || kid === undefined) return undefined;
  if (use === 'SIG' && !HMAC_SIGNATURES.has(algorithm)) return undefined;
  return { ...stateOf(component), kid, type: 'OCT', algorithm, use, privateKey: createSecretKey(secret) };
}

function stateOf(component: Component): Pick<KeyMaterial, 'providerId' | 'priority' | 'status'> {
  const priority = Number(setting(component, 'priority') ?? '0');
  const enabled = (setting(component, 'enabled') ?? 'true') === 'true';
  const active = (setting(component, 'active') ?? 'true') === 'true';
  return {
    providerId: component.id,
    priority: Number.isFinite(priority) ? priority : 0,
    status: enabled ? (active ? 'ACTIVE' : 'PASSIVE') : 'DISABLED',
  };
}

function readCertificate(text: string | undefined): Pick<KeyMaterial, 'certificate' | 'validTo'> {
  if (text === undefined) return {};
  const der = Buffer.from(text.replace(/-----[^-]+-----/g, ''), 'base64');
  try {
    const { validTo } = new X509Certificate(der);
    return { certificate: der.toString('base64'), validTo: Date.parse(validTo) };
  } catch {
    return {};
  }
}
