import { describeFlag, leavesOf, type Reference, type ReferenceCommand } from './reference.ts';

type Pair = readonly [name: string, text: string];

/** Renders the reference as plain text, as `idkit help --all` prints it. Lines are not wrapped. */
export function renderReferenceText(reference: Reference): string {
  const { globalFlags, exitCodes } = reference;
  return [
    `idkit ${reference.version}. ${reference.description}`,
    ...leavesOf(reference.commands).map(renderCommand),
    section(
      'Flags of every command',
      globalFlags.map((flag) => [flag.flags, describeFlag(flag)]),
    ),
    section(
      'Exit codes',
      exitCodes.map(({ code, meaning }) => [String(code), meaning]),
    ),
  ].join('\n\n');
}

function renderCommand(command: ReferenceCommand): string {
  return [
    command.usage,
    `  ${command.description}`,
    ...(command.aliases.length === 0 ? [] : [`  also: idkit ${command.aliases.join(', idkit ')}`]),
    ...lines(command.arguments.map(({ name, description }) => [name, description])),
    ...lines(command.flags.map((flag) => [flag.flags, describeFlag(flag)])),
    ...lines(command.examples, 'for example'),
  ].join('\n');
}

function section(title: string, pairs: readonly Pair[]): string {
  return [title, ...lines(pairs)].join('\n');
}

function lines(pairs: readonly Pair[], heading?: string): readonly string[] {
  const width = Math.max(0, ...pairs.map(([name]) => name.length));
  const rows = pairs.map(([name, text]) => `    ${name.padEnd(width)}  ${text}`.trimEnd());
  return heading === undefined || rows.length === 0 ? rows : [`  ${heading}:`, ...rows];
}
