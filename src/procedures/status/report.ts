import type { Component } from '../../platform/index.ts';
import type { ProcedureResult } from '../run.ts';

/** The report of `idkit status`, which fits on one screen. Times are ISO 8601, UTC. */
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
  /** The parts of the platform. Absent on a platform without containers. */
  parts?: readonly Component[];
  /** The background migrations that have not finished. `left` is an estimate, and absent if it is unknown. */
  migrations: readonly { name: string; handled: number; left?: number }[];
  realms: readonly {
    realm: string;
    users?: number;
    /** The active signing keys. Empty if the service does not list them. */
    keys: readonly { kid: string; algorithm: string; status: string; ageDays?: number }[];
    /** Refreshes within the last five minutes. Absent if the service does not report them. */
    renewals?: { good: number; failed: number };
    /** Redirect URIs of clients that end in a wildcard. Empty if the service does not list them. */
    wildcards: readonly { clientId: string; redirectUri: string }[];
    /** Settings of the realm that idkit does not enforce. */
    unenforced: readonly string[];
  }[];
  lastBackup?: { name: string; ageSeconds: number; bytes: number; sealed: boolean };
  lastVerify?: { name: string; at: string; verdict: string };
  masterKey: { set: boolean; source?: string; rotationUnfinished: boolean };
}
