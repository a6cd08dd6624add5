import type { CliCommand } from '../../cli-command.ts';
import type { Runner } from '../../command.ts';
import { addApiCommand } from './api.ts';
import { addBulkCommands, addUserImport } from './bulk/bulk.ts';
import { CLIENT } from './nouns/client.ts';
import { CLIENT_SCOPE } from './nouns/client-scope.ts';
import { COMPONENT } from './nouns/component.ts';
import { addEventCommands } from './nouns/event.ts';
import { GROUP } from './nouns/group.ts';
import { KEY } from './nouns/key.ts';
import { REALM } from './nouns/realm.ts';
import { ROLE } from './nouns/role.ts';
import { SESSION } from './nouns/session.ts';
import { USER } from './nouns/user.ts';
import type { Noun } from './records/noun.ts';
import { addNounCommands } from './records/noun-commands.ts';
import { addTokenCommands } from './token.ts';
import { addTrashCommands } from './trash.ts';

/** The records that `idkit admin` manages. To add one, add a file to this folder and an entry here. */
const NOUNS: readonly Noun[] = [REALM, USER, GROUP, ROLE, CLIENT, CLIENT_SCOPE, SESSION, KEY, COMPONENT];

/**
 * `idkit admin …`: commands that call the administrative API of idkit or of Keycloak 26. If the first word names a kind
 * of record, only its commands are added, because defining all of them takes longer than many of them run.
 */
export function addAdmin(program: CliCommand, run: Runner, [word]: readonly string[]): void {
  const admin = program
    .command('admin')
    .description('manage realms, users, groups, roles, clients, sessions, events and keys')
    .examples([
      ['idkit admin realm list', 'prints each realm and its state'],
      ['idkit admin user count --realm acme', 'prints a number'],
      [
        'idkit admin realm list --base-url https://login.example.org',
        'calls another service, which can be Keycloak 26',
      ],
    ]);
  const only = NOUNS.find(({ command }) => command === word);
  for (const noun of only === undefined ? NOUNS : [only]) addNounCommands(admin, run, noun);
  if (only === undefined || only === USER) addUserImport(admin, run);
  if (only !== undefined) return;
  addEventCommands(admin, run);
  addTokenCommands(admin, run);
  addTrashCommands(admin, run);
  addBulkCommands(admin, run);
  addApiCommand(admin, run);
}
