import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags } from '../../../command.ts';
import { checkName, textFlag } from '../../../flags.ts';
import { nameArgument, withAdminFlags } from '../connect.ts';
import type { ApiRecord } from '../lookup.ts';
import { openPlace, type Place } from '../place.ts';
import { findClient } from './find.ts';
import type { Noun } from './noun.ts';

/** Adds a command whose argument names a record of the noun. @param optional the name can come from elsewhere */
export function nounCommand(
  group: CliCommand,
  noun: Pick<Noun, 'argument' | 'inRealm' | 'ofClient'>,
  { verb, description, optional = false }: { verb: string; description: string; optional?: boolean },
): CliCommand {
  const { name, flag } = noun.argument;
  const form = optional || flag !== undefined ? `[${name}]` : `<${name}>`;
  const command = group.command(verb).argument(form, noun.argument.description).description(description);
  const placed = withPlaceFlags(command, noun);
  return flag === undefined ? placed : placed.option(`--${flag} <${name}>`, noun.argument.description);
}

/**
 * Returns the name of the record from the argument or its flag.
 *
 * @param fallback the name if neither is given
 * @throws IDKIT_USAGE
 */
export function readName(
  { argument: { flag, what, isPath } }: Pick<Noun, 'argument'>,
  flags: Flags,
  { given, fallback }: { given: string | undefined; fallback?: string | undefined },
): string {
  const key = flag?.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const flagged = key === undefined ? undefined : textFlag(flags, key);
  const other = flagged ?? (given === undefined ? fallback : undefined);
  if (!isPath) return nameArgument(given, other, { name: what, flag: `--${flag}` });
  const path = given ?? other ?? '';
  for (const segment of path.replace(/^\//, '').split('/')) checkName(segment, what);
  return path;
}

/** Adds the flags that choose the service, the realm and the client. */
export function withPlaceFlags(command: CliCommand, noun: Pick<Noun, 'inRealm' | 'ofClient'>): CliCommand {
  const placed = withAdminFlags(command, { realm: noun.inRealm });
  return noun.ofClient ? placed.option('--client <client-id>', 'the client that owns the roles') : placed;
}

/** Connects to the place of a noun's command. @throws IDKIT_USAGE, IDKIT_NOT_FOUND */
export async function openNounPlace(
  context: CommandContext,
  flags: Flags,
  { noun, fallsBackToMaster }: { noun: Pick<Noun, 'inRealm' | 'ofClient'>; fallsBackToMaster?: boolean },
): Promise<Place> {
  // The list of realms and the realms themselves belong to no realm.
  const fixed = noun.inRealm ? flags : { ...flags, realm: 'master' };
  const place = await openPlace(context, fixed, fallsBackToMaster ? { fallback: 'master' } : {});
  const client = noun.ofClient ? textFlag(flags, 'client') : undefined;
  return client === undefined ? place : { ...place, client: await findClient(place, client) };
}

/** Removes the secrets of a record, and what the service computes. */
export function withoutHidden({ update }: Pick<Noun, 'update'>, record: ApiRecord): ApiRecord {
  const hidden = new Set(update?.hidden ?? []);
  return Object.fromEntries(Object.entries(record).filter(([field]) => !hidden.has(field)));
}

/** Returns the word with its article, for example `an event`. */
export function aOrAn(word: string): string {
  return `${/^[aeio]/.test(word) ? 'an' : 'a'} ${word}`;
}
