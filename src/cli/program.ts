import { Command, InvalidArgumentError, Option } from 'commander';
import { ownVersion } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import type { Runner } from './command.ts';
import { examples } from './flags.ts';

/** Every command by its first word, in the order of the help, with the module that holds its flags. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command, run: Runner) => void>>> = {
  init: async () => (await import('./commands/init.ts')).addInit,
  serve: async () => (await import('./commands/serve.ts')).addServe,
  up: async () => (await import('./commands/up-down.ts')).addUp,
  down: async () => (await import('./commands/up-down.ts')).addDown,
  backup: async () => (await import('./commands/backup.ts')).addBackup,
  verify: async () => (await import('./commands/verify.ts')).addVerify,
  restore: async () => (await import('./commands/restore.ts')).addRestore,
  drill: async () => (await import('./commands/drill.ts')).addDrill,
  smoke: async () => (await import('./commands/smoke.ts')).addSmoke,
  admin: async () => (await import('./commands/admin/admin.ts')).addAdmin,
  backups: async () => (await import('./commands/backups.ts')).addBackups,
  'master-key': async () => (await import('./commands/master-key.ts')).addMasterKey,
  'recover-admin': async () => (await import('./commands/recover-admin.ts')).addRecoverAdmin,
  schedule: async () => (await import('./commands/schedule.ts')).addSchedule,
  status: async () => (await import('./commands/status.ts')).addStatus,
  config: async () => (await import('./commands/config.ts')).addConfig,
  completion: async () => (await import('./commands/completion.ts')).addCompletion,
  help: async () => (await import('./commands/help.ts')).addHelp,
};

/** Commands that show all the others. */
const NEEDS_ALL = ['help', 'completion'];

/**
 * The command line of contract §3. Command modules hold only flags; what does the work is imported when a command
 * runs, so that `--version` and `--help` answer at once.
 *
 * @param show gets help and version text
 * @param argv where its first word is a command, just that one is there; every command otherwise
 */
export async function buildProgram(
  run: Runner,
  show: (text: string) => void = () => {},
  argv: readonly string[] = [],
): Promise<Command> {
  const program = new Command('idkit')
    .description('Token service compatible with Keycloak 26, and the procedures that keep it safe.')
    .version(ownVersion(), '--version', 'print the version')
    .helpOption('--help', 'show help')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({
      writeOut: show,
      writeErr: show,
      outputError: () => {},
      getOutHelpWidth: () => 100,
      getErrHelpWidth: () => 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .option('--dir <dir>', 'platform directory (IDKIT_DIR, else . with idkit.yaml, else ./idkit)')
    .option('--json', 'newline-delimited JSON on stdout; the last line is the result')
    .option('--quiet', 'no progress and notes; results, errors and findings stay')
    .option('--verbose', 'more detail, and a stack with errors')
    .option('--no-color', 'no colours (NO_COLOR is honoured too)')
    .option('--no-progress', 'no spinner on a terminal')
    .addOption(new Option('--timeout <seconds>', 'give up after this many seconds').argParser(parseTimeout))
    .option('--yes', 'answer yes where a command asks')
    .addHelpText(
      'after',
      examples([
        ['idkit serve', 'a platform in ./idkit, served on http://127.0.0.1:8080'],
        ['idkit backup', 'a whole set below idkit/backups'],
        ['idkit help restore', 'one command with its flags and examples'],
      ]),
    );

  const [first = ''] = argv;
  const names = first in COMMANDS && !NEEDS_ALL.includes(first) ? [first] : Object.keys(COMMANDS);
  for (const name of names) (await COMMANDS[name]!())(program, run);
  for (const command of allCommands(program)) guardOptions(command.helpCommand(false));
  return program;
}

/** The program and every command below it. */
function allCommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

/** The known command that a command line names, in words; empty where it names none. */
export function commandPath(program: Command, argv: readonly string[]): string {
  const names: string[] = [];
  let at = program;
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!;
    if (word === '--') break;
    if (word.startsWith('-')) {
      const option = [...program.options, ...at.options].find(({ long }) => long === word);
      if (option?.required) index += 1;
      continue;
    }
    const next = at.commands.find((other) => other.name() === word || other.aliases().includes(word));
    if (next === undefined) break;
    names.push(next.name());
    at = next;
  }
  return names.join(' ');
}

/** A flag with a value may stand once, and its value is never empty (contract §3: bad input is named). */
function guardOptions(command: Command): void {
  const seen = new Set<string>();
  for (const option of command.options) {
    if (!option.required) continue;
    command.on(`option:${option.name()}`, (value: string) => {
      if (value === '') throw new IdkitError('IDKIT_USAGE', `${option.long} needs a value, and it is empty`);
      if (option.variadic) return;
      if (seen.has(option.name())) throw new IdkitError('IDKIT_USAGE', `${option.long} is given twice`);
      seen.add(option.name());
    });
  }
}

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || seconds <= 0 || seconds > 604_800) {
    throw new InvalidArgumentError('It must be a number of seconds above 0 and up to 604800.');
  }
  return seconds;
}
