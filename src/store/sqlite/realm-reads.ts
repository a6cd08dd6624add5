import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { type RealmKey, realmSteps } from '../records/configuration-source.ts';
import type { RealmRows } from '../records/realm-rows.ts';
import { drive } from '../verbs/steps.ts';
import { Statements } from './statements.ts';

/** A realm with so many roles or groups is read in slices. */
const LARGE = 500;
/** Number of rows that are read before other work can run. Reading them takes about a millisecond. */
const SLICE = 300;

/** Returns the rows of a realm, or `large` if reading them would take too long. */
export function readSmallRealm(sql: Statements, find: RealmKey): RealmRows | 'large' | undefined {
  const realm = 'id' in find ? sql.get('realm.byId', find) : sql.get('realm.byName', find);
  if (realm === undefined) return undefined;
  const { roles, groups } = sql.get('realm.size', { realm_id: realm.id })!;
  if (roles >= LARGE || groups >= LARGE) return 'large';
  return drive(sql, realmSteps(find));
}

/**
 * Reads the rows of a realm in one snapshot, and lets other work run in between. It uses a connection of its own,
 * because the snapshot must not hide later writes from other reads.
 */
export async function readLargeRealm(file: string, find: RealmKey): Promise<RealmRows | undefined> {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  try {
    database.exec('PRAGMA cache_size = -2000; BEGIN');
    const sql = new Statements(database);
    const realm = 'id' in find ? sql.get('realm.byId', find) : sql.get('realm.byName', find);
    if (realm === undefined) return undefined;
    const ofRealm = { realm_id: realm.id };
    return {
      realm,
      component: await inSlices(sql.iterate('component.byRealm', ofRealm)),
      role: await inSlices(sql.iterate('role.byRealm', ofRealm)),
      realm_group: await inSlices(sql.iterate('realm_group.byRealm', ofRealm)),
      client_scope: await inSlices(sql.iterate('client_scope.byRealm', ofRealm)),
    };
  } finally {
    database.close();
  }
}

async function inSlices<R>(rows: Iterable<R>): Promise<R[]> {
  const all: R[] = [];
  for (const row of rows) {
    all.push(row);
    if (all.length % SLICE === 0) await setImmediate();
  }
  return all;
}
