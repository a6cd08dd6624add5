import { rm } from 'node:fs/promises';
import { makeTemporaryDirectory } from '../../files/index.ts';
import type { SetHandle, WorkOptions } from '../contract.ts';
import type { ContentKind, ContentLink } from './content.ts';
import { type Fact, FactFile, KINDS, newDigestKey, type RecordLabel } from './fact-file.ts';
import { KEY_PROVIDER } from './survey.ts';

/** A difference between two dumps. It never contains a value of a field, because values can be secrets. */
export interface Difference {
  change: 'added' | 'removed' | 'changed';
  kind: ContentKind | 'key';
  /** The name of the realm. Undefined if the dump does not say which realm the record is in. */
  realm?: string;
  /** The username, the clientId, the name of a client role as `client/role`, or the name of another record. */
  name: string;
  id: string;
  /** The names of the changed fields, sorted. */
  fields?: readonly string[];
  /** The names of roles, groups and client scopes that the record has gained. */
  gained?: Partial<Record<ContentLink, readonly string[]>>;
  lost?: Partial<Record<ContentLink, readonly string[]>>;
  /** For an added or removed realm, the number of its records, which are not listed. */
  contents?: Readonly<Partial<Record<ContentKind, number>>>;
}

/** A comparison in progress. */
export interface Comparison {
  /** Iterates over the differences, ordered by kind and id. */
  differences(): Generator<Difference>;
  /** Removes the temporary files. */
  close(): Promise<void>;
}

export interface CompareOptions {
  /** Runs the reading of one side, for example as a step. */
  around?: (side: 'before' | 'after', work: (options: WorkOptions) => Promise<void>) => Promise<void>;
}

/**
 * Compares the dumps of two sets from their files alone, in bounded memory. Records are the same if their ids are. It
 * keeps digests of all fields in temporary files of about 300 bytes per user.
 *
 * @throws IDKIT_DAMAGED
 */
export async function compareDumps(
  before: SetHandle,
  after: SetHandle,
  { around = (_side, work) => work({}) }: CompareOptions = {},
): Promise<Comparison> {
  const dir = await makeTemporaryDirectory('idkit-diff-');
  const key = newDigestKey();
  const files: FactFile[] = [];
  const close = async () => {
    for (const file of files) file.close();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    for (const [side, set] of [
      ['before', before],
      ['after', after],
    ] as const) {
      const file = new FactFile(dir, side, key);
      files.push(file);
      await around(side, (options) => file.fill(set, options));
    }
    const [old, fresh] = files as [FactFile, FactFile];
    return { differences: () => differences(old, fresh), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The facts of one record. */
interface Group {
  kind: number;
  id: string;
  facts: Fact[];
}

function* groups(facts: IterableIterator<Fact>): Generator<Group> {
  let group: Group | undefined;
  for (const fact of facts) {
    if (group === undefined || group.kind !== fact.kind || group.id !== fact.id) {
      if (group !== undefined) yield group;
      group = { kind: fact.kind, id: fact.id, facts: [] };
    }
    group.facts.push(fact);
  }
  if (group !== undefined) yield group;
}

/** Pairs the records of both sides, which are sorted in the same order. */
function* pairs(before: FactFile, after: FactFile): Generator<[Group | undefined, Group | undefined]> {
  const [olds, news] = [groups(before.facts()), groups(after.facts())];
  let [old, fresh] = [olds.next().value, news.next().value] as [Group | undefined, Group | undefined];
  while (old !== undefined || fresh !== undefined) {
    const order = old === undefined ? 1 : fresh === undefined ? -1 : compareKeys(old, fresh);
    yield [order <= 0 ? old : undefined, order >= 0 ? fresh : undefined];
    if (order <= 0) old = olds.next().value as Group | undefined;
    if (order >= 0) fresh = news.next().value as Group | undefined;
  }
}

/** Compares in SQLite's order, which is that of the UTF-8 bytes. */
function compareKeys(one: Group, other: Group): number {
  return one.kind - other.kind || Buffer.compare(Buffer.from(one.id), Buffer.from(other.id));
}

function* differences(before: FactFile, after: FactFile): Generator<Difference> {
  const realms = new Map<
    string,
    { difference: Difference; contents: Partial<Record<ContentKind, number>> }
  >();
  for (const [old, fresh] of pairs(before, after)) {
    const { kind: number, id } = (old ?? fresh)!;
    const kind = KINDS[number]!;
    if (kind !== 'realm' && realms.size > 0) {
      // The records of an added or removed realm are counted, and reported with the realm.
      const realm = realms.get(labelOf(old ?? fresh)?.realmId ?? '');
      if (realm !== undefined && (old === undefined || fresh === undefined)) {
        realm.contents[kind] = (realm.contents[kind] ?? 0) + 1;
        continue;
      }
    }
    const difference = differenceOf(kind, id, { old, fresh, before, after });
    if (difference === undefined) continue;
    if (kind === 'realm' && difference.change !== 'changed') {
      realms.set(id, { difference, contents: {} });
      continue;
    }
    yield difference;
  }
  for (const { difference, contents } of realms.values()) yield { ...difference, contents };
}

interface Sides {
  old: Group | undefined;
  fresh: Group | undefined;
  before: FactFile;
  after: FactFile;
}

function differenceOf(kind: ContentKind, id: string, sides: Sides): Difference | undefined {
  const { old, fresh, before, after } = sides;
  const [was, is] = [labelOf(old), labelOf(fresh)];
  const label = is ?? was;
  // Parts without a record belong to nothing that a realm shows.
  if (label === undefined) return undefined;
  const find = (target: string) => after.findLabel(target) ?? before.findLabel(target);
  const realmId = label.realmId || (label.ownerId === undefined ? '' : (find(label.ownerId)?.realmId ?? ''));
  const realm = kind === 'realm' ? label.name : find(realmId)?.name;
  const named = {
    kind: kind === 'component' && label.type === KEY_PROVIDER ? ('key' as const) : kind,
    ...(realm === undefined ? {} : { realm }),
    name: nameOf(kind, label, find),
    id,
  };
  if (was === undefined || is === undefined)
    return { change: was === undefined ? 'added' : 'removed', ...named };
  const changes = changesOf(old!, fresh!, find);
  return changes === undefined ? undefined : { change: 'changed', ...named, ...changes };
}

type FindLabel = (id: string) => RecordLabel | undefined;

/** Returns the name of a record with its client or parent, by which an operator finds it. */
function nameOf(kind: ContentKind, label: RecordLabel, find: FindLabel, depth = 0): string {
  const owner = label.ownerId === undefined || depth > 20 ? undefined : find(label.ownerId);
  if (kind === 'group') {
    const parent = owner === undefined ? '' : nameOf('group', owner, find, depth + 1);
    return `${parent}/${label.name}`;
  }
  return owner === undefined ? label.name : `${owner.name}/${label.name}`;
}

function labelOf(group: Group | undefined): RecordLabel | undefined {
  const own = group?.facts.find(({ field }) => field === '');
  return own === undefined ? undefined : (JSON.parse(own.label) as RecordLabel);
}

function changesOf(
  old: Group,
  fresh: Group,
  find: FindLabel,
): Pick<Difference, 'fields' | 'gained' | 'lost'> | undefined {
  const fields = new Set(changedFields(old, fresh));
  const gained: Partial<Record<ContentLink, string[]>> = {};
  const lost: Partial<Record<ContentLink, string[]>> = {};
  for (const [from, to, into] of [
    [old, fresh, gained],
    [fresh, old, lost],
  ] as const) {
    const known = new Set(from.facts.map(keyOf));
    for (const fact of to.facts) {
      if (fact.field === '' || known.has(keyOf(fact))) continue;
      if (fact.label === '') fields.add(fact.field);
      else {
        const link = fact.label as ContentLink;
        into[link] = [...(into[link] ?? []), targetName(fact, find)];
      }
    }
  }
  const isSame = fields.size === 0 && Object.keys(gained).length === 0 && Object.keys(lost).length === 0;
  if (isSame) return undefined;
  return {
    ...(fields.size === 0 ? {} : { fields: [...fields].sort() }),
    ...(Object.keys(gained).length === 0 ? {} : { gained }),
    ...(Object.keys(lost).length === 0 ? {} : { lost }),
  };
}

function keyOf({ field, digest }: Fact): string {
  return `${field}\0${digest}`;
}

function targetName({ digest: id, label: link }: Fact, find: FindLabel): string {
  const label = find(id);
  if (label === undefined) return id;
  const kind = link === 'groups' ? 'group' : link === 'clientScopes' ? 'clientScope' : 'role';
  return nameOf(kind, label, find);
}

/** Returns the fields of the record's own row that differ. */
function changedFields(old: Group, fresh: Group): string[] {
  const [was, is] = [old, fresh].map((group) => group.facts.find(({ field }) => field === '')!.digest);
  if (was === is) return [];
  const [before, after] = [JSON.parse(was!), JSON.parse(is!)] as [
    Record<string, string>,
    Record<string, string>,
  ];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => before[field] !== after[field],
  );
}
