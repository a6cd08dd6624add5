import type { Component } from '../../platform/index.ts';
import type { ProcedureResult } from '../run.ts';
import type { FoundCertificate } from './find-certificates.ts';
import type { DiskRow } from './find-disk.ts';
import type { FoundSchedule } from './find-schedule.ts';
import type { Settled } from './judge.ts';

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
  database: { kind: string; location: string; bytes?: number };
  /** The parts of the platform. Absent on a platform without containers. */
  parts?: readonly Component[];
  /** The background migrations that have not finished. `left` is an estimate, and absent if it is unknown. */
  migrations: readonly { name: string; handled: number; left?: number }[];
  /** User sessions of idkit, or client sessions of Keycloak, in all realms. Absent if they are unknown. */
  sessions?: { kind: 'user' | 'client'; online: number; offline: number };
  realms: readonly {
    realm: string;
    users?: number;
    /** The active signing keys. Empty if the service does not list them. */
    keys: readonly {
      kid: string;
      algorithm: string;
      status: string;
      ageDays?: number;
      /** The end of the key's certificate. */
      expiresAt?: string;
    }[];
    /** Why the keys are unknown. */
    keysUnknown?: string;
    /** How long events and sessions stay. Durations in seconds. Absent if the service is not running. */
    lifetimes?: { eventsForever: readonly string[]; sessionSeconds: number; offlineSeconds: number };
    /** Client sessions of Keycloak. */
    clientSessions?: { active: number; offline: number };
    /** Refreshes within the last five minutes. Absent if the service does not report them. */
    renewals?: { good: number; failed: number };
    /** Redirect URIs of clients that end in a wildcard. Empty if the service does not list them. */
    wildcards: readonly { clientId: string; redirectUri: string }[];
    /** Settings of the realm that idkit does not enforce. */
    unenforced: readonly string[];
  }[];
  lastBackup?: { name: string; ageSeconds: number; bytes: number; sealed: boolean };
  /** `by` is `backup` if only the backup itself has read the set. */
  lastVerify?: { name: string; at: string; verdict: string; by: 'backup' | 'verify' };
  lastDrill?: { name: string; at: string; outcome: 'good' | 'findings' | 'failed' };
  /**
   * The archive that the service writes. `newest` is the newest moment that can be restored. `gaps` are times in which
   * nothing can be restored. Absent without an archive, or before its first base is complete.
   */
  archive?:
    | {
        target: string;
        newest: string;
        /** For how many seconds the oldest transaction outside the archive has been waiting. */
        lagSeconds: number;
        fault?: string;
        gaps: readonly { from: string; until?: string; why: string }[];
      }
    | undefined;
  schedule: FoundSchedule;
  /** The themes in `config/themes`. A theme with an error is not usable. */
  themes: readonly { name: string; usable: boolean }[];
  disks: readonly DiskRow[];
  certificates: readonly Omit<FoundCertificate, 'dueAt'>[];
  masterKey: { set: boolean; source?: string; rotationUnfinished: boolean };
  /** Matters of taste, and what could not be determined. They do not change the exit code. */
  warnings: Settled['warnings'];
  /** Findings and warnings that `status.accept` names. */
  accepted: Settled['accepted'];
}
