/** The description of an error code in the reference. Every text ends without a full stop. */
export interface CatalogueEntry {
  exit: ExitCode;
  /** The error in a few words, for tables. */
  meaning: string;
  /** The circumstances in which idkit reports the error. */
  when: string;
  /** The operator's next step. The hints of an individual error can add more. */
  advice: string;
}

/**
 * Every error that an operator must act on, by its stable code. Codes are only added: they are never renamed,
 * renumbered or reused. `docs/reference/errors.md` is generated from this catalogue.
 */
export const ERROR_CATALOGUE = {
  IDKIT_USAGE: {
    exit: 2,
    meaning: 'a command, flag or argument is wrong',
    when: 'the command line names an unknown command or flag, or a value that the flag does not accept',
    advice: 'correct the command line; `idkit help COMMAND` lists what the command accepts',
  },
  IDKIT_SETTING: {
    exit: 2,
    meaning: 'a setting in a flag, the environment, .env or idkit.yaml is wrong',
    when: 'a setting has an invalid value or an unknown name, or contradicts another setting',
    advice:
      'correct the setting in the flag, variable or file that the message names, then check it with `idkit config show`',
  },
  IDKIT_DIRECTORY_MISSING: {
    exit: 2,
    meaning: 'the platform directory does not exist',
    when: 'the directory that `--dir`, `IDKIT_DIR` or the working directory selects is not a platform directory',
    advice: 'pass the right directory with `--dir`, or create a new one with `idkit init`',
  },
  IDKIT_DIRECTORY_NOT_WRITABLE: {
    exit: 1,
    meaning: 'a directory or file cannot be written',
    when: 'the file system refuses a write: the permissions forbid it, the file system is read-only, or another kind of file is at the path',
    advice: 'check the owner, the mode and the mount of the path in the message, then run the command again',
  },
  IDKIT_ENV_READABLE: {
    exit: 2,
    meaning: '.env can be read by other users',
    when: 'the mode of `.env` lets the group or other users read or write it; idkit then refuses to use the secrets in it',
    advice: 'run `chmod 600 .env`; replace the secrets in it if other users have accounts on the machine',
  },
  IDKIT_MASTER_KEY_MISSING: {
    exit: 2,
    meaning: 'IDKIT_MASTER_KEY is not set',
    when: 'a command needs the master key, and neither the environment nor `.env` sets it',
    advice: 'set IDKIT_MASTER_KEY to the key that the database was created with; a backup of `.env` holds it',
  },
  IDKIT_MASTER_KEY_INVALID: {
    exit: 2,
    meaning: 'IDKIT_MASTER_KEY is not 32 bytes in base64',
    when: 'the master key was truncated, quoted or encoded in another way',
    advice: 'set the key as `openssl rand -base64 32` prints it: 44 characters on one line',
  },
  IDKIT_MASTER_KEY_WRONG: {
    exit: 12,
    meaning: 'IDKIT_MASTER_KEY does not decrypt this database',
    when: 'the database was encrypted with another master key',
    advice: 'set the key that belongs to the database; no other key can decrypt the secrets in it',
  },
  IDKIT_IMPORT: {
    exit: 2,
    meaning: 'a realm file cannot be imported',
    when: 'a realm file is not valid JSON, has an unknown or invalid field, or contradicts itself',
    advice: 'correct the file at the position that the message names; nothing was imported from it',
  },
  IDKIT_PORT_TAKEN: {
    exit: 1,
    meaning: 'the address to listen on is in use',
    when: '`serve`, a container of `up`, or `login --port` cannot listen because another program uses the port',
    advice:
      'stop the other program, or choose another port: `--port` or `--management-port`, or for a container its port in `.env`',
  },
  IDKIT_FAILED: {
    exit: 1,
    meaning: 'an operation failed; the message says which and why',
    when: 'an operation fails for a reason that no other code covers',
    advice: 'remove the cause that the message names, then run the command again',
  },
  IDKIT_NOT_FOUND: {
    exit: 10,
    meaning: 'a backup, realm, user, client or session does not exist',
    when: 'a command names an object that does not exist',
    advice: 'check the name; the matching `list` command shows the names that exist',
  },
  IDKIT_LOCKED: {
    exit: 11,
    meaning: 'another idkit procedure holds the lock',
    when: 'two procedures would change the same platform directory or backup root at the same time',
    advice:
      'wait until the process in the message has ended; the lock is released when a process ends, even if it is killed',
  },
  IDKIT_SERVICE_RUNNING: {
    exit: 11,
    meaning: 'the service is running, and it must be stopped first',
    when: 'a procedure would replace files or data that the running service uses',
    advice: 'stop the service as the message says, then run the command again',
  },
  IDKIT_CREDENTIALS: {
    exit: 12,
    meaning: 'wrong passphrase or credentials',
    when: 'a passphrase does not decrypt a backup, or a service or database rejects the user name and password',
    advice: 'the message names the set, the service or the database; use its passphrase or its credentials',
  },
  IDKIT_PASSWORD_METHOD: {
    exit: 12,
    meaning: 'the database server requests the password with a method that does not keep it secret',
    when: 'the Postgres server requests a method that the `require_auth` parameter of the address does not allow',
    advice:
      'configure `scram-sha-256` in `pg_hba.conf` and set the password again, or allow the method with `require_auth`',
  },
  IDKIT_DAMAGED: {
    exit: 13,
    meaning: 'a checksum, archive, dump or realm file of a backup set is damaged',
    when: 'a file of a backup set does not match its checksum, seal or format',
    advice:
      'do not restore this set; restore another set or an intact copy of this one, and check the disk that holds the damaged set',
  },
  IDKIT_DATABASE_DAMAGED: {
    exit: 13,
    meaning: 'the database file is damaged',
    when: 'SQLite finds a damaged page, or the file is not an idkit database',
    advice: 'keep a copy of the file and restore the latest verified backup',
  },
  IDKIT_VERSION: {
    exit: 14,
    meaning: 'a program, engine, database or dump is missing, too old, too new or of another kind',
    when: 'a required program is missing, or a program, engine, database or dump has a version or kind that idkit cannot use',
    advice: 'install the version that the message names, or use the idkit version that wrote the data',
  },
  IDKIT_UNREACHABLE: {
    exit: 15,
    meaning: 'the database, service or engine does not respond in time',
    when: 'a connection is refused, a name does not resolve, or a response takes too long',
    advice:
      'check that the other side is running and that the address, the network and the certificate are right',
  },
  IDKIT_RESTORE_UNDONE: {
    exit: 16,
    meaning: 'the restore failed and the old state is intact',
    when: 'a step of a restore failed, and idkit rolled back every change',
    advice: 'remove the cause that the message names, then start the restore again',
  },
  IDKIT_RESTORE_BROKEN: {
    exit: 17,
    meaning: 'the restore failed and the operator must act',
    when: 'a restore stopped after it had begun to replace the old state, and the rollback did not succeed',
    advice:
      'remove the cause, then run `idkit restore --resume` to finish the restore or `idkit restore --abort` to roll it back',
  },
  IDKIT_NO_SPACE: {
    exit: 19,
    meaning: 'no space left on the disk',
    when: 'the disk or the quota is full, or has less free space than a procedure needs',
    advice: 'free up space on the file system of the path in the message, then run the command again',
  },
  IDKIT_CHANGED: {
    exit: 1,
    meaning: 'concurrent changes to a record prevented idkit from storing its change',
    when: 'other processes change the same record at the same time, and every retry fails',
    advice: 'run the command again when the other changes are done',
  },
  IDKIT_INTERRUPTED: {
    exit: 130,
    meaning: 'interrupted by Ctrl-C',
    when: 'the process received SIGINT',
    advice: 'run the command again; the output says whether an unfinished restore must be resumed first',
  },
  IDKIT_TERMINATED: {
    exit: 143,
    meaning: 'ended by SIGTERM',
    when: 'the process received SIGTERM',
    advice: 'run the command again; the output says whether an unfinished restore must be resumed first',
  },
  IDKIT_UNSEALED: {
    exit: 2,
    meaning: 'the origin of the backup set is not proven: it has no seal, or the seal was not checked',
    when: 'a restore would use a set whose seal is missing, or whose passphrase was not given',
    advice:
      'provide the passphrase of the set; `--trust-unsealed` accepts an unsealed set, so use it only if you trust the origin of the set',
  },
  IDKIT_DRILL_LIVE: {
    exit: 1,
    meaning: 'the place of a drill is the live database',
    when: 'the system identifier of the server, or the identity of the file, shows that a drill would load its set into the live database',
    advice: 'set TMPDIR to a directory outside the platform directory, then run the drill again',
  },
  IDKIT_BUG: {
    exit: 70,
    meaning: 'a bug in idkit',
    when: 'idkit reaches a state that should be impossible',
    advice: 'report the message and the stack trace; the journal and the logs help to find the cause',
  },
} as const satisfies Record<string, CatalogueEntry>;

/** A stable `IDKIT_…` code. */
export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** Every exit code of the program with its meaning. Scripts must treat an unknown code as a failure. */
export const EXIT_CODES = {
  0: 'done',
  1: 'failed',
  2: 'wrong usage or settings',
  3: 'finished, but with findings',
  10: 'not found (backup, realm, user …)',
  11: 'locked: another idkit procedure is running, or the service is running and must be stopped first',
  12: 'wrong passphrase or credentials',
  13: 'damaged: a checksum, archive or dump is wrong; restore did not begin',
  14: 'a required program or container engine is missing, or a program, database or dump has an unsupported version',
  15: 'unreachable: the database, the service or the engine does not respond in time',
  16: 'restore failed, and the old state is intact',
  17: 'restore failed, and the operator must act',
  19: 'no space left on the disk',
  70: 'a bug in idkit',
  130: 'interrupted by Ctrl-C',
  143: 'ended by SIGTERM',
} as const;

export type ExitCode = keyof typeof EXIT_CODES;
