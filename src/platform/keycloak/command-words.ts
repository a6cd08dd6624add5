import { IdkitError } from '../../core/index.ts';

/** Characters with a special meaning to a shell outside quotes. */
const SHELL_ONLY = /[|&;<>()$`*?[\]{}!\n]/;
/** Characters with a special meaning to a shell at the start of a word. */
const SHELL_AT_START = /[~#]/;

/**
 * Splits a command of `keycloak.start` or `keycloak.stop` into words at spaces. Single quotes, double quotes and
 * backslashes work as in a shell. The command runs without a shell, so other shell syntax outside quotes is rejected
 * instead of being passed to the program literally.
 *
 * @throws IDKIT_SETTING that names the setting and the syntax
 */
export function parseCommandWords(text: string, setting: string): readonly [string, ...string[]] {
  const refuse = (why: string) =>
    new IdkitError('IDKIT_SETTING', `${setting} ${why}`, {
      hints: [
        'no shell runs the command; put it into a script, or write sh -c followed by the shell command in single quotes',
      ],
    });
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === ' ' || sign === '\t') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (sign === "'" || sign === '"') {
      const quoted = readQuoted(text, at);
      if (quoted === undefined) throw refuse(`has a ${sign} that is not closed`);
      if (sign === '"' && /[$`]/.test(quoted.value)) throw refuse('contains $ or ` in double quotes');
      word = (word ?? '') + quoted.value;
      at = quoted.end;
    } else if (sign === '\\') {
      at++;
      if (at === text.length) throw refuse('ends with a backslash');
      word = (word ?? '') + text.charAt(at);
    } else if (SHELL_ONLY.test(sign) || (word === undefined && SHELL_AT_START.test(sign))) {
      throw refuse(
        `contains ${sign === '\n' ? 'a line end' : sign} outside quotes, which only a shell understands`,
      );
    } else {
      word = (word ?? '') + sign;
    }
  }
  if (word !== undefined) words.push(word);
  const [program, ...rest] = words;
  if (program === undefined || program === '') throw refuse('names no program');
  if (/^[A-Za-z_]\w*=/.test(program)) throw refuse('begins with a variable; write env before the variable');
  return [program, ...rest];
}

/** Returns the text between the quote at `start` and the closing quote, whose position is `end`. */
function readQuoted(text: string, start: number): { value: string; end: number } | undefined {
  const quote = text.charAt(start);
  let value = '';
  for (let at = start + 1; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === quote) return { value, end: at };
    if (sign === '\\' && quote === '"' && /["\\]/.test(text[at + 1] ?? '')) at++;
    value += text.charAt(at);
  }
  return undefined;
}
