import type { SettingFlags, Settings } from '../config/index.ts';
import type { IdkitError } from '../core/index.ts';
import type { Finding, ProcedureOptions, Reporter } from '../procedures/index.ts';
import type { ListOutcome, RecordOutcome } from './output/lists.ts';
import type { Presentation } from './output/presentation.ts';
import type { Terminal } from './terminal.ts';

/** The flags that every command has. */
export interface GlobalFlags {
  dir?: string;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
  color: boolean;
  progress: boolean;
  yes: boolean;
  /** In seconds. */
  timeout?: number;
}

/** The result of a command. The outputs show it, and `exit.ts` derives the exit code from it. */
export interface Outcome {
  /** Fields of the JSON result, in addition to `type`, `command`, `ok` and `exitCode`. */
  data?: Record<string, unknown>;
  /** The text for people on stdout, without a final newline. */
  text?: string;
  /** True if `text` is for programs or for copying, so that a terminal must not wrap it. */
  verbatim?: true;
  /** A list, instead of `text`. The JSON result has it under its noun, in addition to `data`. */
  list?: ListOutcome;
  /** One record, instead of `text`. The JSON result does not contain it; `data` does. */
  record?: RecordOutcome;
  findings?: readonly Finding[];
  /** Shown like findings, but without an effect on the exit code. The command also puts them into `data`. */
  warnings?: readonly Finding[];
  failure?: IdkitError;
}

/** Everything that a command receives from the process and from the global flags. */
export interface CommandContext {
  globals: GlobalFlags;
  terminal: Terminal;
  /** How a list or a record is shown. A command reads only the fields that the service must return. */
  presentation: Presentation;
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Aborts on Ctrl-C, SIGTERM and `--timeout`. Its reason is the error with which the command ends. */
  signal: AbortSignal;
  reporter: Reporter;
  /** The options that every procedure takes. */
  procedure: ProcedureOptions;
  /** Loads the settings, even if the platform directory does not exist. */
  loadSettings(flags?: SettingFlags): Promise<Settings>;
  /** Loads the settings of a platform directory that must exist. @throws IDKIT_DIRECTORY_MISSING */
  loadPlatform(flags?: SettingFlags): Promise<Settings>;
  /** Prompts for the passphrase without echo. Undefined if there is no terminal. */
  promptPassphrase: (() => Promise<string>) | undefined;
}

/** The command's own flags, as commander parses them. */
export type Flags = Record<string, unknown>;

/** Runs one command. `args` contains its positional arguments; an argument that was not given is undefined. */
export type Work = (context: CommandContext, flags: Flags, args: (string | undefined)[]) => Promise<Outcome>;

/** Converts the work of a command to a commander action. */
export type Runner = (work: Work) => (...parameters: unknown[]) => Promise<void>;
