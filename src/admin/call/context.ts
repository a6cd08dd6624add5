import type { Clock, Random } from '../../core/index.ts';
import type { Passwords } from '../../crypto/index.ts';
import type { SessionEndings } from '../../model/index.ts';
import type { RealmConfiguration, Store } from '../../store/index.ts';
import type { Rights } from '../access/rights.ts';

/** What administration works with. */
export interface AdminContext {
  store: Store;
  clock: Clock;
  random: Random;
  passwords: Passwords;
  /** Tells clients of sessions that end; absent: nobody is told. */
  sessionEndings?: SessionEndings;
  /** The required actions that the login pages run, for the report of an import. Default: the report names none. */
  requiredActions?: ReadonlySet<string>;
  /** {base_url} without a trailing slash. */
  baseUrl: string;
  /** False: users who hold administrative roles are changed by everybody who may change users. Default: true. */
  protectAdministrators?: boolean;
}

/** Who calls the administrative API, proved by the HTTP layer. */
export interface Caller {
  /** Id and name of the realm that issued the token. */
  realmId: string;
  realmName: string;
  userId: string;
  /** `client_id` and UUID of the client that the token was issued to. */
  clientId: string;
  clientUuid: string;
  /** Names of the scopes that the token was granted, as far as its claim `scope` shows them. */
  scopes: ReadonlySet<string>;
  ipAddress: string;
}

/** An administrator at work in one realm. */
export interface RealmCall {
  context: AdminContext;
  caller: Caller;
  rights: Rights;
  configuration: RealmConfiguration;
  /** Keys of the records whose turns are held (model, `recordKey`); absent: nobody says, and nothing is checked. */
  turns?: ReadonlySet<string>;
}

/** How far the import of one realm is, counted in users; other work may get its turn before it resolves. */
export type Progress = (state: {
  phase: 'checked' | 'prepared' | 'stored';
  done: number;
  total: number;
}) => Promise<void>;
