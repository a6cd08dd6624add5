import { IdkitError, Secret } from '../../../core/index.ts';
import type { CommandContext } from '../../command.ts';
import { ask, readFirstLine } from '../../terminal.ts';

/** The variable that may hold a new user's password; never an argument, which every user of the machine can see. */
export const NEW_PASSWORD_VARIABLE = 'IDKIT_USER_PASSWORD';

/**
 * A new password: from `IDKIT_USER_PASSWORD`, typed twice on a terminal, else the first line of stdin.
 *
 * @throws IDKIT_USAGE for an empty one, or two that differ
 */
export async function readNewPassword(context: CommandContext, username: string): Promise<Secret> {
  const variable = context.env[NEW_PASSWORD_VARIABLE];
  if (variable !== undefined) {
    if (variable === '') throw new IdkitError('IDKIT_USAGE', `${NEW_PASSWORD_VARIABLE} is empty`);
    return new Secret(variable);
  }
  if (!context.terminal.canAsk) return new Secret(await readFirstLine(context.terminal, 'the new password'));
  const options = { hidden: true, signal: context.signal };
  const first = await ask(context.terminal, `New password of ${username}: `, options);
  if (first === '') throw new IdkitError('IDKIT_USAGE', 'the new password is empty');
  const second = await ask(context.terminal, 'Again: ', options);
  if (first !== second) throw new IdkitError('IDKIT_USAGE', 'the two passwords differ');
  return new Secret(first);
}
