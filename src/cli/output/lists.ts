/** A record of a list, as a program receives it. */
export type ListedRecord = Readonly<Record<string, unknown>>;

/** A column of a list. */
export interface Column {
  /** The heading, in capital letters. */
  title: string;
  /** The path of the field in the record, for example `username` or `attributes.department`. */
  field: string;
  /** Converts the value of the field for tables. Other formats contain the value of the field. */
  show?: (value: unknown, record: ListedRecord) => unknown;
  /**
   * A table that does not fit the terminal leaves out columns with a high number first, and never those with 1.
   * Default: 1.
   */
  priority?: number;
}

/** A list as the result of a command. It is read only once, while it is written. */
export interface ListOutcome {
  /** The plural of the records, and the name of the list in the JSON result, for example `users`. */
  noun: string;
  columns: readonly Column[];
  /** The records. Iterating over them may request pages and throw. They must not contain secrets. */
  records: Iterable<ListedRecord> | AsyncIterable<ListedRecord>;
  /** The path of the field that `-o name` prints. */
  name: string;
  /** Converts a record for the JSON result, if that has always had other fields. */
  inResult?: (record: ListedRecord) => ListedRecord;
  /** Returns the lines before a table. @param width as in `chooseLayout` */
  intro?: (width: number | undefined) => readonly string[];
  /** The text after a table, without a final newline. */
  summary?: string;
  /** The text instead of a table without records, without a final newline. Default: the heading. */
  empty?: string;
  /** Returns a note for the end of the list, for example that the list has a limit. */
  note?: () => string | undefined;
}

/** One record as the result of a command. */
export interface RecordOutcome {
  /** The whole record, for JSON, YAML and `--fields`. */
  value: ListedRecord;
  /** The names and values that people read. Undefined values are left out. */
  pairs: readonly (readonly [name: string, value: unknown])[];
  /** The path of the field that `-o name` prints. */
  name: string;
}

/** Returns the plural of a list in words, for example `client scopes` for `clientScopes`. */
export function pluralOf({ noun }: Pick<ListOutcome, 'noun'>): string {
  return noun.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
