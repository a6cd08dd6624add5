import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';

/** A top-level command. To add a command, add a file to this folder and a row below. */
export interface CommandRow {
  /** The first word after `idkit`. */
  name: string;
  /**
   * Imports the command's module and returns the function that adds the command and its flags to the program. If the
   * first of the `words` after the command's name is one of its commands, the function may add only that one.
   */
  load(): Promise<(program: CliCommand, run: Runner, words: readonly string[]) => void>;
}

/** Every top-level command, in the order of the help and of the reference. */
export const COMMANDS: readonly CommandRow[] = [
  { name: 'init', load: async () => (await import('./init.ts')).addInit },
  { name: 'serve', load: async () => (await import('./serve.ts')).addServe },
  { name: 'up', load: async () => (await import('./up-down.ts')).addUp },
  { name: 'down', load: async () => (await import('./up-down.ts')).addDown },
  { name: 'backup', load: async () => (await import('./backup.ts')).addBackup },
  { name: 'verify', load: async () => (await import('./verify.ts')).addVerify },
  { name: 'restore', load: async () => (await import('./restore.ts')).addRestore },
  { name: 'drill', load: async () => (await import('./drill.ts')).addDrill },
  { name: 'smoke', load: async () => (await import('./smoke.ts')).addSmoke },
  { name: 'admin', load: async () => (await import('./admin/admin.ts')).addAdmin },
  { name: 'login', load: async () => (await import('./login/login.ts')).addLogin },
  { name: 'logout', load: async () => (await import('./login/profile.ts')).addLogout },
  { name: 'profile', load: async () => (await import('./login/profile.ts')).addProfile },
  { name: 'backups', load: async () => (await import('./backups.ts')).addBackups },
  { name: 'master-key', load: async () => (await import('./master-key.ts')).addMasterKey },
  { name: 'recover-admin', load: async () => (await import('./recover-admin.ts')).addRecoverAdmin },
  { name: 'schedule', load: async () => (await import('./schedule.ts')).addSchedule },
  { name: 'status', load: async () => (await import('./status.ts')).addStatus },
  { name: 'doctor', load: async () => (await import('./doctor.ts')).addDoctor },
  { name: 'config', load: async () => (await import('./config.ts')).addConfig },
  { name: 'completion', load: async () => (await import('./completion.ts')).addCompletion },
  { name: '__complete', load: async () => (await import('./complete.ts')).addComplete },
  { name: 'help', load: async () => (await import('./help.ts')).addHelp },
];
