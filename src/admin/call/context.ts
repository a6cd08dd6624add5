import type { Clock, Random } from '../../core/index.ts';
import type { Passwords } from '../../crypto/index.ts';
import type { SessionEndings } from '../../model/index.ts';
import type { RealmConfiguration, Store } from '../../store/index.ts';
import type { Rights } from '../access/rights.ts';

/** What every operation of administration needs. */
export interface AdminContext {
  store: Store;
  clock: Clock;
  random: Random;
  passwords: Passwords;
  /** Notifies clients of sessions that end. Without it no client is notified. */
  sessionEndings?: SessionEndings;
  /** The required actions that the login pages run, for the report of an import. Default: the report names none. */
  requiredActions?: ReadonlySet<string>;
  /** The public base URL, without a trailing slash. */
  baseUrl: string;
  /** Default: true. If false, every caller who may change users may also change administrators. */
  protectAdministrators?: boolean;
}

/** The caller of the administrative API, whom the HTTP layer has authenticated. */
export interface Caller {
  /** Id and name of the realm that issued the token. */
  realmId: string;
  realmName: string;
  userId: string;
  /** `client_id` and UUID of the client that the token was issued to. */
  clientId: string;
  clientUuid: string;
  /** Names of the granted scopes, as far as the token's claim `scope` lists them. */
  scopes: ReadonlySet<string>;
  ipAddress: string;
}

/** A call that works on one realm. */
export interface RealmCall {
  context: AdminContext;
  caller: Caller;
  rights: Rights;
  configuration: RealmConfiguration;
  /** Keys (`recordKey`) of the records whose turns the call holds. If absent, turns are not checked. */
  turns?: ReadonlySet<string>;
}

/** Receives the progress of an import, counted in users. Other work may run before the promise resolves. */
export type Progress = (state: {
  phase: 'checked' | 'prepared' | 'stored';
  done: number;
  total: number;
}) => Promise<void>;
