import type { CliCommand } from '../../cli-command.ts';
import type { Runner } from '../../command.ts';
import { addApiCommand } from './api.ts';
import { addBulkCommands } from './bulk/bulk.ts';
import { addClientCommands } from './client.ts';
import { addRealmCommands } from './realm.ts';
import { addSessionCommands } from './session.ts';
import { addTokenCommands } from './token.ts';
import { addUserCommands } from './user.ts';

/** `idkit admin …`: commands that call the administrative API of idkit or of Keycloak 26. */
export function addAdmin(program: CliCommand, run: Runner): void {
  const admin = program
    .command('admin')
    .description('manage realms, users, clients, sessions and tokens through the administrative API')
    .examples([
      ['idkit admin realm list', 'prints each realm and its state'],
      ['idkit admin user count --realm acme', 'prints a number'],
      [
        'idkit admin realm list --base-url https://login.example.org',
        'calls another service, which can be Keycloak 26',
      ],
    ]);
  addRealmCommands(admin, run);
  addUserCommands(admin, run);
  addClientCommands(admin, run);
  addSessionCommands(admin, run);
  addTokenCommands(admin, run);
  addBulkCommands(admin, run);
  addApiCommand(admin, run);
}
