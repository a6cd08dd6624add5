/** One setting: where it can be given, what it is when it is not given, and why. */
export interface SettingDoc {
  /** Dotted name in idkit.yaml; for what only the environment holds, the variable's name. */
  name: string;
  /** Environment variable, also read from `.env`. */
  env?: string;
  /** The flag that overrides it. */
  flag?: string;
  /** Only from the environment or `.env`, and shown as `[secret]`. */
  secret?: true;
  /** Given by the environment or `.env` alone, never by idkit.yaml. */
  environmentOnly?: true;
  default: unknown;
  /** What a value must be; the end of "… must be". */
  expected: string;
  /** Why the default is what it is. */
  reason: string;
  /** One line of documentation. */
  doc: string;
}

const TABLE = [
  {
    name: 'runtime',
    default: 'embedded',
    expected: 'embedded or compose',
    reason: 'the embedded platform needs nothing but Node.js',
    doc: 'what runs the platform: one process with SQLite, or containers',
  },
  {
    name: 'service',
    default: 'idkit',
    expected: 'idkit or keycloak',
    reason: 'idkit is its own token service; Keycloak is served by the same procedures',
    doc: 'which token service the platform runs',
  },
  {
    name: 'baseUrl',
    env: 'IDKIT_BASE_URL',
    flag: '--base-url',
    default: null,
    expected: 'an http or https URL without credentials, query or fragment, or null',
    reason: 'never taken from request headers, which a caller chooses',
    doc: "the issuer's base; null: scheme, host and port that serve listens on",
  },
  {
    name: 'listen.host',
    flag: '--host',
    default: '127.0.0.1',
    expected: 'a host name or an IP address',
    reason: 'a new service is open to this machine alone',
    doc: 'the address that serve listens on',
  },
  {
    name: 'listen.port',
    flag: '--port',
    default: 8080,
    expected: 'a whole number from 0 to 65535',
    reason: "Keycloak's port",
    doc: 'the port that serve listens on; 0 takes a free one',
  },
  {
    name: 'listen.managementPort',
    flag: '--management-port',
    default: null,
    expected: 'a whole number from 0 to 65535, off, or null',
    reason:
      'what metrics and the checks of health show is for operators, and several services may share a machine',
    doc: "the port of metrics and detailed health; null: 9000, Keycloak's, or none with a note if another program listens there; 0 takes a free one; off: none",
  },
  {
    name: 'listen.managementHost',
    default: '127.0.0.1',
    expected: 'a host name or an IP address',
    reason: 'metrics and detailed health are open to this machine alone',
    doc: 'the address that the management port listens on; 0.0.0.0 for a Prometheus on another host or in another container',
  },
  {
    name: 'listen.tlsCert',
    flag: '--tls-cert',
    default: null,
    expected: 'the path of a file, or null',
    reason: 'a proxy usually ends TLS',
    doc: 'PEM file with the certificate chain; with tlsKey serve speaks https',
  },
  {
    name: 'listen.tlsKey',
    flag: '--tls-key',
    default: null,
    expected: 'the path of a file, or null',
    reason: 'a proxy usually ends TLS',
    doc: 'PEM file with the private key',
  },
  {
    name: 'listen.drainSeconds',
    default: null,
    expected: 'a number of seconds from 0 to 300, or null',
    reason:
      'longer than a proxy needs to see that readiness is down; a single process has nobody to leave requests to',
    doc: 'seconds that serve goes on answering after SIGTERM, with readiness down; null: 3 on Postgres, 0 on SQLite',
  },
  {
    name: 'database',
    env: 'IDKIT_DATABASE_URL',
    flag: '--database',
    default: 'sqlite:data/idkit.db',
    expected: 'sqlite:PATH or postgres://user@host/name without a password',
    reason: 'one file inside the platform directory',
    doc: 'where everything is stored; a relative path counts from the platform directory',
  },
  {
    name: 'trustedProxies',
    default: [],
    expected: 'a list of IP addresses or CIDR blocks',
    reason: 'no proxy is believed unless it is named',
    doc: 'from these alone X-Forwarded-For and -Proto are believed',
  },
  {
    name: 'admin.protectAdministrators',
    default: true,
    expected: 'true or false',
    reason: 'who may set the password of an administrator can log in as one',
    doc: 'true: users who hold administrative roles are reset, changed and removed only by those who may grant these roles; false: by everybody who may change users, as in Keycloak',
  },
  {
    name: 'realmFiles.remove',
    default: false,
    expected: 'true or false',
    reason: 'a file that was moved can be looked up; it holds secrets, so only its owner can read it',
    doc: 'true: realm files are removed once they are imported; false: they are moved to import/done/',
  },
  {
    name: 'outbound.privateAddresses',
    default: [],
    expected: 'a list of IP addresses or CIDR blocks',
    reason: "a realm's administrator must not reach into the network behind the service",
    doc: "addresses in private networks that logout tokens may be sent to; a service whose base URL is this machine's own reaches this machine anyway",
  },
  {
    name: 'realms',
    default: [],
    expected: 'a list of realm names',
    reason: 'a realm that is made later is in the next backup without a change',
    doc: 'the configured realm list for backup and smoke; empty: all realms',
  },
  {
    name: 'backup.root',
    flag: '--to',
    default: 'backups',
    expected: 'the path of a directory',
    reason: 'works at once; another disk is better',
    doc: 'the backup root; a relative path counts from the platform directory',
  },
  {
    name: 'backup.keepDays',
    flag: '--keep-days',
    default: 7,
    expected: 'a whole number from 1 to 36500',
    reason: 'specification, Limits: sets are kept 7 days',
    doc: 'sets older than this are deleted, never the newest good one',
  },
  {
    name: 'backup.keepVersions',
    default: 4,
    expected: 'a whole number from 1 to 1000',
    reason: 'specification, Limits: 4 weekly versions',
    doc: 'how many versions of configuration and environment the root keeps',
  },
  {
    name: 'backup.mirror',
    flag: '--mirror',
    default: null,
    expected: 'a directory, [user@]host:path, or null',
    reason: 'optional in the specification',
    doc: 'where the backup root is copied to after every backup',
  },
  {
    name: 'smoke.realm',
    env: 'IDKIT_SMOKE_REALM',
    default: 'master',
    expected: 'a realm name',
    reason: 'the first serve makes the client there',
    doc: 'the realm of the machine-to-machine client that smoke uses',
  },
  {
    name: 'smoke.clientId',
    env: 'IDKIT_SMOKE_CLIENT_ID',
    default: 'idkit-smoke',
    expected: 'a client id',
    reason: 'the first serve makes this client',
    doc: 'the machine-to-machine client that smoke uses',
  },
  {
    name: 'applications',
    default: [],
    expected: 'a list of { name, health: URL, protected: URL }',
    reason: 'idkit knows no application by itself',
    doc: 'applications whose health and protected address smoke checks',
  },
  {
    name: 'compose.engine',
    default: null,
    expected: 'a program name, or null',
    reason: 'the one that the platform was started with, else docker or podman, whichever answers',
    doc: 'the container engine',
  },
  {
    name: 'compose.project',
    default: 'idkit',
    expected: 'lower-case letters, digits, - and _, beginning with a letter or digit',
    reason: 'the name of the program',
    doc: 'the name of the compose project',
  },
  {
    name: 'compose.proxy',
    default: 'caddy',
    expected: 'a service name',
    reason: 'the proxy that idkit writes',
    doc: 'the service of the compose file that is the reverse proxy',
  },
  {
    name: 'keycloak.managementUrl',
    default: null,
    expected: 'an http or https URL without credentials, query or fragment, or null',
    reason: 'only Keycloak has one',
    doc: "Keycloak's management address, for health",
  },
  {
    name: 'keycloak.start',
    default: null,
    expected: 'a command, or null',
    reason: 'only the operator knows it',
    doc: 'the command by which restore starts Keycloak, without a shell: words parted at blanks, with quotes and backslashes; it may return at once or stay in the foreground',
  },
  {
    name: 'keycloak.stop',
    default: null,
    expected: 'a command, or null',
    reason: 'only the operator knows it',
    doc: 'the command by which restore stops Keycloak; read as keycloak.start is',
  },
  {
    name: 'metrics.public',
    default: false,
    expected: 'true or false',
    reason: 'figures of logins and sessions are not for everybody who reaches the base URL',
    doc: 'true: the base URL answers /metrics too',
  },
  {
    name: 'limits.bodyBytes',
    default: 1_048_576,
    expected: 'a whole number from 1024 to 1073741824',
    reason: 'a token request is a few kilobytes',
    doc: 'the largest request body; 413 beyond',
  },
  {
    name: 'limits.adminBodyBytes',
    default: 67_108_864,
    expected: 'a whole number from 1024 to 1073741824',
    reason: 'a realm representation with all its users',
    doc: 'the largest body of the administrative API, once authorized',
  },
  {
    name: 'IDKIT_ADMIN_USERNAME',
    env: 'IDKIT_ADMIN_USERNAME',
    environmentOnly: true,
    default: 'admin',
    expected: 'a user name',
    reason: "Keycloak's custom",
    doc: "the machine's own administrator in realm master; the first serve makes it; with Keycloak also KC_BOOTSTRAP_ADMIN_USERNAME",
  },
  {
    name: 'IDKIT_ADMIN_PASSWORD',
    env: 'IDKIT_ADMIN_PASSWORD',
    secret: true,
    environmentOnly: true,
    default: undefined,
    expected: 'a password',
    reason: 'init generates one',
    doc: "the administrator's password; never resets an existing one; with Keycloak also KC_BOOTSTRAP_ADMIN_PASSWORD",
  },
  {
    name: 'IDKIT_MASTER_KEY',
    env: 'IDKIT_MASTER_KEY',
    secret: true,
    environmentOnly: true,
    default: undefined,
    expected: '32 bytes in base64',
    reason: 'init generates one',
    doc: 'encrypts secrets at rest',
  },
  {
    name: 'IDKIT_MASTER_KEY_OLD',
    env: 'IDKIT_MASTER_KEY_OLD',
    secret: true,
    environmentOnly: true,
    default: undefined,
    expected: '32 bytes in base64',
    reason: 'only while a rotation is unfinished',
    doc: 'the key before, while `idkit master-key rotate` is unfinished',
  },
  {
    name: 'IDKIT_DATABASE_PASSWORD',
    env: 'IDKIT_DATABASE_PASSWORD',
    secret: true,
    environmentOnly: true,
    default: undefined,
    expected: 'a password',
    reason: 'SQLite needs none',
    doc: 'the Postgres password; also IDKIT_DATABASE_PASSWORD_FILE, and with Keycloak KC_DB_PASSWORD',
  },
  {
    name: 'IDKIT_SMOKE_CLIENT_SECRET',
    env: 'IDKIT_SMOKE_CLIENT_SECRET',
    secret: true,
    environmentOnly: true,
    default: undefined,
    expected: 'a client secret',
    reason: 'init generates one',
    doc: 'the secret of the client that smoke uses',
  },
] as const satisfies readonly SettingDoc[];

/** A dotted name of idkit.yaml or the name of a variable that only the environment holds. */
export type SettingName = (typeof TABLE)[number]['name'];

/** Every setting, in the order of contract §1 and §2. */
export function settingDocs(): readonly (SettingDoc & { name: SettingName })[] {
  return TABLE;
}

/** Variables of contract §2 that are no setting of their own, and still known. */
export const OTHER_VARIABLES = ['IDKIT_DIR', 'IDKIT_DATABASE_PASSWORD_FILE'] as const;

/** The passphrase's three sources; refused in `.env` (contract §2). */
export const PASSPHRASE_VARIABLES = [
  'IDKIT_BACKUP_PASSPHRASE',
  'IDKIT_BACKUP_PASSPHRASE_FILE',
  'IDKIT_BACKUP_PASSPHRASE_COMMAND',
] as const;
