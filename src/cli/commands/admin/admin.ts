import type { Command } from 'commander';
import type { Runner } from '../../command.ts';
import { addClientCommands } from './client.ts';
import { addRealmCommands } from './realm.ts';
import { addSessionCommands } from './session.ts';
import { addTokenCommands } from './token.ts';
import { addUserCommands } from './user.ts';

/** `idkit admin …`: queries over the administrative API, on idkit and on Keycloak 26. */
export function addAdmin(program: Command, run: Runner): void {
  const admin = program
    .command('admin')
    .description('realms, users, clients, sessions and tokens over the administrative API');
  addRealmCommands(admin, run);
  addUserCommands(admin, run);
  addClientCommands(admin, run);
  addSessionCommands(admin, run);
  addTokenCommands(admin, run);
}
