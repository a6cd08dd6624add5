/** Time series by name, with values in the notation of promtool, one for each step. */
export type Series = Record<string, string>;

export interface RuleCase {
  /** The alert fires at `at` with these labels and this summary. */
  fires: Series;
  at: string;
  labels?: Record<string, string>;
  summary: string;
  /** The alert does not fire at `at`. */
  quiet: Series;
  /** The time between two values and two evaluations. Default: a minute. */
  step?: '1h';
}

/** A value that stays the same for 34 days, in steps of an hour. */
const always = (value: number) => `${value}x${34 * 24}`;
const EVENTS = 'keycloak_user_events_total';
const TOKEN = 'http_server_requests_seconds_bucket{uri="/realms/{realm}/protocol/openid-connect/token"';

/** One case for each alert of examples/alerts.yaml. */
export const CASES: Record<string, RuleCase> = {
  RenewalsFailing: {
    fires: {
      [`${EVENTS}{event="refresh_token",realm="shop",error=""}`]: '0+90x10',
      [`${EVENTS}{event="refresh_token",realm="shop",error="invalid_token"}`]: '0+10x10',
    },
    at: '6m',
    labels: { realm: 'shop' },
    summary: '10% of the renewals in realm shop fail',
    quiet: {
      [`${EVENTS}{event="refresh_token",realm="shop",error=""}`]: '0+95x10',
      [`${EVENTS}{event="refresh_token",realm="shop",error="invalid_token"}`]: '0+5x10',
    },
  },
  RefreshTokenReused: {
    // The series begins with the first reuse.
    fires: { 'idkit_refresh_token_reuse_total{realm="shop"}': '_x20 1x5' },
    at: '23m',
    labels: { realm: 'shop' },
    summary: '1 refresh tokens of realm shop were used twice',
    quiet: { 'idkit_refresh_token_reuse_total{realm="shop"}': '1x60' },
  },
  ClientLoginsFailing: {
    fires: {
      [`${EVENTS}{event="client_login",realm="shop",client_id="job",error=""}`]: '0+1x20',
      [`${EVENTS}{event="client_login",realm="shop",client_id="job",error="invalid_client_credentials"}`]:
        '0+1x20',
    },
    at: '15m',
    labels: { realm: 'shop', client_id: 'job' },
    summary: '50% of the logins of client job in realm shop fail',
    quiet: { [`${EVENTS}{event="client_login",realm="shop",client_id="job",error=""}`]: '0+1x20' },
  },
  DisabledClientUsed: {
    fires: { [`${EVENTS}{event="login",realm="shop",client_id="web",error="client_disabled"}`]: '_x20 1x5' },
    at: '23m',
    labels: { realm: 'shop', client_id: 'web' },
    summary: 'client web of realm shop is used although it or its realm is disabled',
    quiet: { [`${EVENTS}{event="login",realm="shop",client_id="web",error="client_disabled"}`]: '1x60' },
  },
  ServiceDown: {
    fires: { 'up{job="idkit",instance="a:9000"}': '1x5 0x20' },
    at: '15m',
    labels: { job: 'idkit', instance: 'a:9000' },
    summary: 'the service at a:9000 does not respond',
    // A start takes a minute.
    quiet: { 'up{job="idkit",instance="a:9000"}': '1x10 0 1x10' },
  },
  ServiceRestarts: {
    fires: { 'process_start_time_seconds{job="idkit",instance="a:9000"}': '1x5 2x5 3x5 4x5' },
    at: '20m',
    labels: { job: 'idkit', instance: 'a:9000' },
    summary: 'the service at a:9000 restarted 3 times in 30 minutes',
    quiet: { 'process_start_time_seconds{job="idkit",instance="a:9000"}': '1x5 2x20' },
  },
  ServerErrors: {
    fires: {
      'http_server_requests_seconds_count{outcome="SUCCESS"}': '0+98x20',
      'http_server_requests_seconds_count{outcome="SERVER_ERROR"}': '0+2x20',
    },
    at: '15m',
    summary: '2% of the requests fail with a 5xx status',
    quiet: {
      'http_server_requests_seconds_count{outcome="SUCCESS"}': '0+99x20',
      'http_server_requests_seconds_count{outcome="CLIENT_ERROR"}': '0+50x20',
      'http_server_requests_seconds_count{outcome="SERVER_ERROR"}': '0+1x20',
    },
  },
  TokensSlow: {
    fires: {
      [`${TOKEN},le="1"}`]: '0x30',
      [`${TOKEN},le="2"}`]: '0+100x30',
      [`${TOKEN},le="+Inf"}`]: '0+100x30',
    },
    at: '25m',
    summary: '1 % of the token requests take longer than 1.99s',
    quiet: { [`${TOKEN},le="0.1"}`]: '0+100x30', [`${TOKEN},le="+Inf"}`]: '0+100x30' },
  },
  PasswordHashesRefused: {
    fires: { idkit_password_hashes_refused_total: '0 0 4x10' },
    at: '6m',
    summary: '4 logins were rejected because too many passwords were waiting',
    quiet: { idkit_password_hashes_refused_total: '4x10' },
  },
  EventsDropped: {
    fires: { idkit_events_dropped_total: '0x10 15x10' },
    at: '15m',
    summary: '15 user events could not be stored',
    quiet: { idkit_events_dropped_total: '9x20' },
  },
  LaneRefuses: {
    fires: { 'idkit_lane_refused_total{lane="reads"}': '0 0 5x10' },
    at: '6m',
    labels: { lane: 'reads' },
    summary: 'lane reads of the database rejected 5 requests',
    quiet: { 'idkit_lane_refused_total{lane="reads"}': '5x10' },
  },
  SweepBehind: {
    fires: { 'idkit_sweep_overdue_seconds{kind="events"}': '1860x20' },
    at: '15m',
    labels: { kind: 'events' },
    summary: 'expired events have been due for 31m 0s',
    quiet: { 'idkit_sweep_overdue_seconds{kind="events"}': '1800x20' },
  },
  CountsDrifted: {
    fires: { idkit_count_drift: '0x1440 3x20' },
    at: '24h10m',
    summary: 'a check corrected counts by 3',
    quiet: { idkit_count_drift: '3x1500' },
  },
  CountsUnchecked: {
    step: '1h',
    fires: { idkit_counts_checked_timestamp_seconds: always(0) },
    at: '73h',
    summary: 'the counts were last checked 3d 1h 0m 0s ago',
    quiet: { idkit_counts_checked_timestamp_seconds: '0+3600x100' },
  },
  BackupRootUnreadable: {
    fires: { 'idkit_backup_root_readable{instance="a"}': '0x30' },
    at: '20m',
    summary: 'the backup root cannot be read',
    // One of several replicas is on the machine with the root.
    quiet: {
      'idkit_backup_root_readable{instance="a"}': '0x30',
      'idkit_backup_root_readable{instance="b"}': '1x30',
    },
  },
  BackupMissing: {
    fires: { idkit_backup_restorable_sets: '0x30' },
    at: '20m',
    summary: 'the backup root has no set that can be restored',
    quiet: { idkit_backup_restorable_sets: '1x30' },
  },
  BackupTooOld: {
    step: '1h',
    fires: {
      idkit_backup_restorable_timestamp_seconds: always(0),
      idkit_backup_max_age_seconds: always(93600),
    },
    at: '27h',
    summary: 'the newest backup that can be restored is 1d 3h 0m 0s old',
    quiet: {
      idkit_backup_restorable_timestamp_seconds: always(3600),
      idkit_backup_max_age_seconds: always(93600),
    },
  },
  RealmExportTooOld: {
    step: '1h',
    fires: {
      'idkit_backup_part_timestamp_seconds{part="realms"}': always(0),
      idkit_backup_max_age_seconds: always(93600),
    },
    at: '27h',
    summary: 'the newest backup of the realm files is 1d 3h 0m 0s old',
    quiet: {
      'idkit_backup_part_timestamp_seconds{part="config"}': always(0),
      'idkit_backup_part_timestamp_seconds{part="realms"}': always(3600),
      idkit_backup_max_age_seconds: always(93600),
    },
  },
  ConfigurationBackupTooOld: {
    step: '1h',
    fires: { 'idkit_backup_part_timestamp_seconds{part="env"}': always(0) },
    at: '9d',
    labels: { part: 'env' },
    summary: 'the newest backup of the part env is 9d 0h 0m 0s old',
    quiet: { 'idkit_backup_part_timestamp_seconds{part="env"}': always(172800) },
  },
  BackupFailed: {
    fires: { 'idkit_backup_last_run_good{part="database"}': '0x30' },
    at: '20m',
    labels: { part: 'database' },
    summary: 'the last backup of the part database failed or had findings',
    quiet: { 'idkit_backup_last_run_good{part="database"}': '1x30' },
  },
  MirrorIncomplete: {
    fires: { idkit_backup_mirror_complete: '0x30' },
    at: '20m',
    summary: 'the last backup did not copy every set to the mirror',
    quiet: { idkit_backup_mirror_complete: '1x30' },
  },
  BackupDiskLow: {
    fires: { idkit_backup_root_free_bytes: '1048576x90', idkit_backup_newest_bytes: '1048576x90' },
    at: '80m',
    summary: 'the disk of the backup root has only 1MiB left',
    quiet: { idkit_backup_root_free_bytes: '3000000x90', idkit_backup_newest_bytes: '1048576x90' },
  },
  BackupNotVerified: {
    fires: { idkit_backup_newest_verified: '0x90' },
    at: '80m',
    summary: 'the newest backup is damaged or was never verified',
    quiet: { idkit_backup_newest_verified: '1x90' },
  },
  VerifyFailed: {
    fires: { idkit_verify_good: '0x5' },
    at: '3m',
    summary: 'the last verification of the backups failed or had findings',
    quiet: { idkit_verify_good: '1x5' },
  },
  VerifyTooOld: {
    step: '1h',
    fires: { idkit_verify_timestamp_seconds: always(0) },
    at: '33d',
    summary: 'the last verification of the backups was 33d 0h 0m 0s ago',
    quiet: { idkit_verify_timestamp_seconds: always(172800) },
  },
  VerifyMissing: {
    step: '1h',
    fires: { idkit_backup_restorable_sets: always(1) },
    at: '50h',
    summary: 'the backups were never verified',
    quiet: { idkit_backup_restorable_sets: always(1), idkit_verify_timestamp_seconds: always(0) },
  },
  DrillFailed: {
    fires: { idkit_drill_good: '0x5' },
    at: '3m',
    summary: 'the last restore drill failed',
    quiet: { idkit_drill_good: '1x5' },
  },
  DrillTooOld: {
    step: '1h',
    fires: { idkit_drill_timestamp_seconds: always(0) },
    at: '33d',
    summary: 'the last restore drill was 33d 0h 0m 0s ago',
    quiet: { idkit_drill_timestamp_seconds: always(172800) },
  },
  DrillMissing: {
    step: '1h',
    fires: { idkit_backup_restorable_sets: always(1) },
    at: '33d',
    summary: 'no backup was ever restored in a drill',
    quiet: { idkit_backup_restorable_sets: always(1), idkit_drill_timestamp_seconds: always(0) },
  },
  RestoreSlow: {
    fires: { idkit_drill_duration_seconds: '2400x5' },
    at: '3m',
    summary: 'the last restore drill took 40m 0s',
    quiet: { idkit_drill_duration_seconds: '1800x5' },
  },
  JobOverdue: {
    fires: { 'idkit_job_overdue{exported_job="mirror"}': '1x30' },
    at: '10m',
    labels: { exported_job: 'mirror' },
    summary: 'the job mirror is overdue',
    quiet: { 'idkit_job_overdue{exported_job="mirror"}': '0x30' },
  },
  ArchiveBehind: {
    // The second replica archived before.
    fires: {
      'idkit_archive_newest_timestamp_seconds{instance="a"}': '1000x10',
      'idkit_archive_lag_seconds{instance="a"}': '0+60x10',
      'idkit_archive_newest_timestamp_seconds{instance="b"}': '500x10',
      'idkit_archive_lag_seconds{instance="b"}': '0x10',
    },
    at: '6m',
    summary: 'nothing of the last 6m 0s can be restored from the archive',
    quiet: {
      'idkit_archive_newest_timestamp_seconds{instance="a"}': '1000+60x10',
      'idkit_archive_lag_seconds{instance="a"}': '0x10',
      'idkit_archive_newest_timestamp_seconds{instance="b"}': '500x10',
      'idkit_archive_lag_seconds{instance="b"}': '0+600x10',
    },
  },
  ArchiveGap: {
    fires: { idkit_archive_gaps: '1x5 2x5' },
    at: '8m',
    summary: 'the archive has a new time in which no moment can be restored',
    quiet: { idkit_archive_gaps: '2x20' },
  },
  ArchiveMissing: {
    fires: { idkit_archive_gaps: '0x200' },
    at: '150m',
    summary: 'no moment can be restored from the archive',
    quiet: { idkit_archive_gaps: '0x200', idkit_archive_newest_timestamp_seconds: '_x60 0x200' },
  },
  StatusFinding: {
    fires: { 'idkit_status_findings{name="DISK_LOW"}': '1x30' },
    at: '20m',
    labels: { name: 'DISK_LOW' },
    summary: 'idkit status reports DISK_LOW',
    quiet: { 'idkit_status_warnings{name="REDIRECT_WILDCARD"}': '1x30' },
  },
  StatusTooOld: {
    fires: { idkit_status_timestamp_seconds: '0x120' },
    at: '90m',
    summary: 'idkit status --prometheus last ran 1h 30m 0s ago',
    quiet: { idkit_status_timestamp_seconds: '0+60x120' },
  },
  CertificateExpires: {
    fires: { 'idkit_certificate_expiry_timestamp_seconds{place="https://x"}': `${10 * 86_400}x5` },
    at: '0m',
    labels: { place: 'https://x' },
    summary: 'the certificate of https://x expires in 10d 0h 0m 0s',
    quiet: { 'idkit_certificate_expiry_timestamp_seconds{place="https://x"}': `${15 * 86_400}x5` },
  },
  KeyNotRotated: {
    fires: { 'idkit_signing_key_age_seconds{realm="shop",algorithm="RS256"}': `${366 * 86_400}x5` },
    at: '3m',
    labels: { realm: 'shop', algorithm: 'RS256' },
    summary: 'the RS256 key of realm shop is 366d 0h 0m 0s old',
    quiet: { 'idkit_signing_key_age_seconds{realm="shop",algorithm="RS256"}': `${365 * 86_400}x5` },
  },
  RestoreDiskLow: {
    fires: {
      'idkit_restore_free_bytes{place="/d"}': '1x90',
      'idkit_restore_needed_bytes{place="/d"}': '2x90',
    },
    at: '80m',
    labels: { place: '/d' },
    summary: 'a restore does not fit on the disk of /d',
    quiet: {
      'idkit_restore_free_bytes{place="/d"}': '2x90',
      'idkit_restore_needed_bytes{place="/d"}': '2x90',
    },
  },
};
