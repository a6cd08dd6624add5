// The response of `GET /admin/operations` (docs/reference/http.md#operations). Times are ISO 8601 unless noted otherwise.

export interface BackupSet {
  name: string;
  startedAt: string;
  future: boolean;
  bytes: number;
  parts: readonly string[];
  whole: boolean;
  state: 'verified' | 'unverified' | 'bad';
  sealed: boolean;
  realms: readonly { realm: string; users?: number }[];
  milliseconds?: number;
  verified?: { at: string; verdict: string; problems: readonly string[]; seal?: string };
  drill?: {
    startedAt: string;
    outcome: 'passed' | 'failed';
    milliseconds: number;
    phases: readonly { id: string; milliseconds: number }[];
    checklist: readonly { outcome: string; title: string; detail: string }[];
    problems: readonly string[];
  };
}

/** The newest test restore of one kind of platform. */
export interface NewestDrill {
  kind: string;
  startedAt: string;
  outcome: 'passed' | 'failed';
  milliseconds: number;
  set: string;
  /** The file of the report on the machine of the service. */
  report?: string;
}

/** The counts of one minute. `at` is a Unix time in milliseconds. */
export interface Minute {
  at: number;
  renewals: number;
  renewalFailures: number;
  logins: number;
  loginFailures: number;
}

export interface Operations {
  at: string;
  service: { version: string; startedAt: string; baseUrl: string; host: string; pid: number };
  replicas: readonly { name: string; since?: string }[];
  database: {
    kind: 'sqlite' | 'postgres';
    figures?: {
      bytes: number;
      schemaVersion: number;
      realms: number;
      users: number;
      userSessions: number;
      offlineSessions: number;
      openLogins: number;
    };
    freeBytes?: number;
    due: readonly { kind: string; records: number; overdueSeconds: number }[];
    migrations: readonly { name: string; title: string; handled: number; left?: number }[];
  };
  backups: {
    root: string;
    keepDays: number;
    mirror: boolean;
    overview?: {
      sets: readonly BackupSet[];
      more: number;
      unfinished: number;
      drills: readonly NewestDrill[];
    };
    problem?: string;
    restore?: string;
  };
  schedule: readonly {
    id: string;
    title: string;
    everySeconds: number;
    next?: string;
    last?: {
      at: string;
      outcome: 'good' | 'findings' | 'failed';
      messages: readonly string[];
      milliseconds?: number;
    };
    late: boolean;
  }[];
  traffic: readonly Minute[];
  renewals: readonly { realm: string; good: number; failed: number }[];
  alerts: readonly {
    name: string;
    severity: 'critical' | 'warning';
    summary: string;
    advice: string;
  }[];
}
