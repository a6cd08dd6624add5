import { Option } from 'commander';
import { IdkitError } from '../../core/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Flags, GlobalFlags } from '../command.ts';
import { textFlag } from '../flags.ts';
import { FORMATS, type Format } from './formats.ts';

/** How a command shows its list or its record. */
export interface Presentation {
  format: Format;
  /** The fields of `--fields`. */
  fields?: readonly string[];
  /** The JMESPath expression of `--jq`, which selects in the list or the record. */
  query?: string;
}

/** The values of `--fields` and `--jq` that the help of a command shows. */
export interface OutputExamples {
  fields: string;
  jq: string;
}

/** Adds the flags of a command whose outcome has a list or a record. */
export function withOutputFlags(
  command: CliCommand,
  { fields, jq }: OutputExamples = { fields: 'username,email', jq: '[?enabled].username' },
): CliCommand {
  return command
    .addOption(
      new Option('-o, --output <format>', 'the format of the result (default: table)').choices([...FORMATS]),
    )
    .option('--fields <paths>', `show only these fields, separated by commas, for example ${fields}`)
    .option('--jq <expression>', `print what a JMESPath expression selects, for example ${jq}`);
}

/** Reads the flags of `withOutputFlags`. @throws IDKIT_USAGE */
export async function readPresentation(
  flags: Flags,
  globals: Pick<GlobalFlags, 'json'>,
): Promise<Presentation> {
  const [output, fields, query] = ['output', 'fields', 'jq'].map((name) => textFlag(flags, name));
  if (globals.json && output !== undefined) throw exclude('--json', '--output');
  if (globals.json && query !== undefined) throw exclude('--json', '--jq');
  if (output !== undefined && query !== undefined) throw exclude('--output', '--jq');
  if (fields !== undefined && query !== undefined) throw exclude('--fields', '--jq');
  if (output === 'name' && fields !== undefined) throw exclude('--output name', '--fields');
  const paths = fields?.split(',').map((path) => path.trim());
  if (paths?.some((path) => path === '')) {
    throw new IdkitError('IDKIT_USAGE', `--fields contains an empty field: ${JSON.stringify(fields)}`);
  }
  if (query !== undefined) await (await import('./query.ts')).checkQuery(query);
  return {
    format: (output as Format | undefined) ?? 'table',
    ...(paths === undefined ? {} : { fields: paths }),
    ...(query === undefined ? {} : { query }),
  };
}

function exclude(one: string, other: string): IdkitError {
  return new IdkitError('IDKIT_USAGE', `${one} and ${other} exclude each other`);
}
