import { stripVTControlCharacters } from 'node:util';

/** Minimum width in characters of the right column. If it would be narrower, each text goes below its name. */
const NARROWEST_TEXT = 30;
/** Indentation of a text below its name, and of the second line of a command. */
const DEEP = '      ';

/** Splits text at spaces into lines of at most `width` characters, without colours. A longer word is not broken. */
export function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(/\s+/)) {
    if (line === undefined) line = word;
    else if (widthOf(line) + 1 + widthOf(word) <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line ?? ''];
}

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

/** Characters that a terminal shows in two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u;

/** Returns the number of columns that a terminal needs for a text, which may contain colours. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text)) width += WIDE.test(character) ? 2 : 1;
  return width;
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line !== '').map((line) => DEEP + line);
}
