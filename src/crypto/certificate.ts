import { type KeyObject, webcrypto } from 'node:crypto';
import type { Clock } from '../core/index.ts';

const YEARS = 10;

/**
 * A self-signed certificate for an RSA key, CN as given, valid for ten years from now (facts §10), as DER in base64.
 * The libraries are loaded at the first use: a service that makes no keys starts without them.
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
      // As a value of its own: in the short form of a name, quotes and backslashes mean something.
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
