import { InvalidArgumentError, Option } from 'commander';
import { ownVersion } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import { CliCommand } from './cli-command.ts';
import type { Runner } from './command.ts';
import { COMMANDS, type CommandRow } from './commands/table.ts';

/** Commands that need the definitions of all other commands. */
const NEEDS_ALL = ['help', 'completion'];
/** Flags that need no command. */
const NEEDS_NONE = ['--version', '-V'];

export interface ProgramOptions {
  /** Receives the text of the help and of the version. */
  show?: (text: string) => void;
  /** If the first word names a command, only that command is loaded. Default: all commands are loaded. */
  argv?: readonly string[];
  commands?: readonly CommandRow[];
  /** The width of the help in characters. Default: 100. */
  width?: number;
}

/**
 * Builds the command line. The modules of the commands define only flags and import their procedures when they run, so
 * that `--version` and `--help` start quickly.
 */
export async function buildProgram(
  run: Runner,
  { show = () => {}, argv = [], commands = COMMANDS, width = 100 }: ProgramOptions = {},
): Promise<CliCommand> {
  const program = new CliCommand('idkit')
    .description('Token service compatible with Keycloak 26, and the procedures that keep it safe.')
    .version(ownVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({
      writeOut: show,
      writeErr: show,
      outputError: () => {},
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .option(
      '--dir <dir>',
      'the platform directory (default: IDKIT_DIR, else . if it contains idkit.yaml, else ./idkit)',
    )
    .option('--json', 'print newline-delimited JSON on stdout; the last line is the result')
    .option('-q, --quiet', 'do not print progress or notes; results, errors and findings are still printed')
    .option('--verbose', 'print more detail, and a stack trace with errors')
    .option('--no-color', 'print without colours (the variable NO_COLOR has the same effect)')
    .option('--no-progress', 'print no spinner on a terminal')
    .addOption(
      new Option('--timeout <seconds>', 'abort the command after this many seconds').argParser(parseTimeout),
    )
    .option('-y, --yes', 'answer yes to every question')
    .examples([
      ['idkit serve', 'serves a platform in ./idkit on http://127.0.0.1:8080'],
      ['idkit backup', 'writes a complete backup set below idkit/backups'],
      ['idkit help restore', 'shows one command with its flags and examples'],
      ['idkit help --all', 'prints the reference of all commands'],
    ]);

  const only = NEEDS_ALL.includes(argv[0] ?? '') ? undefined : commands.find(({ name }) => name === argv[0]);
  const words = only === undefined ? [] : argv.slice(1);
  const needed = only === undefined ? commands : [only];
  for (const row of NEEDS_NONE.includes(argv[0] ?? '') ? [] : needed) (await row.load())(program, run, words);
  for (const command of allCommands(program)) guardOptions(command.helpCommand(false));
  return program;
}

/** Returns the program and all commands below it. */
function allCommands(command: CliCommand): readonly CliCommand[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

/** Returns the command that a command line names, or the program if there is no known command. */
export function findCommand(program: CliCommand, argv: readonly string[]): CliCommand {
  let at = program;
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!;
    if (word === '--') break;
    if (word.startsWith('-')) {
      const option = [...program.options, ...at.options].find(
        ({ long, short }) => long === word || short === word,
      );
      if (option?.required) index += 1;
      continue;
    }
    const next = at.commands.find((other) => other.name() === word || other.aliases().includes(word));
    if (next === undefined) break;
    at = next;
  }
  return at;
}

/** Rejects a flag with an empty value, and a flag that is given twice although it has one value. */
function guardOptions(command: CliCommand): void {
  const seen = new Set<string>();
  for (const option of command.options) {
    if (!option.required) continue;
    command.on(`option:${option.name()}`, (value: string) => {
      if (value === '') throw new IdkitError('IDKIT_USAGE', `the value of ${option.long} is empty`);
      if (option.variadic) return;
      if (seen.has(option.name())) throw new IdkitError('IDKIT_USAGE', `${option.long} is given twice`);
      seen.add(option.name());
    });
  }
}

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || seconds <= 0 || seconds > 604_800) {
    throw new InvalidArgumentError('It must be a number of seconds above 0 and at most 604800.');
  }
  return seconds;
}
