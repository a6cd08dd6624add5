import { Client, type ClientConfig } from 'pg';
import { type AuthMethod, type PostgresHost, showPostgresHost } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';

/**
 * The most rounds of PBKDF2 that a server may ask for: half a second's work. Postgres itself asks for 4,096; one that
 * asks for 2^31 would keep a thread busy for an hour.
 */
const MOST_ITERATIONS = 1_000_000;

/** What a connection is made with, and which methods the server may ask for. */
export interface GuardedConfig extends ClientConfig {
  host: string;
  port: number;
  password: () => string;
  requireAuth: readonly AuthMethod[];
}

/** What of pg's client this one relies on: its handlers of the server's requests, and the connection below. */
interface Inside {
  connection: {
    stream: { destroy(): void };
    on(event: string, listener: () => void): void;
    once(event: string, listener: () => void): void;
    emit(event: 'error', error: Error): void;
  };
  /** Of the exchange under way; null once the server has proven that it knows the password, too. */
  saslSession?: object | null;
  _handleAuthCleartextPassword(message: object): void;
  _handleAuthMD5Password(message: object): void;
  _handleAuthSASL(message: { mechanisms: readonly string[] }): void;
}

const PgClient = Client as unknown as new (config: ClientConfig) => Client & Inside;

/**
 * A connection whose server gets the password by the methods of the address alone, whatever it asks for and however
 * often: pg by itself answers every request, a password in the clear included. With TLS the exchange is bound to the
 * server's certificate where the server can do so, and refused where somebody in between pretends that it cannot.
 *
 * pg is given the password only after an allowed request: should another release of pg name its handlers otherwise,
 * no connection is made.
 */
export class GuardedClient extends PgClient {
  readonly #allowed: readonly AuthMethod[];
  readonly #host: PostgresHost;
  #method: AuthMethod | undefined;

  constructor(config: GuardedConfig) {
    const gate = () => {
      if (this.#method === undefined) throw new Error('no server has asked for the password');
      return config.password();
    };
    const scram = { enableChannelBinding: config.ssl !== false, scramMaxIterations: MOST_ITERATIONS };
    super({ ...config, ...scram, password: gate });
    this.#allowed = config.requireAuth;
    this.#host = { host: config.host, port: config.port };
    // Before pg's own listeners, so that no query goes to a server that is refused; one may leave out the first of the two.
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

  /** The server says that all is well. */
  #letIn(): void {
    if (this.#method === undefined) {
      if (!this.#allowed.includes('none')) this.#refuse('no password at all');
      return;
    }
    // RFC 5802 §3: a server that cannot prove that it knows the password is an impostor.
    if (this.#method === 'scram-sha-256' && this.saslSession !== null)
      this.#refuse('SCRAM-SHA-256 without the proof that it knows the password itself');
  }

  #refuse(asked: string): void {
    const { connection } = this;
    connection.emit('error', passwordRefusal(this.#host, asked, this.#allowed));
    connection.stream.destroy();
  }
}

/** How operators know the methods. */
const NAMES: Readonly<Record<AuthMethod, string>> = {
  'scram-sha-256': 'SCRAM-SHA-256',
  md5: 'MD5',
  none: 'no password',
};

/** A server that asks for the password in a way that the address does not allow; it has not got the password. */
function passwordRefusal(host: PostgresHost, asked: string, allowed: readonly AuthMethod[]): IdkitError {
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
