import type { SettingFlags, Settings } from '../config/index.ts';
import type { IdkitError } from '../core/index.ts';
import type { Finding, ProcedureOptions, Reporter } from '../procedures/index.ts';
import type { Terminal } from './terminal.ts';

/** The flags that every command has (contract §3). */
export interface GlobalFlags {
  dir?: string;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
  color: boolean;
  progress: boolean;
  yes: boolean;
  /** Seconds. */
  timeout?: number;
}

/** What a command came to. Renderers show it; `exit.ts` alone turns it into an exit code. */
export interface Outcome {
  /** The fields of the JSON result beside type, command, ok and exitCode. */
  data?: Record<string, unknown>;
  /** What stands on stdout for people, without the last line end. */
  text?: string;
  findings?: readonly Finding[];
  failure?: IdkitError;
}

/** What a command works with. */
export interface CommandContext {
  globals: GlobalFlags;
  terminal: Terminal;
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Aborted by Ctrl-C, SIGTERM or `--timeout`, with the error to end with as its reason. */
  signal: AbortSignal;
  reporter: Reporter;
  /** The options that every procedure takes. */
  procedure: ProcedureOptions;
  /** The settings; the platform directory may be absent. */
  loadSettings(flags?: SettingFlags): Promise<Settings>;
  /** The settings of a platform directory that exists. @throws IDKIT_DIRECTORY_MISSING */
  loadPlatform(flags?: SettingFlags): Promise<Settings>;
  /** Asks for the passphrase without echo; absent where there is no terminal. */
  promptPassphrase: (() => Promise<string>) | undefined;
}

/** A command's own flags as commander gives them. */
export type Flags = Record<string, unknown>;

/** The work of one command. `args` are its positional arguments, absent ones undefined. */
export type Work = (context: CommandContext, flags: Flags, args: (string | undefined)[]) => Promise<Outcome>;

/** Makes a commander action of a command's work. */
export type Runner = (work: Work) => (...parameters: unknown[]) => Promise<void>;
