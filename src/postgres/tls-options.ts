import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, checkServerIdentity, getCACertificates } from 'node:tls';
import type { PostgresAddress, PostgresHost } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';

/**
 * The certificate and key files. If the address does not name a file, libpq's environment variable applies, or else
 * libpq's default path if that file exists.
 */
const FILES = {
  sslrootcert: { variable: 'PGSSLROOTCERT', place: 'root.crt' },
  sslcert: { variable: 'PGSSLCERT', place: 'postgresql.crt' },
  sslkey: { variable: 'PGSSLKEY', place: 'postgresql.key' },
  sslcrl: { variable: 'PGSSLCRL', place: 'root.crl' },
} as const;

/**
 * Returns the TLS options for a connection to a host. As in libpq, `require` checks the certificate only if a
 * certificate authority is given, and `verify-ca` does not check the host name.
 */
export function tlsOptions(address: PostgresAddress, { host }: PostgresHost): ConnectionOptions {
  const { sslMode } = address;
  const rootCert = findFile('sslrootcert', address.sslRootCert);
  const checks = sslMode.startsWith('verify-') || (sslMode === 'require' && rootCert !== undefined);
  const checksName = sslMode === 'verify-full';
  const options: ConnectionOptions = {
    rejectUnauthorized: checks,
    checkServerIdentity: checksName
      ? (_, certificate) => checkServerIdentity(host, certificate)
      : () => undefined,
  };
  if (rootCert === 'system') options.ca = [...getCACertificates('default'), ...getCACertificates('system')];
  else if (rootCert !== undefined) options.ca = readCertificate('sslrootcert', rootCert);
  const cert = findFile('sslcert', address.sslCert);
  if (cert !== undefined) {
    options.cert = readCertificate('sslcert', cert);
    const key = findFile('sslkey', address.sslKey);
    if (key !== undefined) options.key = readCertificate('sslkey', key);
  }
  const revoked = findFile('sslcrl', undefined);
  if (checks && revoked !== undefined) options.crl = readCertificate('sslcrl', revoked);
  return options;
}

/** Returns the path of the file for a parameter (PostgreSQL documentation, 34.19), or undefined if there is none. */
function findFile(parameter: keyof typeof FILES, named: string | undefined): string | undefined {
  const { variable, place } = FILES[parameter];
  const given = named ?? (process.env[variable] || undefined);
  if (given !== undefined) return given;
  const file = join(homedir(), '.postgresql', place);
  return existsSync(file) ? file : undefined;
}

function readCertificate(parameter: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new IdkitError('IDKIT_SETTING', `${file}, the ${parameter} of the database, cannot be read`, {
      cause,
    });
  }
}
