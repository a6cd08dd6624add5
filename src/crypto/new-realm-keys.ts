import { createPublicKey, generateKeyPair, type KeyObject, webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { type Clock, type Random, Secret, uuid } from '../core/index.ts';
import type { Component, Secrets } from '../model/index.ts';
import { isSignatureAlgorithm } from './jws.ts';
import {
  CURVE_ALGORITHMS,
  KEY_PROVIDER_TYPE,
  readKeyComponent,
  readPrivateKey,
  secretSetting,
  setting,
} from './realm-keys.ts';

const generate = promisify(generateKeyPair);

/** A key component to create. Missing keys are generated. */
export interface NewKeyComponent {
  realm: { id: string; name: string };
  /** For example `rsa-generated`. */
  providerId: string;
  /** Default: a new id. */
  id?: string;
  /** Default: the provider's id. */
  name?: string;
  /** Without secrets. */
  config?: Readonly<Record<string, readonly string[]>>;
  /** Existing keys to keep, by JSON pointer (`/config/privateKey/0`). */
  secrets?: Secrets;
  clock: Clock;
  random: Random;
}

/** The new component, or the message of the 400 response, in Keycloak's wording if Keycloak has one. */
export type NewKeyResult =
  | { outcome: 'made'; component: Component }
  | { outcome: 'invalid'; message: string };

/** The fields of a component that its provider fills in. */
interface Filling {
  config: Record<string, readonly string[]>;
  secrets: Record<string, Secret>;
}

/**
 * Creates a key component, without storing it. Keeps the given keys if they fit the configuration (size, curve).
 * Generates missing ones outside the event loop.
 */
export async function newKeyComponent(wanted: NewKeyComponent): Promise<NewKeyResult> {
  const fill = Object.hasOwn(PROVIDERS, wanted.providerId) ? PROVIDERS[wanted.providerId] : undefined;
  if (fill === undefined) return { outcome: 'invalid', message: 'Invalid provider type or no such provider' };
  const filling: Filling = { config: { ...wanted.config }, secrets: { ...wanted.secrets } };
  const priority = setting({ config: filling.config }, 'priority');
  if (priority === undefined) filling.config.priority = ['0'];
  else if (!/^-?\d{1,18}$/.test(priority))
    return { outcome: 'invalid', message: "'Priority' should be a number" };
  const refused = await fill(filling, wanted);
  if (refused !== undefined) return { outcome: 'invalid', message: refused };
  const component: Component = {
    id: wanted.id ?? uuid(wanted.random),
    realmId: wanted.realm.id,
    name: wanted.name ?? wanted.providerId,
    providerId: wanted.providerId,
    providerType: KEY_PROVIDER_TYPE,
    parentId: wanted.realm.id,
    config: filling.config,
    secrets: filling.secrets,
  };
  if (readKeyComponent(component) === undefined) {
    return { outcome: 'invalid', message: 'Algorithm or key of the component not supported' };
  }
  return { outcome: 'made', component };
}

/**
 * Generates the four key components of a new realm: RS256, RSA-OAEP, HS512 and AES, with priority 100
 * (docs/keycloak/keys.md#key-components).
 */
export async function freshKeyComponents(
  context: Pick<NewKeyComponent, 'realm' | 'clock' | 'random'>,
): Promise<readonly Component[]> {
  const priority = ['100'];
  return await Promise.all([
    made({ ...context, providerId: 'rsa-generated', config: { priority } }),
    made({
      ...context,
      providerId: 'rsa-enc-generated',
      config: { priority, algorithm: ['RSA-OAEP'] },
    }),
    made({
      ...context,
      providerId: 'hmac-generated',
      name: 'hmac-generated-hs512',
      config: { priority, algorithm: ['HS512'] },
    }),
    made({ ...context, providerId: 'aes-generated', config: { priority } }),
  ]);
}

/**
 * Generates the key component for a signature algorithm that a realm or client names. The caller stores it together
 * with the change that names the algorithm, so that the key is published before it signs. Returns undefined if the
 * realm already has an active key, or if the algorithm is unknown. Keycloak creates the same keys, with the same name
 * and priority, when they are first used.
 */
export async function ensureAlgorithmKey(
  context: Pick<NewKeyComponent, 'realm' | 'clock' | 'random'> & {
    components: readonly Component[];
    algorithm: string;
  },
): Promise<Component | undefined> {
  const { components, algorithm, ...rest } = context;
  if (!isSignatureAlgorithm(algorithm)) return undefined;
  const there = components.some((component) => {
    const key = readKeyComponent(component);
    return key?.status === 'ACTIVE' && key.use === 'SIG' && key.algorithm === algorithm;
  });
  if (there) return undefined;
  const priority = ['-100'];
  const name = `fallback-${algorithm}`;
  const curve = Object.keys(CURVE_ALGORITHMS).find((crv) => CURVE_ALGORITHMS[crv] === algorithm);
  if (curve !== undefined) {
    const config = { priority, ecdsaEllipticCurveKey: [curve] };
    return await made({ ...rest, name, providerId: 'ecdsa-generated', config });
  }
  if (algorithm === 'EdDSA') {
    const config = { priority, eddsaEllipticCurveKey: ['Ed25519'] };
    return await made({ ...rest, name, providerId: 'eddsa-generated', config });
  }
  const providerId = algorithm.startsWith('HS') ? 'hmac-generated' : 'rsa-generated';
  return await made({ ...rest, name, providerId, config: { priority, algorithm: [algorithm] } });
}

async function made(wanted: NewKeyComponent): Promise<Component> {
  const result = await newKeyComponent(wanted);
  if (result.outcome === 'invalid') throw new TypeError(result.message);
  return result.component;
}

/** Generates the missing keys. Returns the reason if it rejects the configuration. */
type Fill = (filling: Filling, wanted: NewKeyComponent) => Promise<string | undefined>;

const PROVIDERS: Readonly<Record<string, Fill>> = {
  rsa: importedRsa,
  'rsa-enc': importedRsa,
  'rsa-generated': generatedRsa,
  'rsa-enc-generated': generatedRsa,
  'ecdsa-generated': (filling) => generatedCurve(filling, 'ecdsa', ['P-256', 'P-384', 'P-521']),
  'eddsa-generated': (filling) => generatedCurve(filling, 'eddsa', ['Ed25519', 'Ed448']),
  'ecdh-generated': (filling) => generatedCurve(filling, 'ecdh', ['P-256', 'P-384', 'P-521']),
  'hmac-generated': (filling, { random }) => generatedSecret(filling, random, 128),
  'aes-generated': (filling, { random }) => generatedSecret(filling, random, 32),
};

async function importedRsa(filling: Filling, wanted: NewKeyComponent): Promise<string | undefined> {
  const text = secretSetting(filling, 'privateKey');
  if (text === undefined) return "'Private RSA Key' is required";
  const key = readPrivateKey(text);
  if (key?.asymmetricKeyType !== 'rsa') return 'Failed to decode private key';
  await addCertificate(filling, wanted, key);
  return undefined;
}

const RSA_SIZES: readonly number[] = [2048, 3072, 4096];

async function generatedRsa(filling: Filling, wanted: NewKeyComponent): Promise<string | undefined> {
  const size = Number(setting(filling, 'keySize') ?? '2048');
  if (!RSA_SIZES.includes(size)) return "'Key size' should be 2048, 3072 or 4096";
  const given = readPrivateKey(secretSetting(filling, 'privateKey') ?? '');
  const fits = given?.asymmetricKeyDetails?.modulusLength === size;
  const sizeWasNamed = setting(filling, 'keySize') !== undefined;
  if (given !== undefined && (fits || !sizeWasNamed)) {
    await addCertificate(filling, wanted, given);
    return undefined;
  }
  const { privateKey } = await generate('rsa', { modulusLength: size, publicExponent: 0x10001 });
  filling.secrets['/config/privateKey/0'] = new Secret(
    privateKey.export({ type: 'pkcs1', format: 'der' }).toString('base64'),
  );
  delete filling.config.certificate;
  await addCertificate(filling, wanted, privateKey);
  return undefined;
}

async function addCertificate(
  filling: Filling,
  { realm, clock }: NewKeyComponent,
  privateKey: KeyObject,
): Promise<void> {
  if (setting(filling, 'certificate') !== undefined) return;
  const publicKey = createPublicKey(privateKey);
  filling.config.certificate = [await selfSignedCertificate(privateKey, publicKey, realm.name, clock)];
}

async function generatedCurve(
  filling: Filling,
  kind: 'ecdsa' | 'eddsa' | 'ecdh',
  curves: readonly [string, ...string[]],
): Promise<string | undefined> {
  const named = setting(filling, `${kind}EllipticCurveKey`);
  const curve = named ?? curves[0];
  if (!curves.includes(curve)) return `'Elliptic Curve' should be one of ${curves.join(', ')}`;
  const given = readPrivateKey(secretSetting(filling, `${kind}PrivateKey`) ?? '');
  if (given !== undefined && given.export({ format: 'jwk' }).crv === curve) return undefined;
  const pair = await generatePair(curve);
  filling.config[`${kind}EllipticCurveKey`] = [curve];
  filling.config[`${kind}PublicKey`] = [
    pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  ];
  filling.secrets[`/config/${kind}PrivateKey/0`] = new Secret(
    pair.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
  );
  return undefined;
}

async function generatePair(curve: string): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  if (curve === 'Ed25519') return await generate('ed25519');
  if (curve === 'Ed448') return await generate('ed448');
  return await generate('ec', { namedCurve: curve });
}

async function generatedSecret(filling: Filling, random: Random, usual: number): Promise<string | undefined> {
  const named = setting(filling, 'secretSize');
  const size = Number(named ?? usual);
  if (!Number.isInteger(size) || size < 16 || size > 1024) return "'Secret size' should be 16 to 1024";
  const given = secretSetting(filling, 'secret');
  const fits =
    given !== undefined && (named === undefined || Buffer.from(given, 'base64url').length === size);
  if (!fits) {
    filling.secrets['/config/secret/0'] = new Secret(random.bytes(size).toString('base64url'));
    filling.config.kid = [uuid(random)];
  } else filling.config.kid ??= [uuid(random)];
  return undefined;
}

const YEARS = 10;

/**
 * Creates a self-signed certificate for an RSA key, as DER in base64 (docs/keycloak/keys.md#certificates). It is valid
 * for ten years from now. The libraries are loaded on first use, so that a service that creates no keys does not load
 * them.
 */
export async function selfSignedCertificate(
  privateKey: KeyObject,
  publicKey: KeyObject,
  commonName: string,
  clock: Clock,
): Promise<string> {
  await import('reflect-metadata');
  const { Name, X509CertificateGenerator } = await import('@peculiar/x509');
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;
  const notBefore = new Date(clock.now());
  const notAfter = new Date(notBefore);
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + YEARS);
  const hex = clock.now().toString(16);
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: hex.padStart(hex.length + (hex.length % 2), '0'),
      // The name is passed as a separate value, because quotes and backslashes have a special meaning in the short
      // form.
      name: new Name([{ CN: [{ utf8String: commonName }] }]),
      notBefore,
      notAfter,
      keys: {
        privateKey: privateKey.toCryptoKey(algorithm, true, ['sign']),
        publicKey: publicKey.toCryptoKey(algorithm, true, ['verify']),
      },
      signingAlgorithm: algorithm,
    },
    webcrypto as Crypto,
  );
  return Buffer.from(certificate.rawData).toString('base64');
}
