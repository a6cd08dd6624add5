import type { CliCommand } from '../../cli-command.ts';
import type { Runner } from '../../command.ts';
import { addClientCommands } from './client.ts';
import { addRealmCommands } from './realm.ts';
import { addSessionCommands } from './session.ts';
import { addTokenCommands } from './token.ts';
import { addUserCommands } from './user.ts';

/** `idkit admin …`: queries over the administrative API, on idkit and on Keycloak 26. */
export function addAdmin(program: CliCommand, run: Runner): void {
  const admin = program
    .command('admin')
    .description('realms, users, clients, sessions and tokens over the administrative API')
    .examples([
      ['idkit admin realm list', 'names and states'],
      ['idkit admin user count --realm acme', 'a number'],
      ['idkit admin realm list --base-url https://login.example.org', 'a service elsewhere, Keycloak 26 too'],
    ]);
  addRealmCommands(admin, run);
  addUserCommands(admin, run);
  addClientCommands(admin, run);
  addSessionCommands(admin, run);
  addTokenCommands(admin, run);
}
