// The matrix of faults: which tests prove what must hold after which fault, on which kind of platform. A row is proven
// on a kind if one of its tests runs on it. Titles are the beginnings of test titles, as the source file has them.

export const KINDS = ['sqlite', 'postgres', 'containers'] as const;
export type Kind = (typeof KINDS)[number];

/** A test that proves a part of a row. */
export interface Proof {
  /** The kinds on which the test runs. A test of files alone is the same on every kind. */
  on: readonly Kind[];
  /** Below `test/`. */
  file: string;
  /** The beginning of the title, before the first placeholder. */
  title: string;
}

export interface MatrixRow {
  number: number;
  injection: string;
  holds: string;
  proofs: readonly Proof[];
  /** The kinds on which the fault cannot happen, with the reason. */
  without?: Readonly<Partial<Record<Kind, string>>>;
}

const ALL = KINDS;
const SQLITE = ['sqlite'] as const;
const POSTGRES = ['postgres'] as const;
const CONTAINERS = ['containers'] as const;
const DATABASES = ['sqlite', 'postgres'] as const;
const ON_SERVER = ['postgres', 'containers'] as const;
const proof = (on: readonly Kind[], file: string, title: string): Proof => ({ on, file, title });

export const MATRIX: readonly MatrixRow[] = [
  {
    number: 1,
    injection: 'kill -9 of a backup after each step and at random times',
    holds:
      'each set with a final name is complete; the next run removes leftovers; no plain `.env` on the disk',
    proofs: [
      proof(DATABASES, 'faults/killed-backup.test.ts', 'publishes a complete set or none after kill -9'),
      proof(SQLITE, 'procedures/backup/backup.test.ts', 'publishes a complete set or none if it is killed'),
      proof(POSTGRES, 'procedures/postgres/endings.test.ts', 'pg_dump and psql end if the backup'),
      proof(
        CONTAINERS,
        'containers/part-faults.ts',
        'a backup that is interrupted or killed while pg_dump waits',
      ),
    ],
  },
  {
    number: 2,
    injection: 'kill -9 of a restore after each step, then `--resume` and, separately, `--abort`',
    holds: 'the state is the old one or the new one, never mixed, and both ends pass the smoke tests',
    proofs: [
      proof(SQLITE, 'procedures/restore/crash.test.ts', 'after "'),
      proof(SQLITE, 'procedures/restore/crash.test.ts', 'can be completed by a rerun or --resume'),
      proof(POSTGRES, 'faults/postgres-restore-crash.test.ts', 'if a restore is killed after "'),
      proof(POSTGRES, 'faults/postgres-restore-crash.test.ts', 'a restore that is killed at a random time'),
      proof(POSTGRES, 'faults/postgres-restore-crash.test.ts', 'a restore in place that is killed'),
      proof(CONTAINERS, 'containers/restore-faults.ts', 'a restore that is killed after "verify"'),
      proof(CONTAINERS, 'containers/restore-faults.ts', 'if a restore is killed after "load"'),
      proof(CONTAINERS, 'containers/restore-faults.ts', 'if a restore is killed after "swap"'),
      proof(CONTAINERS, 'containers/restore-faults.ts', 'if a restore on an empty host is killed after "'),
    ],
  },
  {
    number: 3,
    injection:
      'the dump fails: pg_dump is killed, waits for a lock, or its server stops; the file of SQLite is damaged',
    holds: 'the backup ends in bounded time with 13 or 15, publishes nothing and deletes nothing',
    proofs: [
      proof(
        POSTGRES,
        'platform/postgres/faults.test.ts',
        'a dump fails with exit code 15 if another session',
      ),
      proof(
        POSTGRES,
        'platform/postgres/faults.test.ts',
        'a dump fails if pg_dump or its server process is killed',
      ),
      proof(
        POSTGRES,
        'platform/postgres/faults.test.ts',
        'a dump fails with exit code 15 if the server stops',
      ),
      proof(POSTGRES, 'platform/postgres/faults.test.ts', 'dump and load fail with exit code 15'),
      proof(DATABASES, 'faults/failed-dump.test.ts', 'publishes no set and deletes none'),
      proof(SQLITE, 'procedures/backup/edges.test.ts', 'deletes no expired set if it fails'),
      proof(CONTAINERS, 'containers/part-faults.ts', 'idkit exits with 15 if a container is paused'),
    ],
  },
  {
    number: 4,
    injection: 'a full disk: the backup root, the disk of the database during a load, the disk of a drill',
    holds: 'exit code 19, nothing unfinished stays, earlier sets and the live database are intact',
    proofs: [
      proof(SQLITE, 'procedures/backup/backup.test.ts', 'ends with IDKIT_NO_SPACE on a full disk'),
      proof(DATABASES, 'faults/full-disk.test.ts', 'a backup ends with exit code 19'),
      proof(
        SQLITE,
        'procedures/restore/edges.test.ts',
        'the old state stays intact if the disk fills up after "',
      ),
      proof(SQLITE, 'procedures/restore/restore.test.ts', 'is rejected if the staged database has no space'),
      proof(POSTGRES, 'platform/postgres/access.test.ts', 'reports that the server’s disk is full'),
      proof(POSTGRES, 'procedures/postgres/drill.test.ts', 'exits with 19 on a disk without space'),
      proof(CONTAINERS, 'containers/part-faults.ts', 'if the volume of the database is full, restore'),
      proof(CONTAINERS, 'platform/compose/compose-fault.test.ts', 'reports a full disk while an image'),
    ],
  },
  {
    number: 5,
    injection: 'a dump that is truncated at eight places, with new checksums and a new seal',
    holds: 'verify and restore end with 13; the service is not stopped and no table is created',
    proofs: [
      proof(DATABASES, 'faults/truncated-dump.test.ts', 'ends verify and restore with exit code 13'),
      proof(SQLITE, 'backupset/dump/embedded.test.ts', 'rejects a dump that is truncated at any position'),
      proof(ON_SERVER, 'backupset/dump/postgres.test.ts', 'rejects a dump that is truncated at any line end'),
      proof(ON_SERVER, 'platform/postgres/faults.test.ts', 'a truncated dump creates no tables'),
    ],
  },
  {
    number: 6,
    injection: 'one flipped bit in every file of a set, at the first, the last and random positions',
    holds: 'verify ends with 13 and names the file',
    proofs: [
      proof(SQLITE, 'faults/bit-flips.test.ts', 'is damage to that file (SQLite)'),
      proof(SQLITE, 'faults/bit-flips.test.ts', 'is damage to that file (SQLite, encrypted)'),
      proof(ON_SERVER, 'faults/bit-flips.test.ts', 'is damage to that file (Postgres)'),
      proof(ON_SERVER, 'faults/bit-flips.test.ts', 'is damage to that file (Postgres, encrypted)'),
      proof(ALL, 'interop/encrypted-files.test.ts', 'is rejected after every change of a byte'),
    ],
  },
  {
    number: 7,
    injection:
      'a wrong, empty or other passphrase; messages of gpg with AEAD, without protection, with Camellia',
    holds:
      'a wrong passphrase (12) differs from damage (13); gpg opens what idkit encrypted; `.env` is unchanged',
    proofs: [
      proof(ALL, 'backupset/openpgp/environment.test.ts', 'decrypts AEAD messages as gpg 2.4'),
      proof(ALL, 'backupset/openpgp/environment.test.ts', 'rejects a message without integrity protection'),
      proof(ALL, 'backupset/openpgp/environment.test.ts', 'if a message has several passphrases'),
      proof(ALL, 'interop/gpg.test.ts', '`gpg --decrypt` restores an environment'),
      proof(ALL, 'interop/encrypted-files.test.ts', 'is decrypted by gpg and by idkit'),
      proof(ALL, 'interop/encrypted-files.test.ts', 'can be written by gpg'),
      proof(SQLITE, 'procedures/edges.test.ts', 'ends verify and restore with exit code 14'),
      proof(SQLITE, 'procedures/restore/restore.test.ts', 'rejects a wrong passphrase (exit code 12)'),
      proof(ALL, 'cli/backup.test.ts', 'exits with 2 if the passphrase has two sources'),
      proof(ALL, 'cli/backup.test.ts', 'reads the first line of a passphrase file'),
    ],
  },
  {
    number: 8,
    injection: 'two procedures at once; the holder of a lock is killed, stopped, or on NFS',
    holds: 'one continues and the other exits with 11 immediately; no lock must be removed after a crash',
    proofs: [
      proof(DATABASES, 'faults/locks.test.ts', 'one continues, and the other exits with 11'),
      proof(DATABASES, 'faults/locks.test.ts', 'needs no manual unlock'),
      proof(DATABASES, 'faults/locks.test.ts', 'of two backups that start together'),
      proof(DATABASES, 'faults/locks.test.ts', 'of two restores that start together'),
      proof(DATABASES, 'faults/locks.test.ts', 'the locks of a backup root work on NFS'),
      proof(
        ON_SERVER,
        'procedures/postgres/backup-restore.test.ts',
        'is not restored while a replica on another machine',
      ),
    ],
  },
  {
    number: 9,
    injection: 'the clock: behind the newest set, an hour ahead, the same second twice, a set of the future',
    holds: 'names are unique, in UTC and increasing; a wrong clock never deletes the last good set',
    proofs: [
      proof(
        ALL,
        'procedures/backup/backup.test.ts',
        'dates the set after the newest one if the clock is behind',
      ),
      proof(ALL, 'procedures/backup/backup.test.ts', 'ignores sets that are dated more than an hour ahead'),
      proof(ALL, 'backupset/retention/prune.test.ts', 'never deletes a set dated in the future'),
      proof(ALL, 'procedures/edges.test.ts', 'is reported as a finding by `verify` and `backups`'),
      proof(
        ALL,
        'procedures/status/judge-backups.test.ts',
        'finds a verification and a drill that are dated',
      ),
    ],
  },
  {
    number: 10,
    injection:
      'a hostile `config.tar.gz`; a source with sockets, FIFOs, links and files that change while they are read',
    holds:
      'nothing is written outside the target and nothing by halves (13); a backup reports what it leaves out',
    proofs: [
      proof(ALL, 'backupset/archive/hostile.test.ts', 'rejects an archive with'),
      proof(ALL, 'backupset/archive/hostile.test.ts', 'rejects a decompression bomb'),
      proof(ALL, 'backupset/archive/hostile.test.ts', 'reads a mutated archive or rejects it'),
      proof(ALL, 'backupset/archive/archive.test.ts', 'leaves out and reports files named .env*'),
      proof(ALL, 'backupset/archive/archive.test.ts', 'a file that grows, shrinks, vanishes'),
    ],
  },
  {
    number: 11,
    injection:
      'a hostile dump: psql commands, programs, other databases; hostile names of files and realms; links',
    holds: 'it is rejected, and no command runs',
    proofs: [
      proof(SQLITE, 'backupset/dump/embedded.test.ts', 'accepts only statements that idkit writes'),
      proof(ON_SERVER, 'backupset/dump/postgres-allowed.test.ts', 'rejects a statement that reaches beyond'),
      proof(ON_SERVER, 'backupset/dump/postgres.test.ts', 'rejects every psql command except'),
      proof(ON_SERVER, 'platform/postgres/faults.test.ts', 'rejects a dump that contains meta-commands'),
      proof(ALL, 'backupset/verify/verify-set.test.ts', 'rejects a file name that is a path'),
      proof(ALL, 'backupset/verify/verify-set.test.ts', 'reports a missing, unlisted or irregular file'),
    ],
  },
  {
    number: 12,
    injection:
      'a missing or rejected administrator, a missing realm, an API that returns 403, 404, HTML, 500 or half a document; a missing `.env`',
    holds: 'the backup fails, or names the realm as a finding (3); there is never an empty realm file',
    proofs: [
      proof(DATABASES, 'faults/broken-service.test.ts', 'never writes a realm file'),
      proof(SQLITE, 'procedures/backup/backup.test.ts', 'reports a configured realm that does not exist'),
      proof(SQLITE, 'procedures/backup/backup.test.ts', 'reports that the service rejects the administrator'),
      proof(DATABASES, 'faults/broken-service.test.ts', 'reports a missing .env'),
      proof(
        CONTAINERS,
        'containers/part-faults.ts',
        'while the service is stopped, backup takes the realm files',
      ),
    ],
  },
  {
    number: 13,
    injection:
      'no engine, no daemon, no permission, an unknown project, a service that keeps crashing, a port in use',
    holds: '14 or 15 before anything stops, if it can be known; otherwise 16 and the previous state',
    without: { sqlite: 'it has no containers', postgres: 'it has no containers' },
    proofs: [
      proof(CONTAINERS, 'containers/engine-faults.test.ts', 'if no engine is installed'),
      proof(CONTAINERS, 'containers/engine-faults.test.ts', 'reports Docker as unreachable'),
      proof(CONTAINERS, 'containers/engine-faults.test.ts', 'reports that the user may not connect'),
      proof(
        CONTAINERS,
        'containers/engine-faults.test.ts',
        'idkit exits with 2 if the compose project belongs',
      ),
      proof(CONTAINERS, 'containers/part-faults.ts', 'up exits with 1 if the service keeps crashing'),
      proof(CONTAINERS, 'containers/part-faults.ts', 'up exits with 1 and names a port in use'),
      proof(
        CONTAINERS,
        'containers/restore-faults.ts',
        'if the service does not start on the restored state',
      ),
    ],
  },
  {
    number: 14,
    injection:
      'another target: older server, missing roles and rights, other encoding, logical slots, 200 clients that reconnect',
    holds: 'one list names everything before the load; the swap is atomic',
    without: { sqlite: 'its target is a file' },
    proofs: [
      proof(
        ON_SERVER,
        'platform/conformance.test.ts',
        'checks before the load that a dump fits the platform',
      ),
      proof(ON_SERVER, 'faults/other-target.test.ts', 'a logical replication slot is found'),
      proof(ON_SERVER, 'faults/other-target.test.ts', 'a live database in SQL_ASCII'),
      proof(ON_SERVER, 'faults/postgres-swap-storm.test.ts', '200 clients that keep reconnecting'),
      proof(ON_SERVER, 'platform/postgres/access.test.ts', 'dumps a standby, but rejects a restore'),
    ],
  },
  {
    number: 15,
    injection:
      'the mirror: its connection is cut in a file, it is full, another set has the name, the local set is damaged',
    holds: 'it never shows a set without valid checksums, and a damaged set never replaces a good one',
    proofs: [
      proof(ALL, 'faults/mirror-cut.test.ts', 'a mirror whose connection is cut'),
      proof(ALL, 'procedures/backup/mirror.test.ts', 'a failed mirror is a finding'),
      proof(ALL, 'procedures/backup/mirror.test.ts', 'never overwrites a set of the target'),
      proof(ALL, 'procedures/backup/edges.test.ts', 'copies checksums to the mirror last'),
    ],
  },
  {
    number: 16,
    injection:
      'retention: only bad sets are new, all sets are old, foreign files, links, kill -9 while a set is deleted',
    holds: 'one good set always stays; nothing outside the root is deleted; half a set never looks valid',
    proofs: [
      proof(ALL, 'backupset/retention/prune.test.ts', 'keeps the newest good set if all newer sets are bad'),
      proof(ALL, 'backupset/retention/prune.test.ts', 'keeps at least one good set'),
      proof(ALL, 'backupset/retention/prune.test.ts', 'deletes no foreign file and follows no link'),
      proof(ALL, 'procedures/verify/verify.test.ts', 'never deletes the newest good set'),
      proof(DATABASES, 'faults/killed-backup.test.ts', 'publishes a complete set or none after kill -9'),
    ],
  },
  {
    number: 17,
    injection: 'a database under load, with every kind of value, with a damaged page',
    holds:
      'the dump is one snapshot, in bounded time; a load returns every value; a damaged page ends the backup',
    proofs: [
      proof(SQLITE, 'store/dump-and-load.test.ts', 'a dump under 500 writes per second'),
      proof(SQLITE, 'store/dump-and-load.test.ts', 'a loaded dump preserves every value exactly'),
      proof(SQLITE, 'store/durability.test.ts', 'after kill -9 under refresh load'),
      proof(DATABASES, 'faults/failed-dump.test.ts', 'publishes no set and deletes none'),
      proof(ON_SERVER, 'platform/conformance.test.ts', 'dumps one consistent snapshot while'),
      proof(SQLITE, 'procedures/backup/load.test.ts', 'takes a consistent snapshot while users'),
    ],
  },
  {
    number: 18,
    injection:
      'schedules: the host sleeps, a run takes longer than its interval, two schedulers, a hook or ping that hangs',
    holds: 'one run catches up, none overlap, a hook ends at its limit, and the exit code stays',
    proofs: [
      proof(ALL, 'procedures/schedule/due.test.ts', 'once after a sleep over several planned times'),
      proof(ALL, 'procedures/schedule/due.test.ts', 'once if the clock goes back by an hour'),
      proof(ALL, 'procedures/schedule/run-jobs.test.ts', 'catches up once after the machine slept'),
      proof(ALL, 'procedures/schedule/run-jobs.test.ts', 'does not repeat a job during which the scheduler'),
      proof(ALL, 'procedures/schedule/run-jobs.test.ts', 'waits for an operator who holds the lock'),
      proof(ALL, 'procedures/schedule/render.test.ts', 'prints a timer for each procedure'),
      proof(ALL, 'procedures/schedule/render.test.ts', 'orders the services'),
    ],
  },
  {
    number: 19,
    injection: 'SIGINT, SIGTERM, a closed pipe, no terminal, NO_COLOR, 40 columns, no HOME',
    holds: 'prompt exit with 130 or 143, no process stays, the output can be parsed',
    proofs: [
      proof(ALL, 'cli/signals.test.ts', 'a command exits with 130 after Ctrl-C'),
      proof(ALL, 'cli/output.test.ts', 'exits with 0 and without a message if the reader closes'),
      proof(ALL, 'cli/widths.test.ts', 'colours appear only on a terminal'),
      proof(ALL, 'cli/home.test.ts', 'does not create a missing home'),
      proof(SQLITE, 'procedures/restore/crash.test.ts', 'is rolled back after SIGTERM'),
      proof(POSTGRES, 'platform/postgres/faults.test.ts', 'an interrupt ends dump and load immediately'),
      proof(POSTGRES, 'faults/postgres-restore-crash.test.ts', 'SIGTERM during a restore brings'),
      proof(CONTAINERS, 'containers/restore-faults.ts', 'Ctrl-C during a restore brings'),
    ],
  },
  {
    number: 20,
    injection: 'a drill whose set or settings lead to the live database',
    holds: 'the live database is untouched, and the drill leaves no process, database, volume or port',
    proofs: [
      proof(SQLITE, 'procedures/drill/drill.test.ts', 'restores the newest set in isolation'),
      proof(SQLITE, 'procedures/drill/drill.test.ts', 'never uses an absolute database path'),
      proof(SQLITE, 'procedures/drill/drill.test.ts', 'leaves nothing behind after SIGTERM'),
      proof(POSTGRES, 'procedures/postgres/drill.test.ts', 'runs on a separate server'),
      proof(POSTGRES, 'procedures/postgres/drill.test.ts', 'the server of a killed drill also ends'),
      proof(CONTAINERS, 'containers/restore-faults.ts', 'if this machine has no Postgres, a drill uses'),
      proof(
        CONTAINERS,
        'containers/engine-faults.test.ts',
        'a drill removes the container of a killed drill',
      ),
    ],
  },
];
