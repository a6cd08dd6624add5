import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { IdkitError } from '../core/index.ts';
import type { Runner } from './command.ts';
import { addAdmin } from './commands/admin/admin.ts';
import { addBackup } from './commands/backup.ts';
import { addBackups } from './commands/backups.ts';
import { addCompletion } from './commands/completion.ts';
import { addConfig } from './commands/config.ts';
import { addDrill } from './commands/drill.ts';
import { addHelp } from './commands/help.ts';
import { addInit } from './commands/init.ts';
import { addMasterKey } from './commands/master-key.ts';
import { addNotYet } from './commands/not-yet.ts';
import { addRecoverAdmin } from './commands/recover-admin.ts';
import { addRestore } from './commands/restore.ts';
import { addSchedule } from './commands/schedule.ts';
import { addServe } from './commands/serve.ts';
import { addSmoke } from './commands/smoke.ts';
import { addStatus } from './commands/status.ts';
import { addVerify } from './commands/verify.ts';

/** The version of the package. */
export function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/**
 * The command line of contract §3. Command modules hold only flags; what does the work is imported when a command
 * runs, so that `--version` and `--help` answer at once.
 *
 * @param show gets help and version text
 */
export function buildProgram(run: Runner, show: (text: string) => void = () => {}): Command {
  const program = new Command('idkit')
    .description('Token service compatible with Keycloak 26, and the procedures that keep it safe.')
    .version(readVersion(), '--version', 'print the version')
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
    .option('--yes', 'answer yes where a command asks');

  addInit(program, run);
  addServe(program, run);
  addBackup(program, run);
  addVerify(program, run);
  addRestore(program, run);
  addDrill(program, run);
  addSmoke(program, run);
  addAdmin(program, run);
  addBackups(program, run);
  addMasterKey(program, run);
  addRecoverAdmin(program, run);
  addSchedule(program, run);
  addStatus(program, run);
  addConfig(program, run);
  addCompletion(program, run);
  addHelp(program, run);
  addNotYet(program, run);
  for (const command of allCommands(program)) guardOptions(command.helpCommand(false));
  return program;
}

/** The program and every command below it. */
export function allCommands(command: Command): readonly Command[] {
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
