import type { Command } from 'commander';
import { IdkitError } from '../../core/index.ts';
import type { Runner } from '../command.ts';

/** `idkit help [COMMAND…]` */
export function addHelp(program: Command, run: Runner): void {
  program
    .command('help')
    .argument('[command...]', 'a command in words, such as admin user create')
    .description('show help for a command')
    .action(
      run(async (_context, _flags, [words]) => {
        let at = program;
        for (const word of (words ?? []) as unknown as string[]) {
          const next = at.commands.find((other) => other.name() === word || other.aliases().includes(word));
          if (next === undefined) {
            throw new IdkitError('IDKIT_USAGE', `there is no command ${JSON.stringify(word)}`, {
              hints: ['idkit help lists the commands'],
            });
          }
          at = next;
        }
        at.outputHelp();
        return {};
      }),
    );
}
