import { parsePostgresUrl, type Settings } from '../../config/index.ts';
import type { DatabaseHalf } from '../contract.ts';
import type { StoreWork } from '../embedded/store-work.ts';
import type { Engine } from './engine.ts';
import { whileTunnelled } from './tunnel.ts';

/**
 * What needs idkit's own store, on a database whose port is not published: through a tunnel that stands while it works.
 * `open` opens the database half by the address that leads through it.
 */
export function tunnelStoreWork(
  settings: Settings,
  find: () => Promise<{ engine: Engine; id: string }>,
  open: (settings: Settings) => DatabaseHalf,
): StoreWork {
  const through = <T>(work: (database: DatabaseHalf) => Promise<T>): Promise<T> =>
    whileTunnelled(find, (directory) => work(open(withSocket(settings, directory))));
  return {
    readSnapshot: () => through((database) => database.readSnapshot()),
    listUnenforced: () => through((database) => database.listUnenforced()),
    recoverAdministrator: (username) => through((database) => database.recoverAdministrator(username)),
    changeMasterKey: (from, to) => through((database) => database.changeMasterKey(from, to)),
  };
}

function withSocket(settings: Settings, directory: string): Settings {
  const { database } = settings;
  if (database.kind !== 'postgres') return settings;
  const { user, database: name } = parsePostgresUrl(database.url);
  const url = `postgres://${encodeURIComponent(user)}@/${encodeURIComponent(name)}?host=${encodeURIComponent(directory)}`;
  return { ...settings, database: { kind: 'postgres', url } };
}
