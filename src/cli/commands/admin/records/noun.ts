import type { CliCommand, Example } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../../command.ts';
import type { Column } from '../../../output/lists.ts';
import type { ApiRecord } from '../lookup.ts';
import type { Place } from '../place.ts';

/** A kind of record that `idkit admin` manages. Its list, get, create, update and delete follow from this description. */
export interface Noun {
  /** The word after `idkit admin`. */
  command: string;
  description: string;
  /** The singular in messages, for example `client scope`. */
  word: string;
  /** The names of one record and of a list in the JSON result. */
  field: string;
  plural: string;
  /** The argument that names a record. `flag` can name it instead, for example `username` for `--username`. */
  argument: { name: string; description: string; what: string; flag?: string; isPath?: boolean };
  /** True if the records belong to a realm. Only realms do not. */
  inRealm: boolean;
  /** True if `--client` selects the records of one client. */
  ofClient?: boolean;
  /** The field that names a record. */
  name: string;
  columns: readonly Column[];
  /** The fields that `get` shows to people. */
  shown: readonly string[];
  /** Returns the path of the collection, below `/admin/realms`. */
  collection(place: Place): string;
  /** Returns the path of one record, below `/admin/realms`. */
  item(place: Place, record: ApiRecord): string;
  /** Finds a record by its name, else by its id. @throws IDKIT_NOT_FOUND */
  find(place: Place, name: string): Promise<ApiRecord>;
  list?: ListVerb;
  get?: { examples: readonly Example[] };
  create?: CreateVerb;
  update?: UpdateVerb;
  /** `kept`: the service keeps deleted records in its bin, and `--now` erases them instead. */
  delete?: { examples: readonly Example[]; kept?: true };
  /** Adds the verbs that only this noun has. */
  verbs?(group: CliCommand, run: Runner): void;
}

export interface ListVerb {
  description: string;
  examples: readonly Example[];
  /** True if `master` is the realm without a terminal and without `--realm`. The contract of these commands is older. */
  fallsBackToMaster?: boolean;
  /** Adds the filters. */
  flags?(command: CliCommand): CliCommand;
  /** Checks the flags and returns the parameters of the request. @throws IDKIT_USAGE */
  query?(flags: Flags): Record<string, string>;
  /** Reads the records, at most `limit`. Default: a GET of the collection. */
  records?(place: Place, flags: Flags, limit: number | undefined): AsyncIterable<ApiRecord>;
  /** True if the collection accepts `first` and `max`. */
  paged?: boolean;
  /** True if `briefRepresentation` leaves out fields that no column shows. Such a list is faster. */
  brief?: boolean;
  /** Removes secrets. */
  convert?(record: ApiRecord): ApiRecord;
  /** Converts a record for `--json`, if that has always had other fields. */
  inResult?(record: ApiRecord): ApiRecord;
}

export interface CreateVerb {
  description: string;
  examples: readonly Example[];
  fallsBackToMaster?: boolean;
  flags?(command: CliCommand): CliCommand;
  /** Returns the fields of a new record that no other flag sets. */
  body(context: CommandContext, flags: Flags, name: string, place: Place): ApiRecord | Promise<ApiRecord>;
  /** Returns the outcome. Default: a line of text, and the name and the id as data. */
  result?(
    context: CommandContext,
    place: Place,
    created: { body: ApiRecord; name: string },
  ): Promise<Outcome>;
}

export interface UpdateVerb {
  examples: readonly Example[];
  /**
   * `whole` sends the record with its changes, because Keycloak 26 removes some fields that a request lacks. `changes`
   * sends only the changed fields.
   */
  sends: 'whole' | 'changes';
  /** The fields whose values are lists of texts by name, for example the attributes of a user. */
  multivalued?: string;
  /** Fields that are secret, or that the service computes. They are neither shown in the editor nor sent. */
  hidden: readonly string[];
}
