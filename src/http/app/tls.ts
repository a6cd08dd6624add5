import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/** A certificate chain and its private key. */
export interface TlsFiles {
  cert: Buffer;
  key: Buffer;
}

/**
 * Reads the files of `--tls-cert` and `--tls-key` and checks that they belong together. Returns undefined if neither is
 * set.
 *
 * @throws IDKIT_SETTING with the name of the file and its defect
 */
export async function readTls(listen: {
  tlsCert: string | null;
  tlsKey: string | null;
}): Promise<TlsFiles | undefined> {
  const { tlsCert, tlsKey } = listen;
  if (tlsCert === null && tlsKey === null) return undefined;
  if (tlsCert === null || tlsKey === null)
    throw new IdkitError(
      'IDKIT_SETTING',
      `https needs a certificate and a key: ${tlsCert === null ? '--tls-cert' : '--tls-key'} is missing`,
    );
  const cert = await read('--tls-cert', tlsCert);
  const key = await read('--tls-key', tlsKey);
  const certificate = attempt(
    `--tls-cert ${tlsCert} is not a PEM certificate`,
    () => new X509Certificate(cert),
  );
  const privateKey = attempt(`--tls-key ${tlsKey} is not a PEM private key, or has a passphrase`, () =>
    createPrivateKey(key),
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw new IdkitError('IDKIT_SETTING', `--tls-key ${tlsKey} is not the key of --tls-cert ${tlsCert}`);
  // Loaded only for https, because a service without https starts faster without this module.
  const { createSecureContext } = await import('node:tls');
  attempt(`--tls-cert ${tlsCert} cannot be used for https`, () => createSecureContext({ cert, key }));
  return { cert, key };
}

async function read(flag: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const why = systemErrorCode(cause) === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw new IdkitError('IDKIT_SETTING', `${flag} ${file} ${why}`, { cause });
  }
}

function attempt<T>(message: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new IdkitError('IDKIT_SETTING', message, { cause });
  }
}
