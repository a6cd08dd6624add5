import type { Command, CommanderError } from 'commander';
import { type ExitCode, IdkitError } from '../core/index.ts';
import type { CliCommand } from './cli-command.ts';
import type { GlobalFlags, Outcome, Runner } from './command.ts';
import { COMMANDS, type CommandRow } from './commands/table.ts';
import { openContext } from './context.ts';
import { exitCodeOf, toIdkitError } from './exit.ts';
import { openJsonOutput } from './output/json-output.ts';
import type { Output } from './output/output.ts';
import { openPaint } from './output/paint.ts';
import { readPresentation } from './output/presentation.ts';
import { openSpinner } from './output/spinner.ts';
import { openTextOutput } from './output/text-output.ts';
import { buildProgram, findCommand } from './program.ts';
import { suggest } from './suggest.ts';
import { type Terminal, textWidth } from './terminal.ts';

/** The streams, the environment and the signals of a command line. */
export interface CliIo {
  terminal: Terminal;
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Aborted by a signal of the process. Its reason is the error with which the command ends. */
  interrupt: AbortController;
}

/** Runs one command line and returns its exit code. Never throws. */
export async function runCli(
  argv: readonly string[],
  io: CliIo,
  commands: readonly CommandRow[] = COMMANDS,
): Promise<ExitCode> {
  const shown: string[] = [];
  let output: Output | undefined;
  let outcome: Outcome = {};
  let ran: string | undefined;

  const run: Runner =
    (work) =>
    async (...parameters) => {
      const command = parameters.at(-1) as CliCommand;
      ran = command.path;
      const globals = readGlobals(program);
      output = await openOutput(io.terminal, globals, io.env);
      const presentation = await readPresentation(command.opts(), globals);
      const args = parameters.slice(0, -2) as (string | undefined)[];
      const context = openContext({ globals, presentation }, io, output);
      outcome = await work(context, command.opts(), args);
      await output.showResult(outcome, presentation, context.signal);
    };

  const width = textWidth(io.terminal);
  const program = await buildProgram(run, { show: (text) => shown.push(text), argv, commands, width });
  let error: IdkitError | undefined;
  try {
    await program.parseAsync([...argv], { from: 'user' });
    error = outcome.failure;
  } catch (thrown) {
    if (isCommanderError(thrown)) {
      const command = findCommand(program, argv);
      error = fromCommander(thrown, command);
      ran ??= thrown.code === 'commander.version' ? 'version' : command.path;
    } else {
      error = toIdkitError(thrown, io.interrupt.signal);
      ran ??= findCommand(program, argv).path;
    }
  }

  output ??= await openOutput(io.terminal, earlyFlags(argv), io.env);
  if (shown.length > 0) output.showText(ran === 'version' ? 'version' : 'help', shown.join('').trimEnd());
  const exitCode = error?.exitCode ?? exitCodeOf(outcome);
  output.finish({
    command: ran === undefined || ran === '' ? null : ran,
    exitCode,
    outcome,
    ...(error === undefined ? {} : { error }),
  });
  return exitCode;
}

function readGlobals(program: Command): GlobalFlags {
  const flags = program.opts();
  return {
    json: flags['json'] === true,
    quiet: flags['quiet'] === true,
    verbose: flags['verbose'] === true,
    color: flags['color'] !== false,
    progress: flags['progress'] !== false,
    yes: flags['yes'] === true,
    ...(flags['dir'] === undefined ? {} : { dir: String(flags['dir']) }),
    ...(flags['timeout'] === undefined ? {} : { timeout: Number(flags['timeout']) }),
  };
}

/** Finds the flags that control the output, for a command line that commander rejects. */
function earlyFlags(argv: readonly string[]): GlobalFlags {
  const end = argv.indexOf('--');
  const flags = end === -1 ? argv : argv.slice(0, end);
  return {
    json: flags.includes('--json'),
    quiet: flags.some((flag) => flag === '--quiet' || /^-[hqyV]*q/.test(flag)),
    verbose: flags.includes('--verbose'),
    color: !flags.includes('--no-color'),
    progress: false,
    yes: false,
  };
}

function isCommanderError(error: unknown): error is CommanderError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('commander.');
}

/**
 * Converts an error of commander to an IDKIT_USAGE error. Returns undefined for help and version, which are not errors.
 * The help of a group without a subcommand is not an error either.
 */
function fromCommander(error: CommanderError, command: CliCommand): IdkitError | undefined {
  if (['commander.helpDisplayed', 'commander.help', 'commander.version'].includes(error.code))
    return undefined;
  const message = error.message.replace(/^error: /, '');
  return new IdkitError('IDKIT_USAGE', message.charAt(0).toLowerCase() + message.slice(1), {
    hints: [suggest(error, command) ?? 'idkit help lists commands and flags'],
    cause: error,
  });
}

/** Opens the output according to the global flags, the terminal and `NO_COLOR`. */
export async function openOutput(
  terminal: Terminal,
  flags: GlobalFlags,
  env: NodeJS.ProcessEnv,
): Promise<Output> {
  if (flags.json) return openJsonOutput(terminal, flags);
  const isTerminal = terminal.stderr.isTTY === true && env['TERM'] !== 'dumb';
  // Some pseudo-terminals report no width, and the spinner needs one.
  const movable = isTerminal && (terminal.stderr.columns ?? 0) > 0;
  const color = isTerminal && flags.color && !env['NO_COLOR'];
  const moving = movable && flags.progress && !flags.quiet;
  const paint = await openPaint(color);
  return openTextOutput(terminal, {
    quiet: flags.quiet,
    verbose: flags.verbose,
    paint,
    spinner: moving ? openSpinner(terminal, { paint, isConsole: env['TERM'] === 'linux' }) : undefined,
  });
}
