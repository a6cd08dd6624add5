import { type AuthMethod, type PostgresHost, showPostgresHost } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';

/** How operators know the methods. */
const NAMES: Readonly<Record<AuthMethod, string>> = {
  'scram-sha-256': 'SCRAM-SHA-256',
  md5: 'MD5',
  none: 'no password',
};

/** A server that asks for the password in a way that the address does not allow; it has not got the password. */
export function passwordRefusal(
  host: PostgresHost,
  asked: string,
  allowed: readonly AuthMethod[],
): IdkitError {
  const methods = allowed.map((method) => NAMES[method]).join(' or ');
  return new IdkitError(
    'IDKIT_PASSWORD_METHOD',
    `the database server at ${showPostgresHost(host)} asks for ${asked}, and idkit answers ${methods} alone: the password was not sent`,
    {
      hints: [
        'on the server set password_encryption = scram-sha-256, set the role’s password again, and write scram-sha-256 as the method in pg_hba.conf',
        ...(/MD5/.test(asked)
          ? ['add require_auth=scram-sha-256,md5 to the database’s address if the server can do no better']
          : []),
        'if the server does not ask for this, something between idkit and the server does',
      ],
    },
  );
}

/** Faults of an exchange that pg itself finds: a wrong proof of the server, too many rounds, a broken message. */
export function isScramFault(text: string): boolean {
  return /^SASL: /.test(text) && !/password must be/.test(text);
}
