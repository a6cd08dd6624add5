import type { Component } from '../../platform/index.ts';
import type { ProcedureResult } from '../run.ts';

/** One screen about the platform. Times are ISO 8601, UTC. */
export interface StatusReport extends ProcedureResult {
  dir: string;
  runtime: string;
  service: {
    kind: string;
    version: string;
    baseUrl?: string;
    health: 'UP' | 'DOWN' | 'stopped';
    detail?: string;
  };
  database: { kind: string; location: string };
  /** The containers, on a platform that has some. */
  parts?: readonly Component[];
  realms: readonly {
    realm: string;
    users?: number;
    /** The active signing key's algorithm and age in days, where the service tells. */
    keys: readonly { kid: string; algorithm: string; status: string; ageDays?: number }[];
    /** Refreshes within the last five minutes, where the service tells. */
    renewals?: { good: number; failed: number };
    /** Redirect URIs of its clients that end in a wildcard, where the service tells. */
    wildcards: readonly { clientId: string; redirectUri: string }[];
    /** What the realm asks for and idkit does not enforce. */
    unenforced: readonly string[];
  }[];
  lastBackup?: { name: string; ageSeconds: number; bytes: number; sealed: boolean };
  lastVerify?: { name: string; at: string; verdict: string };
  masterKey: { set: boolean; source?: string; rotationUnfinished: boolean };
}
