/**
 * The name of everything that `idkit status` can find, in the order of the documentation. `status.accept` contains
 * these names. They are stable: names are only added.
 */
export const STATUS_NAMES = {
  SERVICE_DOWN: 'the service does not respond, or does not report that it is ready',
  PART_DOWN: 'a container of the platform is not up',
  PART_RESTARTS: 'the engine restarted a container at least three times',
  PARTS_UNKNOWN: 'the container engine does not respond',
  DATABASE_UNREADABLE: 'the database cannot be read',
  REALMS_UNKNOWN:
    'the administrator of `.env` cannot read the realms, so their keys and settings are unknown',
  BACKUPS_UNREADABLE: 'the backup root cannot be read, or its file system hangs',
  BACKUP_MISSING: 'the backup root has no set that can be restored',
  BACKUP_TOO_OLD: 'the newest set is older than `backup.maxAgeHours`',
  BACKUP_PART_TOO_OLD:
    'no set has the realms within `backup.maxAgeHours`, or the configuration or the environment within 8 days',
  BACKUP_FAILED: 'the last backup of a part failed or had findings',
  SET_DAMAGED: 'the newest set lacks files, or its last verdict is not good',
  SET_IN_FUTURE: 'a set is dated more than an hour ahead of the clock',
  SET_UNSEALED: 'the newest set has no seal, so a restore accepts it only with `--trust-unsealed`',
  MIRROR_FAILED: 'the last backup did not copy every set to the mirror',
  MIRROR_MISSING: 'no mirror is configured, so a fire destroys the service together with its backups',
  VERIFY_MISSING: 'no set was ever verified with `idkit verify`, or the newest set has no verdict',
  VERIFY_TOO_OLD: 'the last verification was more than 32 days ago, or is dated in the future',
  VERIFY_FAILED: 'the last verification failed or had findings',
  VERIFY_WITHOUT_PASSPHRASE: 'the newest set was verified without its passphrase',
  DRILL_MISSING: 'no set was ever restored in a drill; a finding once the oldest backup is 32 days old',
  DRILL_TOO_OLD: 'the last drill was more than 32 days ago, or is dated in the future',
  DRILL_FAILED: 'the last drill failed',
  ARCHIVE_BEHIND: 'the newest transactions have not been in the archive for more than a minute',
  ARCHIVE_BROKEN: 'the archive has a gap, or no moment can be restored from it yet',
  SCHEDULE_MISSING: 'no timer and no cron line for a backup of this platform was found',
  SCHEDULE_FAILED: 'the last run of a timer failed',
  RESTORE_UNFINISHED: 'a restore was interrupted and neither resumed nor aborted',
  DISK_LOW: 'the disk has less free space than a restore of the newest set needs',
  BACKUP_DISK_LOW: 'the disk of the backup root has no room for another set',
  DISK_UNKNOWN: 'the free space for a restore is unknown',
  EVENTS_KEPT_FOREVER: 'a realm stores events that never expire',
  SESSIONS_KEPT_LONG: 'user sessions of a realm can last longer than a year',
  SWEEP_BEHIND: 'expired records have been due for more than half an hour',
  CERTIFICATE_EXPIRES: 'a TLS certificate expires within 14 days or has expired',
  KEY_EXPIRES: 'the certificate of a signing key expires within 30 days or has expired',
  KEY_NOT_ROTATED: 'a signing key is older than 365 days',
  KEYS_UNKNOWN: 'the administrator of `.env` may not read the keys of a realm',
  MASTER_KEY_ROTATION_UNFINISHED: 'a rotation of the master key is unfinished',
  RENEWALS_FAILING: 'more than 5 % of the refreshes of a realm in the last 5 minutes failed',
  REDIRECT_WILDCARD: 'a client accepts every address below a redirect URI',
  THEME_INVALID: 'a theme in `config/themes` has an error, so its realms show idkit’s look',
  NOT_ENFORCED: 'a realm or client demands something that idkit does not enforce',
} as const satisfies Record<string, string>;

/** The name of a finding or warning of `idkit status`. */
export type StatusName = keyof typeof STATUS_NAMES;

/** Narrows a text to a name. */
export function isStatusName(name: unknown): name is StatusName {
  return typeof name === 'string' && Object.hasOwn(STATUS_NAMES, name);
}
