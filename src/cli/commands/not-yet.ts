import type { Command } from 'commander';
import { IdkitError } from '../../core/index.ts';
import type { Runner } from '../command.ts';

/** Commands of the contract that this version does not build: absent from help, and exit 2. */
export function addNotYet(program: Command, run: Runner): void {
  for (const name of ['up', 'down']) {
    program
      .command(name, { hidden: true })
      .description('a container platform')
      .action(
        run(async () => {
          throw new IdkitError(
            'IDKIT_NOT_YET',
            `${name} is for a container platform, which this version does not build`,
            {
              hints: ['on the embedded platform `idkit serve` runs the service; Ctrl-C or SIGTERM stops it'],
            },
          );
        }),
      );
  }
}
