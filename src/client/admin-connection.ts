import type { Secret } from '../core/index.ts';

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
