import { wrapWords } from './display-width.ts';

/** Minimum width in characters of the right column. If it would be narrower, each text goes below its name. */
const NARROWEST_TEXT = 30;
/** Indentation of a text below its name, and of the second line of a command. */
const DEEP = '      ';

/**
 * Splits a command line into lines of at most `width` characters that a shell still reads as one command: each line but
 * the last ends with a backslash. It is split only at spaces outside of quotes.
 */
export function wrapCommandLine(commandLine: string, width: number): readonly string[] {
  if (commandLine.length <= width) return [commandLine];
  const words = commandLine.match(/(?:'[^']*'|"[^"]*"|\S)+/g) ?? [];
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line === '') line = word;
    else if (line.length + 1 + word.length + ' \\'.length <= width) line += ` ${word}`;
    else {
      lines.push(`${line} \\`);
      line = `    ${word}`;
    }
  }
  return [...lines, line];
}

/**
 * Renders a name and its text, indented by two spaces. If the width is too small for two columns, the text is below the
 * name.
 *
 * @param nameWidth the width of the left column, which all items of a list share
 */
export function renderItem(
  name: string,
  text: string,
  { nameWidth, width }: { nameWidth: number; width: number },
): readonly string[] {
  const left = nameWidth + 4;
  if (width - left < NARROWEST_TEXT) return [`  ${name}`, ...indent(wrapWords(text, width - DEEP.length))];
  const [first = '', ...rest] = wrapWords(text, width - left);
  return [`  ${name.padEnd(nameWidth)}  ${first}`.trimEnd(), ...rest.map((line) => ' '.repeat(left) + line)];
}

/** Renders examples: each command line next to what it does, or above it if the width is too small for both. */
export function renderExamples(
  rows: readonly (readonly [commandLine: string, does: string])[],
  width: number,
): readonly string[] {
  const nameWidth = Math.max(0, ...rows.map(([commandLine]) => commandLine.length));
  if (width - nameWidth - 4 >= NARROWEST_TEXT) {
    return rows.flatMap(([commandLine, does]) => renderItem(commandLine, does, { nameWidth, width }));
  }
  return rows.flatMap(([commandLine, does]) => [
    ...wrapCommandLine(commandLine, width - 2).map((line) => `  ${line}`),
    ...indent(wrapWords(does, width - DEEP.length)),
  ]);
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line !== '').map((line) => DEEP + line);
}
