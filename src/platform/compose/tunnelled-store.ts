import { parsePostgresUrl, type Settings } from '../../config/index.ts';
import type { Secret } from '../../core/index.ts';
import type { StoreAccess } from '../contract.ts';
import { openPostgresStore, type PostgresAccess } from '../postgres/platform.ts';
import type { Engine } from './engine.ts';
import { whileTunnelled } from './tunnel.ts';

/** idkit's own store in a database whose port is not published. Each call opens its own tunnel. */
export class TunnelledStore implements StoreAccess {
  readonly #settings: Settings;
  readonly #find: () => Promise<{ engine: Engine; id: string }>;
  readonly #access: PostgresAccess;

  constructor(
    settings: Settings,
    find: () => Promise<{ engine: Engine; id: string }>,
    access: PostgresAccess,
  ) {
    this.#settings = settings;
    this.#find = find;
    this.#access = access;
  }

  readSnapshot(): ReturnType<StoreAccess['readSnapshot']> {
    return this.#through((store) => store.readSnapshot());
  }

  readStatus(): ReturnType<StoreAccess['readStatus']> {
    return this.#through((store) => store.readStatus());
  }

  recoverAdministrator(username: string): Promise<{ password: Secret }> {
    return this.#through((store) => store.recoverAdministrator(username));
  }

  changeMasterKey(from: Secret, to: Secret): Promise<{ records: number }> {
    return this.#through((store) => store.changeMasterKey(from, to));
  }

  #through<T>(work: (store: StoreAccess) => Promise<T>): Promise<T> {
    return whileTunnelled(this.#find, (directory) =>
      work(openPostgresStore(withSocket(this.#settings, directory), this.#access)),
    );
  }
}

/** Returns the settings with the tunnel as the database's address. */
function withSocket(settings: Settings, directory: string): Settings {
  const { database } = settings;
  if (database.kind !== 'postgres') return settings;
  const { user, database: name } = parsePostgresUrl(database.url);
  const url = `postgres://${encodeURIComponent(user)}@/${encodeURIComponent(name)}?host=${encodeURIComponent(directory)}`;
  return { ...settings, database: { kind: 'postgres', url } };
}
