import { IdkitError } from '../../../../core/index.ts';
import type { CommandContext } from '../../../command.ts';
import { confirm } from '../../../terminal.ts';

/** Refuses a change that needs a confirmation if nobody can be asked. @throws IDKIT_USAGE */
export function requireConsent({ globals, terminal }: CommandContext, change: string): void {
  if (globals.yes || terminal.canAsk) return;
  throw new IdkitError('IDKIT_USAGE', `without a terminal, --yes is needed to ${change}`, {
    hints: ['add --yes'],
  });
}

/** Asks on a terminal, unless `--yes` is given. @throws IDKIT_USAGE if the answer is not yes */
export async function askConsent(context: CommandContext, question: string): Promise<void> {
  if (context.globals.yes) return;
  if (await confirm(context.terminal, question, context.signal)) return;
  throw new IdkitError('IDKIT_USAGE', 'the answer was not yes, so nothing was changed');
}
