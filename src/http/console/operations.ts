import type { RootOverview } from '../../backupset/index.ts';
import type { MinuteCounts } from '../monitoring/minute-history.ts';

/**
 * The state of a platform, for the screen Operations of the console (docs/reference/http.md#operations). It contains no
 * secrets and no values of the environment. Times are ISO 8601 in UTC unless noted otherwise.
 */
export interface Operations {
  at: string;
  service: {
    version: string;
    /** The start of the process that responded. */
    startedAt: string;
    baseUrl: string;
    host: string;
    pid: number;
    /** The number of processes that share the port. Absent if there is only one. */
    workers?: number;
  };
  /** The services that use the database. */
  replicas: readonly { name: string; since?: string }[];
  database: {
    kind: 'sqlite' | 'postgres';
    /** Absent if the database did not respond. */
    figures?: {
      bytes: number;
      schemaVersion: number;
      realms: number;
      users: number;
      userSessions: number;
      offlineSessions: number;
      openLogins: number;
    };
    /** Free space on the file system of an embedded database, in bytes. */
    freeBytes?: number;
    /** Expired records that are not removed yet. */
    due: readonly { kind: string; records: number; overdueSeconds: number }[];
    migrations: readonly { name: string; title: string; handled: number; left?: number }[];
  };
  backups: {
    root: string;
    keepDays: number;
    mirror: boolean;
    /** Absent if the root cannot be read; `problem` then says why. */
    overview?: RootOverview;
    problem?: string;
    /** The command that restores the newest good set. Absent without such a set. */
    restore?: string;
  };
  schedule: readonly {
    id: string;
    title: string;
    /** How often it should run, in seconds. */
    everySeconds: number;
    /** The next planned time. Absent if no scheduler has taken up the job. */
    next?: string;
    /** The duration is only known if a scheduler ran the job. */
    last?: {
      at: string;
      outcome: 'good' | 'findings' | 'failed';
      messages: readonly string[];
      milliseconds?: number;
    };
    /** Whether the last good result is older than it should be. */
    late: boolean;
  }[];
  /** Counts of the process that responded, by minute. Times are Unix times in milliseconds. */
  traffic: readonly MinuteCounts[];
  /** The refreshes of the last five minutes in each realm. */
  renewals: readonly { realm: string; good: number; failed: number }[];
  alerts: readonly OperationsAlert[];
}

/** A condition that needs an operator. */
export interface OperationsAlert {
  name: string;
  severity: 'critical' | 'warning';
  /** What is wrong. */
  summary: string;
  /** What to do. */
  advice: string;
}
