import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../../command.ts';
import { given, textFlag } from '../../../flags.ts';
import { valueAt } from '../../../output/field-path.ts';
import { withOutputFlags } from '../../../output/presentation.ts';
import { type ApiRecord, asRecords } from '../lookup.ts';
import type { Place } from '../place.ts';
import { askConsent, requireConsent } from './consent.ts';
import { readInput } from './input-file.ts';
import type { CreateVerb, ListVerb, Noun } from './noun.ts';
import { aOrAn, nounCommand, openNounPlace, readName, withoutHidden, withPlaceFlags } from './noun-place.ts';
import { limited, readLimit, readPages, withListFlags } from './paging.ts';
import { applySettings } from './set-values.ts';
import { addUpdateCommand } from './update-command.ts';

/** Adds the commands of a noun: list, get, create, update and delete, and then its own verbs. */
export function addNounCommands(admin: CliCommand, run: Runner, noun: Noun): void {
  const { list, get, create, update } = noun;
  const group = admin
    .command(noun.command)
    .description(noun.description)
    .examples((list ?? get)!.examples);
  if (list !== undefined) addListCommand(group, run, { noun, list });
  if (get !== undefined) {
    withOutputFlags(nounCommand(group, noun, { verb: 'get', description: `print ${aOrAn(noun.word)}` }))
      .examples(get.examples)
      .action(run((context, flags, [name]) => getRecord(context, flags, { noun, name })));
  }
  if (create !== undefined) addCreateCommand(group, run, { noun, create });
  if (update !== undefined) addUpdateCommand(group, run, { noun, update });
  if (noun.delete !== undefined) {
    const command = nounCommand(group, noun, { verb: 'delete', description: `delete ${aOrAn(noun.word)}` });
    if (noun.delete.kept === true)
      command.option('--now', 'erase it for good, so that idkit admin trash cannot restore it');
    command
      .examples(noun.delete.examples)
      .action(run((context, flags, [name]) => deleteRecord(context, flags, { noun, name })));
  }
  noun.verbs?.(group, run);
}

function addListCommand(
  group: CliCommand,
  run: Runner,
  { noun, list }: { noun: Noun; list: ListVerb },
): void {
  const command = withPlaceFlags(group.command('list').description(list.description), noun);
  withListFlags(list.flags?.(command) ?? command)
    .examples(list.examples)
    .action(run((context, flags) => listRecords(context, flags, { noun, list })));
}

async function listRecords(
  context: CommandContext,
  flags: Flags,
  { noun, list }: { noun: Noun; list: ListVerb },
): Promise<Outcome> {
  const limit = readLimit(context, flags);
  const isBrief = list.brief === true && needsOnlyColumns(context, noun);
  const query = { ...list.query?.(flags), ...(isBrief ? { briefRepresentation: 'true' } : {}) };
  const place = await openNounPlace(context, flags, {
    noun,
    ...(list.fallsBackToMaster ? { fallsBackToMaster: true } : {}),
  });
  // One more than the limit shows whether there are more.
  const most = limit === undefined ? undefined : limit + 1;
  const records =
    list.records?.(place, flags, most) ??
    readCollection(place, noun.collection(place), { list, query, most, name: noun.name });
  const shown = list.convert === undefined ? records : converted(records, list.convert);
  return {
    data: noun.inRealm ? { realm: place.realm } : {},
    list: limited(context, flags, {
      limit,
      list: {
        noun: noun.plural,
        columns: noun.columns,
        name: noun.name,
        records: shown,
        ...given('inResult', list.inResult),
      },
    }),
  };
}

/** Reports whether the output contains only fields of the columns. */
function needsOnlyColumns({ globals, presentation }: CommandContext, { columns }: Noun): boolean {
  const { fields, format, query } = presentation;
  if (fields !== undefined)
    return fields.every((path) => columns.some(({ field }) => field === path.split('.')[0]));
  return !globals.json && query === undefined && ['table', 'csv', 'name'].includes(format);
}

async function* readCollection(
  { admin }: Place,
  path: string,
  {
    list,
    query,
    most,
    name,
  }: { list: ListVerb; query: Record<string, string>; most: number | undefined; name: string },
): AsyncGenerator<ApiRecord, void, void> {
  if (list.paged) {
    yield* readPages(admin, path, {
      query: Object.entries(query),
      ...(most === undefined ? {} : { limit: most }),
    });
    return;
  }
  const parameters = new URLSearchParams(query).toString();
  const { body } = await admin.call('GET', parameters === '' ? path : `${path}?${parameters}`);
  yield* [...asRecords(body, 'records')].sort((a, b) => String(a[name]).localeCompare(String(b[name]), 'en'));
}

async function* converted(
  records: AsyncIterable<ApiRecord>,
  convert: (record: ApiRecord) => ApiRecord,
): AsyncGenerator<ApiRecord, void, void> {
  for await (const record of records) yield convert(record);
}

async function getRecord(
  context: CommandContext,
  flags: Flags,
  { noun, name }: { noun: Noun; name: string | undefined },
): Promise<Outcome> {
  const wanted = readName(noun, flags, { given: name });
  const place = await openNounPlace(context, flags, { noun });
  const found = withoutHidden(noun, await noun.find(place, wanted));
  const record = noun.list?.convert?.(found) ?? found;
  return {
    data: { ...(noun.inRealm ? { realm: place.realm } : {}), [noun.field]: record },
    record: {
      value: record,
      name: noun.name,
      pairs: noun.shown.map((field) => [field, valueAt(record, field)]),
    },
  };
}

function addCreateCommand(
  group: CliCommand,
  run: Runner,
  { noun, create }: { noun: Noun; create: CreateVerb },
): void {
  const { description } = create;
  const command = nounCommand(group, noun, { verb: 'create', description, optional: true });
  (create.flags?.(command) ?? command)
    .option('--file <file>', 'the record as JSON or YAML; - reads it from stdin')
    .option('--set <path=value...>', 'set a field, for example --set description=Staff')
    .examples(create.examples)
    .action(run((context, flags, [name]) => createRecord(context, flags, { noun, create, argument: name })));
}

async function createRecord(
  context: CommandContext,
  flags: Flags,
  { noun, create, argument }: { noun: Noun; create: CreateVerb; argument: string | undefined },
): Promise<Outcome> {
  const file = textFlag(flags, 'file');
  const input = file === undefined ? {} : await readInput(context, file);
  const written = input[noun.name];
  const fromFile = typeof written === 'string' ? written : undefined;
  const name = readName(noun, flags, { given: argument, fallback: fromFile });
  const place = await openNounPlace(context, flags, {
    noun,
    ...(create.fallsBackToMaster ? { fallsBackToMaster: true } : {}),
  });
  const base = await create.body(context, flags, name, place);
  const settings = (flags['set'] as string[] | undefined) ?? [];
  const body = applySettings({ ...base, ...input, [noun.name]: name }, settings, noun.update?.multivalued);
  const { location } = await place.admin.call('POST', noun.collection(place), body);
  if (create.result !== undefined) return await create.result(context, place, { body, name });
  const id = location?.split('/').at(-1) ?? null;
  return {
    data: { ...(noun.inRealm ? { realm: place.realm } : {}), [noun.name]: name, ...idOf(noun, id) },
    text: `created ${noun.word} ${name}${noun.inRealm ? ` in realm ${place.realm}` : ''}`,
  };
}

/** The last segment of a role's address is its name, not an id. */
function idOf({ name, inRealm, ofClient }: Noun, id: string | null): ApiRecord {
  return !inRealm || ofClient || name === 'id' ? {} : { id };
}

async function deleteRecord(
  context: CommandContext,
  flags: Flags,
  { noun, name }: { noun: Noun; name: string | undefined },
): Promise<Outcome> {
  const wanted = readName(noun, flags, { given: name });
  requireConsent(context, `delete the ${noun.word} ${wanted}`);
  const place = await openNounPlace(context, flags, { noun });
  const record = await noun.find(place, wanted);
  const where = noun.inRealm ? ` of realm ${place.realm}` : '';
  const now = flags['now'] === true;
  await askConsent(
    context,
    `${now ? 'Erase' : 'Delete'} the ${noun.word} ${wanted}${where}${now ? ' for good' : ''}?`,
  );
  const path = noun.item(place, record);
  await place.admin.call('DELETE', now ? `${path}?now=true` : path);
  return {
    data: { ...(noun.inRealm ? { realm: place.realm } : {}), [noun.name]: record[noun.name] ?? wanted },
    text: `${now ? 'erased' : 'deleted'} ${noun.word} ${wanted}${where}`,
  };
}
