import { boolean, keepRule, keyNames, oneOf, orNull, path, target, wholeNumber } from './kinds.ts';
import type { SettingRow } from './row.ts';

/** The settings of backups, their copies and their archive. */
export const BACKUP_SETTINGS = [
  {
    name: 'backup.root',
    flags: {
      backup: '--to <root>',
      verify: '--root <root>',
      'backups list': '--root <root>',
      'backups prune': '--root <root>',
    },
    kind: path('the path of a directory'),
    default: 'backups',
    reason: 'works without configuration; a directory on another disk is safer',
    doc: 'the backup root; a relative path in idkit.yaml starts at the platform directory, a relative path in a flag at the working directory',
  },
  {
    name: 'backup.keepDays',
    flags: { backup: '--keep-days <days>', 'backups prune': '--keep-days <days>' },
    kind: wholeNumber(1, 36_500),
    default: 7,
    reason: 'a week of daily sets',
    doc: 'age in days after which a set is deleted; the newest good set always stays',
  },
  {
    name: 'backup.keepVersions',
    kind: wholeNumber(1, 1000),
    default: 4,
    reason: 'four weekly versions cover a month',
    doc: 'how many versions of the configuration and of the environment `idkit backup` keeps in the backup root',
  },
  {
    name: 'backup.maxAgeHours',
    kind: wholeNumber(1, 8784),
    default: 26,
    reason: 'a daily backup may begin two hours late',
    doc: 'the age in hours from which `idkit status`, the timer of `idkit verify` and the alerts report the newest set as too old',
  },
  {
    name: 'backup.encrypt',
    kind: oneOf('env', 'all'),
    default: 'env',
    reason: 'gunzip and psql then read a set without a passphrase; the environment always needs one',
    doc: 'what the passphrase encrypts; env: only .env; all: every file of a set and every version, and the readable manifest names no realms',
  },
  {
    name: 'backup.encryptTo',
    kind: keyNames,
    default: [],
    reason: 'a pair of keys must be created first, and its private key belongs on another machine',
    doc: 'OpenPGP public keys, as files or as fingerprints in the keyring of gpg; whole sets are encrypted to them, so that this machine cannot read its sets, and the passphrase only seals them',
  },
  {
    name: 'backup.mirror',
    flags: { backup: '--mirror <target>' },
    kind: orNull(target),
    default: null,
    reason: 'only the operator knows a second location',
    doc: 'the place to which every backup copies the backup root: a directory, [user@]host:path, ssh://user@host:port/path, s3://bucket/prefix or rclone:remote:path',
  },
  {
    name: 'backup.mirrorKeep',
    kind: keepRule,
    default: { last: 7, daily: 14, weekly: 8, monthly: 12, yearly: 3 },
    reason: 'the mirror goes back further than the backup root',
    doc: 'which sets stay at the mirror when sets are deleted there, as restic names it: the newest `last`, and the newest of each of so many days, weeks, months and years',
  },
  {
    name: 'backup.mirrorDelete',
    kind: boolean,
    default: false,
    reason: 'a program that cannot delete copies cannot lose them',
    doc: 'true: every backup deletes the sets at the mirror that backup.mirrorKeep does not keep; false: only `idkit backups mirror --delete` does',
  },
  {
    name: 'backup.mirrorMaxDelete',
    flags: { 'backups mirror': '--max-delete <sets>' },
    kind: wholeNumber(1, 10_000),
    default: 5,
    reason: 'a wrong rule or clock then loses few sets',
    doc: 'how many sets one run may delete at the mirror; if the rule would delete more, none is deleted',
  },
  {
    name: 'backup.shrinkPercent',
    kind: wholeNumber(1, 100),
    default: 30,
    reason: 'expired sessions and events rarely free a third of a database in a day',
    doc: 'by how many percent a dump may shrink between two backups; `idkit backup` reports a larger loss',
  },
] as const satisfies readonly SettingRow[];
