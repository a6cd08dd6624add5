import { wrapWords } from '../output/display-width.ts';
import { renderExamples, renderItem } from '../output/wrap.ts';
import { describeFlag, leavesOf, type Reference, type ReferenceCommand } from './reference.ts';

type Pair = readonly [name: string, text: string];

/**
 * Renders the reference as plain text, as `idkit help --all` prints it.
 *
 * @param width the width of the lines in characters, or Infinity to wrap no line
 */
export function renderReferenceText(reference: Reference, width: number): string {
  const { globalFlags, exitCodes } = reference;
  const lines = [
    ...wrapWords(`idkit ${reference.version}. ${reference.description}`, width),
    ...leavesOf(reference.commands).flatMap((command) => ['', ...renderCommand(command, width)]),
    '',
    'Flags of every command',
    ...renderPairs(
      globalFlags.map((flag) => [flag.flags, describeFlag(flag)]),
      width,
    ),
    '',
    'Exit codes',
    ...renderPairs(
      exitCodes.map(({ code, meaning }) => [String(code), meaning]),
      width,
    ),
  ];
  return lines.join('\n');
}

function renderCommand(command: ReferenceCommand, width: number): readonly string[] {
  const also = command.aliases.length === 0 ? [] : [`also: idkit ${command.aliases.join(', idkit ')}`];
  return [
    ...wrapWords(command.usage, width),
    ...[command.description, ...also].flatMap((text) =>
      wrapWords(text, width - 2).map((line) => `  ${line}`),
    ),
    ...renderPairs(
      command.arguments.map(({ name, description }) => [name, description]),
      width,
    ),
    ...renderPairs(
      command.flags.map((flag) => [flag.flags, describeFlag(flag)]),
      width,
    ),
    ...(command.examples.length === 0
      ? []
      : ['  for example:', ...renderExamples(command.examples, width - 2).map((line) => `  ${line}`)]),
  ];
}

function renderPairs(pairs: readonly Pair[], width: number): readonly string[] {
  const nameWidth = Math.max(0, ...pairs.map(([name]) => name.length));
  return pairs.flatMap(([name, text]) =>
    renderItem(name, text, { nameWidth, width: width - 2 }).map((line) => `  ${line}`),
  );
}
