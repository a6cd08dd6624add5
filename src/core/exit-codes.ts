/** Every exit code of the program with its meaning. A script treats an unknown code as a failure. */
export const EXIT_CODES = {
  0: 'done',
  1: 'failed',
  2: 'wrong usage or settings',
  3: 'finished, but with findings',
  10: 'not found (backup, realm, user …)',
  11: 'locked: another idkit procedure is running, or the service is running and must be stopped first',
  12: 'wrong passphrase or credentials',
  13: 'damaged: a checksum, archive or dump is wrong; restore refused to begin',
  14: 'a needed program, container engine or version is missing or too old',
  15: 'unreachable: the database, the service or the engine does not answer in time',
  16: 'restore failed, and the old state is intact',
  17: 'restore failed, and the operator must act',
  19: 'no room on the disk',
  70: 'a bug in idkit',
  130: 'interrupted by Ctrl-C',
  143: 'ended by SIGTERM',
} as const;

export type ExitCode = keyof typeof EXIT_CODES;
