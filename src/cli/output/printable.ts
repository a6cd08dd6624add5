/** Control characters of both ranges but tab and line feed, and what changes the direction or the lines of a text. */
const STEERING = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Text with foreign names in it, as a terminal may show it: a name must not move the cursor, set a title or reorder what
 * stands around it. Each such character is written as `\u009b`, which in JSON is the same character.
 */
export function printable(text: string): string {
  return text.replace(STEERING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
