import { generateKeyPair, webcrypto } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import 'reflect-metadata';
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';

/** The certificate and key of a test server. */
export interface Certificate {
  cert: string;
  key: string;
}

const DAY = 86_400_000;

/** Creates a self-signed certificate for localhost and 127.0.0.1. */
export async function makeCertificate(): Promise<Certificate> {
  // The key is generated asynchronously, because the services run in this process and some tests measure their
  // timeouts.
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;
  const made = await X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=localhost',
      notBefore: new Date(Date.now() - DAY),
      notAfter: new Date(Date.now() + DAY),
      keys: {
        privateKey: privateKey.toCryptoKey(algorithm, true, ['sign']),
        publicKey: publicKey.toCryptoKey(algorithm, true, ['verify']),
      },
      signingAlgorithm: algorithm,
      extensions: [
        new SubjectAlternativeNameExtension([
          { type: 'dns', value: 'localhost' },
          { type: 'ip', value: '127.0.0.1' },
        ]),
      ],
    },
    webcrypto as Crypto,
  );
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { cert: made.toString('pem'), key };
}

/** Creates a certificate that this process trusts from then on, as if it were in NODE_EXTRA_CA_CERTS. */
export async function makeTrustedCertificate(): Promise<Certificate> {
  const certificate = await makeCertificate();
  setDefaultCACertificates([...getCACertificates('default'), certificate.cert]);
  return certificate;
}
