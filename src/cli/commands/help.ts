import { IdkitError } from '../../core/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Outcome, Runner } from '../command.ts';
import { suggestCommand } from '../suggest.ts';
import { type Terminal, textWidth } from '../terminal.ts';

/** `idkit help [COMMAND…]` */
export function addHelp(program: CliCommand, run: Runner): void {
  program
    .command('help')
    .argument('[command...]', 'the words of a command, such as admin user create')
    .description('show the help of a command, or the reference of all commands')
    .option('--all', 'print the reference of all commands: arguments, flags, examples and exit codes')
    .examples([
      ['idkit help restore', 'one command'],
      ['idkit help --all', 'all commands'],
      ['idkit help --all --json', 'all commands, as JSON for scripts'],
    ])
    .action(
      run(async ({ terminal }, flags, [words]) => {
        const given = (words ?? []) as readonly string[];
        return flags['all'] === true ? showReference(program, given, terminal) : showHelp(program, given);
      }),
    );
}

async function showHelp(program: CliCommand, words: readonly string[]): Promise<Outcome> {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((other) => other.name() === word || other.aliases().includes(word));
    if (next === undefined) {
      throw new IdkitError('IDKIT_USAGE', `the command ${JSON.stringify(word)} does not exist`, {
        hints: [suggestCommand(word, command) ?? 'idkit help lists the commands'],
      });
    }
    command = next;
  }
  command.outputHelp();
  return {};
}

async function showReference(
  program: CliCommand,
  words: readonly string[],
  terminal: Terminal,
): Promise<Outcome> {
  if (words.length > 0) {
    throw new IdkitError('IDKIT_USAGE', '--all shows every command and cannot be combined with a command', {
      hints: [`idkit help ${words.join(' ')} shows one command`],
    });
  }
  const { readReference } = await import('../reference/reference.ts');
  const { renderReferenceText } = await import('../reference/text.ts');
  const reference = readReference(program);
  // Scripts search the reference line by line, so only a terminal gets wrapped lines.
  const width = terminal.stdout.isTTY === true ? textWidth(terminal) : Number.POSITIVE_INFINITY;
  return { data: { reference }, text: renderReferenceText(reference, width), verbatim: true };
}
