import type { DumpRow, RowReader, RowSink } from '../dump/rows.ts';

/** The kinds of records that a dump describes. */
export type ContentKind =
  | 'realm'
  | 'client'
  | 'clientScope'
  | 'role'
  | 'group'
  | 'user'
  | 'component'
  | 'protocolMapper'
  | 'identityProvider'
  | 'flow'
  | 'organization';

/** A record of a realm, as far as idkit and Keycloak have it in common. */
export interface ContentRecord {
  id: string;
  /** Empty if the row does not contain the realm. */
  realmId: string;
  /** The realm's name, the username, the clientId, or the name of any other record. */
  name: string;
  /** The `providerType` of a component. */
  type?: string;
  /** True for the user of a client's service account. */
  isServiceAccount?: boolean;
  /** The client of a client role, or the parent of a group. */
  ownerId?: string;
}

/** A stored password, without its hash. */
export interface ContentPassword {
  /** For example `argon2` or `pbkdf2-sha512`. */
  algorithm: string;
  iterations: number | undefined;
}

/** What a record refers to. The first word of a message about the link comes from this name. */
export type ContentLink = 'roles' | 'groups' | 'composites' | 'scopeRoles' | 'clientScopes';

/**
 * Receives the content of a dump in the dump's order, in which a part can precede its record. The functions `fields`
 * and `value` are valid only during the call.
 */
export interface ContentSink {
  /** @param fields returns the names and values of the record's fields; the values can be secrets */
  record?(kind: ContentKind, record: ContentRecord, fields: () => Iterable<readonly [string, string]>): void;
  /** Receives a part of a record from another table. @param value returns a value, which can be a secret */
  part?(kind: ContentKind, id: string, field: string, value: () => string): void;
  link?(kind: ContentKind, id: string, link: ContentLink, targetId: string): void;
  password?(password: ContentPassword): void;
  /** The owner is the realm if the row names it, else the user. */
  session?(session: { realmId?: string; userId?: string; offline: boolean }): void;
  /** Receives every row of every table. */
  row?(table: string, row: DumpRow): void;
}

/** The reader of one table's rows. Undefined if the table has other columns. */
export type ContentTable = (columns: readonly string[], sink: ContentSink) => RowReader | undefined;

/** Passes the rows of a dump to `sink` as content. Tables that neither idkit nor Keycloak has are only counted. */
export function readContent(
  sink: ContentSink,
  tables: readonly Readonly<Record<string, ContentTable>>[],
): RowSink {
  return {
    table(name, columns) {
      const known = tables.map((all) => (Object.hasOwn(all, name) ? all[name] : undefined));
      const read = known.map((table) => table?.(columns, sink)).find((reader) => reader !== undefined);
      if (sink.row === undefined) return read;
      return (row) => {
        sink.row?.(name, row);
        read?.(row);
      };
    },
  };
}

/** Returns the algorithm of a stored password from its credential data, which is JSON in idkit and in Keycloak. */
export function readPassword(credentialData: string): ContentPassword {
  const data = parseObject(credentialData);
  const { algorithm, hashIterations } = data;
  return {
    algorithm: typeof algorithm === 'string' ? algorithm : 'unknown',
    iterations: typeof hashIterations === 'number' ? hashIterations : undefined,
  };
}

/** Parses a JSON object. Returns an empty object for any other text, because a dump is not trusted. */
export function parseObject(text: string | null): Readonly<Record<string, unknown>> {
  if (text === null) return {};
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}

/** Returns the texts of a list, and nothing for another value. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
