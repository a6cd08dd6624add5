import type { RealmId } from '../../model/index.ts';
import type { RealmConfiguration } from '../contract/index.ts';
import type { Answer } from '../schema.ts';
import { type PartTable, readPart, type Touched } from '../verbs/touched.ts';
import { SharedReads } from './shared-reads.ts';

/** A realm, and the number of characters of its records in the database. */
export interface ReadRealm {
  configuration: RealmConfiguration;
  characters: number;
}

/** The ids of the changed parts of a realm, by table. */
export type RealmParts = ReadonlyMap<PartTable, ReadonlySet<string>>;

/** The source from which the cache reads realms. */
export interface RealmSource {
  realmByName(name: string): Answer<ReadRealm | undefined>;
  realmById(id: RealmId): Answer<ReadRealm | undefined>;
  /** Reads only the given parts again. Returns undefined if the realm does not exist any more. */
  refreshRealm(known: ReadRealm, parts: RealmParts): Answer<ReadRealm | undefined>;
}

/** Maximum size of the cached realms. The least recently used realm is dropped first. */
export interface RealmLimits {
  realms: number;
  /** Number of characters in the database. In memory, a character takes two to three bytes. */
  characters: number;
}

/** Enough for more than a thousand realms with the built-in records, in about 130 MB. */
const LIMITS: RealmLimits = { realms: 2_000, characters: 60_000_000 };

/** Maximum number of changed parts that are read again. If there are more, the whole realm is read again. */
const MOST_PARTS = 1_000;

interface Entry extends ReadRealm {
  /** The parts that have changed since the realm was read. */
  changed: Map<PartTable, Set<string>> | undefined;
}

/**
 * Caches realm configurations. After a change, the next lookup reads only the changed parts, because a realm such as
 * master can have tens of thousands of roles.
 */
export class RealmCache {
  readonly #source: RealmSource;
  readonly #limits: RealmLimits;
  /** Sorted by last use. */
  readonly #byId = new Map<RealmId, Entry>();
  readonly #ids = new Map<string, RealmId>();
  readonly #reads = new SharedReads();
  #characters = 0;

  constructor(source: RealmSource, limits: RealmLimits = LIMITS) {
    this.#source = source;
    this.#limits = limits;
  }

  byName(name: string): Answer<RealmConfiguration | undefined> {
    const id = this.#ids.get(name);
    const entry = id === undefined ? undefined : this.#use(id);
    if (entry === undefined)
      return configurationOf(
        this.#reads.read<ReadRealm>(`name ${name}`, {
          isAffectedBy: ({ realms }) => realms.length > 0,
          read: () => this.#source.realmByName(name),
          keep: (value, changes) => this.#keepRead(value, changes),
          again: () => this.#again(() => this.byName(name)),
        }),
      );
    if (entry.changed === undefined) return entry.configuration;
    const fresh = this.#refresh(entry);
    // If the realm was renamed meanwhile, another realm may have its old name.
    const checked = (found: RealmConfiguration | undefined) =>
      found?.realm.name === name ? found : this.byName(name);
    return fresh instanceof Promise ? fresh.then(checked) : checked(fresh);
  }

  byId(id: RealmId): Answer<RealmConfiguration | undefined> {
    const entry = this.#use(id);
    if (entry !== undefined) return entry.changed === undefined ? entry.configuration : this.#refresh(entry);
    return configurationOf(
      this.#reads.read<ReadRealm>(`id ${id}`, {
        isAffectedBy: ({ realms }) => realms.includes(id),
        read: () => this.#source.realmById(id),
        keep: (value, changes) => this.#keepRead(value, changes),
        again: () => this.#again(() => this.byId(id)),
      }),
    );
  }

  forget(touched: Touched): void {
    this.#reads.change(touched);
    for (const id of touched.realms) {
      const entry = this.#byId.get(id);
      if (entry === undefined) continue;
      const changed = addParts(entry.changed, id, touched);
      if (changed === undefined) this.#drop(id);
      else entry.changed = changed;
    }
  }

  forgetAll(): void {
    this.#reads.lose();
    this.#byId.clear();
    this.#ids.clear();
    this.#characters = 0;
  }

  #refresh(entry: Entry): Answer<RealmConfiguration | undefined> {
    const { id } = entry.configuration.realm;
    return configurationOf(
      this.#reads.read<ReadRealm>(`changed ${id}`, {
        isAffectedBy: ({ realms }) => realms.includes(id),
        read: () => {
          // The entry's own sets grow if more parts change during the read.
          const parts = new Map([...(entry.changed ?? [])].map(([table, ids]) => [table, new Set(ids)]));
          const read = this.#source.refreshRealm(entry, parts);
          const dropped = (value: ReadRealm | undefined) => {
            if (value === undefined) this.#drop(id);
            return value;
          };
          return read instanceof Promise ? read.then(dropped) : dropped(read);
        },
        keep: (value, changes) => this.#keep(value, changes),
        again: () => this.#again(() => this.byId(id)),
      }),
    );
  }

  /** Converts the result of a lookup to that of a read. */
  #again(lookup: () => Answer<RealmConfiguration | undefined>): Answer<ReadRealm | undefined> {
    const read = (configuration: RealmConfiguration | undefined) =>
      configuration === undefined ? undefined : { configuration, characters: 0 };
    const found = lookup();
    return found instanceof Promise ? found.then(read) : read(found);
  }

  /** Caches a realm that was read as a whole. A parallel read may have cached it already. */
  #keepRead(value: ReadRealm, changes: readonly Touched[]): ReadRealm {
    const known = this.#byId.get(value.configuration.realm.id);
    return known !== undefined && known.changed === undefined ? known : this.#keep(value, changes);
  }

  #keep(value: ReadRealm, changes: readonly Touched[]): ReadRealm {
    const { id, name } = value.configuration.realm;
    this.#drop(id);
    let changed: Entry['changed'];
    for (const touched of changes) {
      if (!touched.realms.includes(id)) continue;
      changed = addParts(changed, id, touched);
      if (changed === undefined) return value;
    }
    this.#byId.set(id, { ...value, changed });
    this.#ids.set(name, id);
    this.#characters += value.characters;
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= this.#limits.realms && this.#characters <= this.#limits.characters) break;
      if (oldest !== id) this.#drop(oldest);
    }
    return value;
  }

  #use(id: RealmId): Entry | undefined {
    const entry = this.#byId.get(id);
    if (entry === undefined) return undefined;
    this.#byId.delete(id);
    this.#byId.set(id, entry);
    return entry;
  }

  #drop(id: RealmId): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    this.#characters -= entry.characters;
    const { name } = entry.configuration.realm;
    if (this.#ids.get(name) === id) this.#ids.delete(name);
  }
}

function configurationOf(read: Answer<ReadRealm | undefined>): Answer<RealmConfiguration | undefined> {
  return read instanceof Promise ? read.then((value) => value?.configuration) : read?.configuration;
}

/** Adds the changed parts of a realm. Returns undefined if the whole realm must be read again. */
function addParts(known: Entry['changed'], id: RealmId, touched: Touched): Entry['changed'] {
  const parts = touched.parts?.find(({ realm }) => realm === id);
  if (parts === undefined) return undefined;
  const changed = known ?? new Map<PartTable, Set<string>>();
  for (const part of parts.changed) {
    const { table, id: partId } = readPart(part);
    const ids = changed.get(table);
    if (ids === undefined) changed.set(table, new Set([partId]));
    else ids.add(partId);
  }
  const count = changed.values().reduce((sum, ids) => sum + ids.size, 0);
  return count > MOST_PARTS ? undefined : changed;
}
