import type { AdminClient } from '../../../client/index.ts';
import { IdkitError } from '../../../core/index.ts';
import type { CommandContext, Flags } from '../../command.ts';
import { checkName, textFlag } from '../../flags.ts';
import { ask } from '../../terminal.ts';
import { connect } from './connect.ts';
import { type ApiRecord, apiPath, asRecords } from './lookup.ts';

/** Where a command works: a service, and one of its realms. */
export interface Place {
  admin: AdminClient;
  realm: string;
  /** The client of `--client`, if the command has this flag. */
  client?: ApiRecord;
}

/** The environment variable with the realm of commands without `--realm`. */
const REALM_VARIABLE = 'IDKIT_REALM';

/** Number of realms that a question or a hint names. */
const NAMED_REALMS = 10;

/**
 * Connects to the service and chooses the realm: from `--realm`, else from `IDKIT_REALM`, else from the profile. On a
 * terminal it then asks.
 *
 * @param fallback the realm without a terminal, for commands whose default is fixed
 * @throws IDKIT_USAGE if there is no terminal, no choice and no fallback
 */
export async function openPlace(
  context: CommandContext,
  flags: Flags,
  { fallback }: { fallback?: 'master' } = {},
): Promise<Place> {
  const variable = context.env[REALM_VARIABLE] || undefined;
  const flag = textFlag(flags, 'realm');
  const chosen = flag ?? variable;
  if (chosen !== undefined) checkName(chosen, flag === undefined ? REALM_VARIABLE : '--realm');
  const connection: { admin: AdminClient; realm?: string } = await connect(context, flags);
  const { admin, realm = chosen } = connection;
  if (chosen !== undefined) return { admin, realm: chosen };
  return { admin, realm: realm ?? (await chooseRealm(context, admin, fallback)) };
}

async function chooseRealm(
  context: CommandContext,
  admin: AdminClient,
  fallback: 'master' | undefined,
): Promise<string> {
  if (!context.terminal.canAsk && fallback !== undefined) {
    context.reporter.note(`no realm is chosen, so the command uses ${fallback}; --realm chooses another`);
    return fallback;
  }
  const names = await listRealmNames(admin);
  const more = names.length > NAMED_REALMS ? ', …' : '';
  const some = `${names.slice(0, NAMED_REALMS).join(', ')}${more}`;
  if (!context.terminal.canAsk) {
    throw new IdkitError('IDKIT_USAGE', 'no realm is chosen', {
      hints: [`add --realm NAME, or set ${REALM_VARIABLE}; the realms of the service are ${some}`],
    });
  }
  const [only] = names;
  if (only !== undefined && names.length === 1) {
    context.reporter.note(`the command uses the realm ${only}, which is the only one`);
    return only;
  }
  const options = { hidden: false, signal: context.signal };
  const answer = (await ask(context.terminal, `Realm (${some}): `, options)).trim();
  if (names.includes(answer)) return answer;
  throw new IdkitError('IDKIT_NOT_FOUND', `the service has no realm ${JSON.stringify(answer)}`, {
    hints: [`the realms of the service are ${some}`],
  });
}

async function listRealmNames(admin: AdminClient): Promise<readonly string[]> {
  const { body } = await admin.call('GET', '?briefRepresentation=true');
  return asRecords(body, 'realms').map((record) => String(record['realm']));
}

/** Builds a path below the realm of a place. */
export function inRealm({ realm }: Place, ...segments: readonly string[]): string {
  return apiPath(realm, ...segments);
}
