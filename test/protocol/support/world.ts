import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, Secret, systemRandom, uuid } from '../../../src/core/index.ts';
import { openPasswords, type Passwords } from '../../../src/crypto/index.ts';
import type { Client, Credential, RealmSettings, User, UserEvent } from '../../../src/model/index.ts';
import {
  openKeyRing,
  type ProtocolContext,
  type ProtocolRequest,
  Refusal,
  requestTokens,
  type TokenResponse,
} from '../../../src/protocol/index.ts';
import type { Change, Store } from '../../../src/store/index.ts';
import { applyAsRead } from '../../store/as-read.ts';
import { type FixtureRealm, fixtureClient, fixtureRealm, fixtureUser } from './fixture-realm.ts';
import { openTestStore } from './store.ts';

/** The password of every fixture user. */
export const PASSWORD = 'Correct-Horse-1';
export const BASE_URL = 'https://id.example.test';
/** The Unix time in seconds at which the clock of every world starts. */
export const START = 1_800_000_000;

/** A clock that advances only when a test calls `pass`. */
export class TestClock implements Clock {
  #now = START * 1000;
  now(): number {
    return this.#now;
  }
  /** Advances the clock by a number of seconds. */
  pass(seconds: number): void {
    this.#now += seconds * 1000;
  }
}

/** A real store in a temporary directory, with a protocol context that uses it. */
export interface World {
  ctx: ProtocolContext;
  store: Store;
  clock: TestClock;
  events: UserEvent[];
  /** Builds and stores a realm. */
  realm(name: string, settings?: Partial<RealmSettings>): Promise<RealmInWorld>;
  close(): Promise<void>;
}

/** A stored realm, with functions that send requests to it. */
export interface RealmInWorld {
  fixture: FixtureRealm;
  name: string;
  client(clientId: string, changes?: Parameters<typeof fixtureClient>[3]): Promise<Client>;
  /** Creates a user. `password: null` creates a user without a password. */
  user(username: string, changes?: Partial<User> & { password?: string | null }): Promise<User>;
  credential(user: User, type: string, secretData: object, credentialData: object): Promise<Credential>;
  settings(changes: Partial<RealmSettings>): Promise<void>;
  put(...changes: Change[]): Promise<void>;
  /** Builds a request to an endpoint of the realm. */
  request(form: Record<string, string>, more?: Partial<ProtocolRequest>): ProtocolRequest;
  /** Calls the token endpoint. @throws Refusal */
  tokens(form: Record<string, string>, more?: Partial<ProtocolRequest>): Promise<TokenResponse>;
  login(username: string, form?: Record<string, string>): Promise<TokenResponse>;
  refresh(token: string | undefined, form?: Record<string, string>): Promise<TokenResponse>;
}

let passwords: Passwords | undefined;
const hashes = new Map<string, Promise<{ secretData: string; credentialData: string }>>();

export async function openWorld(): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'idkit-protocol-'));
  const clock = new TestClock();
  const store = await openTestStore(directory, clock);
  passwords ??= openPasswords({ threads: 2 });
  const events: UserEvent[] = [];
  const ctx: ProtocolContext = {
    store,
    clock,
    random: systemRandom,
    keys: openKeyRing(),
    passwords,
    events: { emit: (event) => events.push(event) },
    baseUrl: BASE_URL,
  };
  return {
    ctx,
    store,
    clock,
    events,
    realm: async (name, settings = {}) => {
      const fixture = await fixtureRealm(name, settings, { clock, random: systemRandom });
      await applied(store, fixture.changes);
      return realmInWorld(ctx, fixture);
    },
    close: async () => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Ends the hashing threads that all worlds of a test file share. */
export async function closePasswords(): Promise<void> {
  await passwords?.close();
  passwords = undefined;
}

/** Returns the refusal of a call. Fails if the call succeeds. */
export async function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('was not refused');
}

async function applied(store: Store, changes: readonly Change[]): Promise<void> {
  const result = await applyAsRead(store, changes);
  if (result.outcome !== 'applied') throw new Error(`fixture: ${JSON.stringify(result)}`);
}

function realmInWorld(ctx: ProtocolContext, fixture: FixtureRealm): RealmInWorld {
  const { store, random } = ctx;
  const realm: RealmInWorld = {
    fixture,
    name: fixture.realm.name,
    client: async (clientId, changes) => {
      const client = fixtureClient(fixture, clientId, random, changes);
      await applied(store, [{ do: 'create', client }]);
      if (client.serviceAccountsEnabled) {
        const user = fixtureUser(fixture, `service-account-${clientId}`, random, {
          serviceAccountClientUuid: client.id,
        });
        const { email: _email, firstName: _first, lastName: _last, ...bare } = user;
        await applied(store, [{ do: 'create', user: bare }]);
      }
      return client;
    },
    user: async (username, { password = PASSWORD, ...changes } = {}) => {
      const user = fixtureUser(fixture, username, random, changes);
      await applied(store, [{ do: 'create', user }]);
      if (password !== null) {
        const hash = await hashOnce(ctx, password);
        const credential: Credential = {
          id: uuid(random),
          userId: user.id,
          type: 'password',
          createdDate: ctx.clock.now(),
          secrets: {},
          priority: 10,
          ...hash,
        };
        await applied(store, [{ do: 'create', credential }]);
      }
      return user;
    },
    credential: async (user, type, secretData, credentialData) => {
      const credential: Credential = {
        id: uuid(random),
        userId: user.id,
        type,
        createdDate: 0,
        credentialData: JSON.stringify(credentialData),
        secrets: { '/secretData': new Secret(JSON.stringify(secretData)) },
        priority: 20,
      };
      await applied(store, [{ do: 'create', credential }]);
      return credential;
    },
    settings: async (changes) => {
      const current = (await store.findRealm(fixture.realm.name))!.realm;
      const next = { ...current, settings: { ...current.settings, ...changes } };
      await applied(store, [{ do: 'put', realm: next }]);
    },
    put: (...changes) => applied(store, changes),
    request: (form, more = {}) => ({
      realm: fixture.realm.name,
      form: new Map(Object.entries(form)),
      duplicated: false,
      remoteAddress: '127.0.0.1',
      secure: false,
      ...more,
    }),
    tokens: async (form, more) => (await requestTokens(ctx, realm.request(form, more))).body,
    login: (username, form = {}) =>
      realm.tokens({ grant_type: 'password', client_id: 'web', username, password: PASSWORD, ...form }),
    refresh: (token, form = {}) =>
      realm.tokens({ grant_type: 'refresh_token', client_id: 'web', refresh_token: token ?? '', ...form }),
  };
  return realm;
}

/** Returns the hash of a password. Hashes each password only once, because hashing is slow. */
function hashOnce(ctx: ProtocolContext, password: string) {
  const known = hashes.get(password);
  if (known !== undefined) return known;
  const hash = ctx.passwords.hash(password, { algorithm: 'argon2' });
  hashes.set(password, hash);
  return hash;
}

/** Returns the claims of a token. Does not verify it. */
export function claimsOf(token: string | undefined): Record<string, unknown> {
  return JSON.parse(Buffer.from(token!.split('.')[1]!, 'base64url').toString('utf8'));
}
