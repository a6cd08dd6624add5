import { IdkitError } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../../command.ts';
import { textFlag } from '../../../flags.ts';
import type { ApiRecord } from '../lookup.ts';
import type { Place } from '../place.ts';
import { editRecord } from './edit.ts';
import { read } from './find.ts';
import { readInput } from './input-file.ts';
import type { Noun, UpdateVerb } from './noun.ts';
import { aOrAn, nounCommand, openNounPlace, readName, withoutHidden } from './noun-place.ts';
import { applyListChanges, applySettings, isSame, updateBody } from './set-values.ts';

/** Adds `update` to the commands of a noun. */
export function addUpdateCommand(
  group: CliCommand,
  run: Runner,
  { noun, update }: { noun: Noun; update: UpdateVerb },
): void {
  nounCommand(group, noun, { verb: 'update', description: `change the fields of ${aOrAn(noun.word)}` })
    .option('--set <path=value...>', 'set a field; the value is JSON or a text')
    .option('--add <path=value...>', 'add a text to a field that is a list')
    .option('--remove <path=value...>', 'remove a text from a field that is a list')
    .option('--file <file>', 'replace the fields that this JSON or YAML file contains; - reads stdin')
    .option('-e, --edit', 'edit the record as YAML with VISUAL or EDITOR')
    .examples(update.examples)
    .action(run((context, flags, [name]) => updateRecord(context, flags, { noun, update, name })));
}

async function updateRecord(
  context: CommandContext,
  flags: Flags,
  { noun, update, name }: { noun: Noun; update: UpdateVerb; name: string | undefined },
): Promise<Outcome> {
  const wanted = readName(noun, flags, { given: name });
  const [settings, add, remove] = ['set', 'add', 'remove'].map(
    (flag) => (flags[flag] as string[] | undefined) ?? [],
  ) as [string[], string[], string[]];
  const file = textFlag(flags, 'file');
  const edit = flags['edit'] === true;
  if (settings.length + add.length + remove.length === 0 && file === undefined && !edit) {
    throw new IdkitError('IDKIT_USAGE', 'update needs --set, --add, --remove, --file or --edit');
  }
  const input = file === undefined ? {} : await readInput(context, file);
  const place = await openNounPlace(context, flags, { noun });
  // A list can show a record with other fields than its own address.
  const before = await read(place, noun.item(place, await noun.find(place, wanted)));
  const from = withoutHidden(noun, before);
  const set = applySettings({ ...from, ...input }, settings, update.multivalued);
  const asked = applyListChanges(set, { add, remove });
  let changed = asked;
  const send = async (after: ApiRecord): Promise<void> => {
    const body = updateBody(from, after, { sends: update.sends, identity: [noun.name] });
    await place.admin.call('PUT', noun.item(place, before), body);
    changed = after;
  };
  const where = noun.inRealm ? ` in realm ${place.realm}` : '';
  if (edit) {
    const title = `The ${noun.word} ${wanted}${where}`;
    const save = async (edited: ApiRecord): Promise<void> => {
      await checkUnchanged(noun, place, { before, wanted });
      await send(edited);
    };
    if (!(await editRecord(context, { record: asked, title, save }))) {
      return { data: outcomeData(noun, place, { record: before, changed: [] }), text: 'nothing was changed' };
    }
  } else await send(asked);
  const fields = changedFields(from, changed);
  return {
    data: outcomeData(noun, place, { record: changed, changed: fields }),
    text: `updated ${noun.word} ${wanted}${where}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`,
  };
}

/** Another administrator may have changed the record while it was open in the editor. @throws IDKIT_CHANGED */
async function checkUnchanged(
  noun: Noun,
  place: Place,
  { before, wanted }: { before: ApiRecord; wanted: string },
): Promise<void> {
  const now = await read(place, noun.item(place, before));
  const fields = changedFields(withoutHidden(noun, before), withoutHidden(noun, now));
  if (fields.length === 0) return;
  throw new IdkitError(
    'IDKIT_CHANGED',
    `the ${noun.word} ${wanted} was changed while you edited it: ${fields.join(', ')}`,
    { hints: ['nothing was saved; run the command again to edit the current record'] },
  );
}

function changedFields(before: ApiRecord, after: ApiRecord): readonly string[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].filter((field) => !isSame(before[field], after[field]));
}

function outcomeData(
  noun: Noun,
  place: Place,
  { record, changed }: { record: ApiRecord; changed: readonly string[] },
): ApiRecord {
  return {
    ...(noun.inRealm ? { realm: place.realm } : {}),
    [noun.name]: record[noun.name],
    changed,
  };
}
