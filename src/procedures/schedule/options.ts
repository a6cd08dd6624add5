import type { ScheduledFile } from './owned-files.ts';
import type { PlannedTimer } from './timers.ts';

/** Who runs the schedule: systemd, or cron. */
export type Scheduler = 'systemd' | 'cron';

/** The facts that units and cron lines contain. Paths are absolute. */
export interface ScheduleOptions {
  /** The platform directory. */
  dir: string;
  /** The name of the service, and the prefix of the other names. */
  name: string;
  /** Node.js and the program, as the first two words of each command line. */
  program: readonly [node: string, script: string];
  /** The user that runs the service and the timers: a name, or the number of a user without a name. */
  user: string;
  /** Whether the operator named the user. Otherwise the user is the owner of the platform directory. */
  userChosen: boolean;
  /** The home directory of the user, if known. */
  home: string | undefined;
  /** The file whose first line is the passphrase. The schedule contains only this path. */
  passphraseFile: string;
  /** The address that gets a mail about each failure. Undefined: systemd only writes to its journal. */
  mailTo: string | undefined;
  /** The jobs that timers start. */
  timers: readonly PlannedTimer[];
  /** The time in seconds by which a timer may be late, so that not all platforms begin in the same second. */
  jitterSeconds: number;
  /** Whether systemd also gets a unit for `serve`. */
  withService: boolean;
}

/** What an installation does, or did, to one file. */
export interface FileChange {
  file: string;
  change: 'create' | 'update' | 'keep' | 'remove';
}

/** The result of an installation. */
export interface InstallResult {
  /** The directory of the files. */
  into: string;
  changes: readonly FileChange[];
  /** The files with their content. Empty after `--remove`. */
  files: readonly ScheduledFile[];
  /** The commands that the operator runs next. */
  next: readonly string[];
}
