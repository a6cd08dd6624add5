import type { Client } from '../../model/index.ts';
import type { BrowserCall } from '../browser/index.ts';

/** The clients by UUID; those that are gone are left out. */
export async function findClients(
  { ctx, configuration }: Pick<BrowserCall, 'ctx' | 'configuration'>,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Client>> {
  const found = await Promise.all(
    [...ids].map((id) => ctx.store.findClientByUuid(configuration.realm.id, id)),
  );
  return new Map(found.flatMap((client) => (client === undefined ? [] : [[client.id, client]])));
}

/** What people know a client by. */
export function clientName(client: Client): string {
  return client.name || client.clientId;
}
