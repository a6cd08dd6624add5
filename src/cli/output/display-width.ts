import { stripVTControlCharacters } from 'node:util';

/** Characters that take two columns on a terminal: East Asian wide characters and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Characters that take no column: combining marks, joiners, variation selectors, and vowels that follow in Hangul. */
const ZERO = /\p{Mn}|\p{Me}|[\u1160-\u11ff]|(?!\u00ad)\p{Cf}/u;

/** Reports whether a text consists of printable ASCII characters, as nearly every cell of a long list does. */
export function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Returns the number of columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const character of stripVTControlCharacters(text))
    width += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** Fills a text with spaces up to a number of columns. */
export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** Cuts a text to a number of columns. A cut text ends with `…`. */
export function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += displayWidth(character);
    if (used > width) break;
    kept += character;
  }
  return width < 1 ? '' : `${kept}…`;
}

/** Returns the width of the longest word of a text. */
export function longestWord(text: string): number {
  return Math.max(0, ...text.split(' ').map(displayWidth));
}

/**
 * Splits a text into lines of at most `width` columns. Lines end between words. A word that is longer than a line gets
 * its own line and is not broken.
 */
export function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of text.split(' ')) {
    const size = displayWidth(word);
    if (line !== '' && used + 1 + size > width) {
      lines.push(line);
      [line, used] = [word, size];
    } else {
      [line, used] = line === '' && used === 0 ? [word, size] : [`${line} ${word}`, used + 1 + size];
    }
  }
  return [...lines, line];
}

/**
 * Wraps each line of a text that is wider than `width` between words. The rest of a line is indented by two more spaces
 * than the line.
 */
export function wrapLines(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      if (displayWidth(line) <= width) return [line];
      const indent = /^ */.exec(line)![0];
      const [first = '', ...rest] = wrapWords(line.slice(indent.length), width - indent.length - 2);
      return [indent + first, ...rest.map((part) => `${indent}  ${part}`)];
    })
    .join('\n');
}
