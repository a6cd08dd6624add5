import type { Clock, Random } from '../../core/index.ts';
import type { Passwords } from '../../crypto/index.ts';
import type { Client, SessionEndings } from '../../model/index.ts';
import type { RealmConfiguration, Store } from '../../store/index.ts';
import type { Rights } from '../access/rights.ts';

/** The dependencies and settings that every operation of administration needs. */
export interface AdminContext {
  store: Store;
  clock: Clock;
  random: Random;
  passwords: Passwords;
  /** Notifies clients of sessions that end. If absent, clients are not notified. */
  sessionEndings?: SessionEndings;
  /**
   * The required actions that the login pages support. An import reports every other required action. If this set is
   * absent, it reports none.
   */
  requiredActions?: ReadonlySet<string>;
  /** The public base URL, without a trailing slash. */
  baseUrl: string;
  /** Default: true. If false, every caller who may change users may also change administrators. */
  protectAdministrators?: boolean;
  /** Number of days for which the bin keeps deleted records. Default: 0, which means that nothing is kept. */
  trashDays?: number;
}

/** The caller of the administrative API, whom the HTTP layer has authenticated. */
export interface Caller {
  /** Id of the realm that issued the token. */
  realmId: string;
  realmName: string;
  userId: string;
  /** `client_id` of the client that the token was issued to. */
  clientId: string;
  clientUuid: string;
  /** Names of the granted scopes that the token's claim `scope` lists. */
  scopes: ReadonlySet<string>;
  ipAddress: string;
}

/** A call that reads or changes one realm. */
export interface RealmCall {
  context: AdminContext;
  caller: Caller;
  rights: Rights;
  configuration: RealmConfiguration;
  /** Keys (`recordKey`) of the records that the call has locked. If absent, locks are not checked. */
  turns?: ReadonlySet<string>;
  /** Clients that the call is about to create, for checks of authority (`withNewRecords`). */
  newClients?: ReadonlyMap<string, Client>;
}

/**
 * Receives the progress of an import, counted in users. The import waits for the promise, so that other work can run.
 */
export type Progress = (state: {
  phase: 'checked' | 'prepared' | 'stored';
  done: number;
  total: number;
}) => Promise<void>;
