import type { Secret } from '../../core/index.ts';

/**
 * Where a setting's value came from, in order of precedence (contract §2); `file` for the database's password in the file
 * that IDKIT_DATABASE_PASSWORD_FILE names.
 */
export type SettingSource = 'flag' | 'environment' | '.env' | 'file' | 'idkit.yaml' | 'default';

/** A monitored application (`applications` in idkit.yaml). */
export interface Application {
  name: string;
  /** Answers 200 with `{"status":"UP"}` when it is well. */
  health?: string;
  /** Answers 401 without and 200 with a machine-to-machine token. */
  protected?: string;
}

/** Every effective setting of one platform directory (contract §1, §2). Paths are absolute. */
export interface Settings {
  /** The platform directory. */
  dir: string;
  /** False where the directory has no idkit.yaml. */
  exists: boolean;
  runtime: 'embedded' | 'compose';
  service: 'idkit' | 'keycloak';
  /** The issuer's base without a trailing slash; null: scheme, host and port that serve listens on. */
  baseUrl: string | null;
  listen: {
    host: string;
    port: number;
    /** Null: 9000 where no other program has it. */
    managementPort: number | 'off' | null;
    managementHost: string;
    tlsCert: string | null;
    tlsKey: string | null;
    /** Null: 3 on Postgres, 0 on SQLite. */
    drainSeconds: number | null;
  };
  database: { kind: 'sqlite'; file: string } | { kind: 'postgres'; url: string };
  /** Addresses or CIDR blocks. */
  trustedProxies: readonly string[];
  /** Addresses or CIDR blocks in private networks that may be called. */
  admin: { protectAdministrators: boolean };
  realmFiles: { remove: boolean };
  /** `off`: of a service that is isolated, and calls nobody. */
  outbound: { privateAddresses: readonly string[]; off?: true };
  /** Empty: all realms. */
  realms: readonly string[];
  backup: { root: string; keepDays: number; keepVersions: number; mirror: string | null };
  smoke: { realm: string; clientId: string; clientSecret: Secret | undefined };
  applications: readonly Application[];
  compose: { engine: string | null; project: string; proxy: string };
  keycloak: { managementUrl: string | null; start: string | null; stop: string | null };
  metrics: { public: boolean };
  limits: { bodyBytes: number; adminBodyBytes: number };
  administrator: { username: string; password: Secret | undefined };
  masterKey: Secret | undefined;
  masterKeyOld: Secret | undefined;
  databasePassword: Secret | undefined;
  /** What `.env` holds beside idkit's own keys, as the process environment may say otherwise: variables of compose.yaml. */
  environment: ReadonlyMap<string, string>;
  /** By dotted name of idkit.yaml (`listen.port`) or environment variable. */
  sources: Readonly<Record<string, SettingSource>>;
}

/** The paths of contract §1 inside a platform directory. */
export interface PlatformPaths {
  dir: string;
  yaml: string;
  env: string;
  config: string;
  import: string;
  data: string;
  compose: string;
}
