import type { Duplex } from 'node:stream';
import { Client, type ClientConfig } from 'pg';
import { type AuthMethod, type PostgresHost, showPostgresHost } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';

/**
 * Maximum number of PBKDF2 rounds that a server may request. They take about half a second. Postgres itself requests
 * 4,096; a request for 2^31 would occupy a thread for an hour.
 */
const MOST_ITERATIONS = 1_000_000;

/** The configuration of a connection, including the authentication methods that the server may request. */
export interface GuardedConfig extends ClientConfig {
  host: string;
  port: number;
  password: () => string;
  requireAuth: readonly AuthMethod[];
}

/** Members of pg's client that its type definitions lack. */
declare module 'pg' {
  interface ClientBase {
    readonly connection: {
      readonly stream: Duplex;
      on(event: 'parameterStatus', listener: (message: ParameterStatus) => void): void;
      on(event: 'authenticationOk', listener: () => void): void;
      once(event: 'readyForQuery', listener: () => void): void;
      emit(event: 'error', error: Error): void;
    };
    /** The SCRAM exchange in progress. It is null after the server has also proved that it knows the password. */
    readonly saslSession?: object | null;
    readonly processID: number;
    readonly secretKey: number;
    getStartupConf(): Readonly<Record<string, string>>;
    _handleAuthCleartextPassword(message: object): void;
    _handleAuthMD5Password(message: object): void;
    _handleAuthSASL(message: { mechanisms: readonly string[] }): void;
  }
}

interface ParameterStatus {
  parameterName: string;
  parameterValue: string;
}

/**
 * A client that sends the password only with the methods that the address permits. pg on its own responds to every
 * request of a server, even to one for the password in the clear. With TLS, the SCRAM exchange is bound to the server's
 * certificate if the server supports channel binding. If an attacker in between hides this support, the connection is
 * rejected.
 *
 * pg receives the password only after a permitted request. If another release of pg renames its handlers, connections
 * therefore fail.
 */
export class GuardedClient extends Client {
  readonly #allowed: readonly AuthMethod[];
  readonly #host: PostgresHost;
  #method: AuthMethod | undefined;

  constructor(config: GuardedConfig) {
    const gate = () => {
      if (this.#method === undefined) throw new Error('no server has requested the password');
      return config.password();
    };
    const scram = { enableChannelBinding: config.ssl !== false, scramMaxIterations: MOST_ITERATIONS };
    super({ ...config, ...scram, password: gate });
    this.#allowed = config.requireAuth;
    this.#host = { host: config.host, port: config.port };
    // These listeners run before those of pg, so that no query is sent to a rejected server. A server may skip
    // `authenticationOk`.
    this.connection.on('authenticationOk', () => this.#letIn());
    this.connection.once('readyForQuery', () => this.#letIn());
  }

  override _handleAuthCleartextPassword(_message: object): void {
    this.#refuse('a password in the clear');
  }

  override _handleAuthMD5Password(message: object): void {
    if (this.#allowed.includes('md5')) {
      this.#method = 'md5';
      super._handleAuthMD5Password(message);
    } else this.#refuse('an MD5 hash of the password');
  }

  override _handleAuthSASL(message: { mechanisms: readonly string[] }): void {
    const isScram = message.mechanisms.some((name) => /^SCRAM-SHA-256(-PLUS)?$/.test(name));
    if (isScram && this.#allowed.includes('scram-sha-256')) {
      this.#method = 'scram-sha-256';
      super._handleAuthSASL(message);
    } else this.#refuse(isScram ? 'SCRAM-SHA-256' : message.mechanisms.join(', '));
  }

  /**
   * Rejects a server that reports the end of the authentication too early: before it requested a password (unless the
   * address permits that), or before it proved that it knows the password.
   */
  #letIn(): void {
    if (this.#method === undefined) {
      if (!this.#allowed.includes('none')) this.#refuse('no password at all');
      return;
    }
    // RFC 5802 §3: a server that cannot prove that it knows the password is an impostor.
    if (this.#method === 'scram-sha-256' && this.saslSession !== null)
      this.#refuse('SCRAM-SHA-256 without proving that it knows the password');
  }

  #refuse(requested: string): void {
    const { connection } = this;
    connection.emit('error', passwordRefusal(this.#host, requested, this.#allowed));
    connection.stream.destroy();
  }
}

/** The names of the methods in messages for operators. */
const NAMES: Readonly<Record<AuthMethod, string>> = {
  'scram-sha-256': 'SCRAM-SHA-256',
  md5: 'MD5',
  none: 'no password',
};

/**
 * Returns the error for a server that requests the password with a method that the address does not permit. The
 * password was not sent.
 */
function passwordRefusal(host: PostgresHost, requested: string, allowed: readonly AuthMethod[]): IdkitError {
  const methods = allowed.map((method) => NAMES[method]).join(' or ');
  return new IdkitError(
    'IDKIT_PASSWORD_METHOD',
    `the database server at ${showPostgresHost(host)} requests ${requested}, but idkit permits ${methods} only; the password was not sent`,
    {
      hints: [
        'on the server set password_encryption = scram-sha-256, set the password of the role again, and use the method scram-sha-256 in pg_hba.conf',
        ...(/MD5/.test(requested)
          ? [
              'if the server supports nothing better, add require_auth=scram-sha-256,md5 to the address of the database',
            ]
          : []),
        'if the server does not request this, another program between idkit and the server does',
      ],
    },
  );
}
