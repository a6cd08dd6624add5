import type { Secret } from '../core/index.ts';

/** A realm record of `GET /admin/realms` or `GET /admin/realms/{realm}`, as the service gave it. */
export interface RealmRecord {
  realm: string;
  enabled?: boolean;
  [field: string]: unknown;
}

/** How to reach an administrative API. Works on idkit and on Keycloak 26. */
export interface AdminConnection {
  /** Without a trailing slash. */
  baseUrl: string;
  /** Administrative realm; `master` unless told. */
  realm?: string;
  /** `admin-cli` unless told. */
  clientId?: string;
  username: string;
  password: Secret;
  /** A file (mode 0600) that keeps the login between runs, renewed under a lock; absent: memory only. */
  tokenFile?: string;
  signal?: AbortSignal;
  /** Milliseconds for one call; 10,000 unless told. */
  timeoutMilliseconds?: number;
}

/** Calls of the administrative API with one login kept and renewed. @throws IDKIT_UNREACHABLE, IDKIT_CREDENTIALS, IDKIT_NOT_FOUND, IDKIT_FAILED */
export interface AdminClient {
  /** The current access token, renewed 30 s before it ends. */
  accessToken(): Promise<Secret>;
  listRealms(): Promise<readonly RealmRecord[]>;
  getRealm(realm: string): Promise<RealmRecord>;
  countUsers(realm: string): Promise<number>;
  /** Any call below `/admin/realms`; `path` begins with `/`. Answers parsed JSON, or undefined for an empty body. */
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<{ status: number; location?: string; body: unknown }>;
  /** Ends the login. */
  logout(): Promise<void>;
}
