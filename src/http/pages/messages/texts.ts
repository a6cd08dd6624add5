import type { Message } from '../../../browser/index.ts';
import { de } from './de.ts';
import { en, type MessageKey, type Messages } from './en.ts';

export type { MessageKey } from './en.ts';

/** The texts of each language, by language tag. */
export const LANGUAGES: Readonly<Record<string, Messages>> = { en, de };

/** The texts of a page in one language. */
export interface Texts {
  /** The language of the texts, for the attribute `lang`. English if idkit has no texts in the requested language. */
  language: string;
  text(key: MessageKey, values?: Message['values']): string;
  /** Returns the text for a message of src/browser. An unknown key is returned unchanged. */
  message(message: Message): string;
  /** Returns a stored text. If the text is `${key}`, returns the message with that key, as in Keycloak. */
  stored(text: string): string;
}

const perLanguage = new Map<string, Texts>();
/**
 * Caches the texts of a realm. The key is the object with the realm's own texts, which stays the same until the realm
 * changes.
 */
const perWording = new WeakMap<object, Texts>();

/**
 * Returns the texts for a locale. `de-AT` gets those of `de`.
 *
 * @param own the realm's own texts by key. Their markup is removed, and both `{0}` and `{name}` are placeholders.
 */
export function findTexts(locale: string, own?: Readonly<Record<string, unknown>>): Texts {
  const tags = [locale, ...locale.split(/[-_]/, 1)];
  const language = tags.find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? 'en';
  let texts = own === undefined ? perLanguage.get(language) : perWording.get(own);
  if (texts?.language === language) return texts;
  texts = makeTexts(language, { ...(LANGUAGES[language] ?? en), ...plainTexts(own ?? {}) });
  if (own === undefined) perLanguage.set(language, texts);
  else perWording.set(own, texts);
  return texts;
}

function makeTexts(language: string, messages: Messages): Texts {
  const find = (key: string): string | undefined =>
    Object.hasOwn(messages, key) ? messages[key as MessageKey] : undefined;
  const stored = (text: string): string => {
    const key = /^\s*\$\{([\w.-]+)\}\s*$/.exec(text)?.[1];
    return key === undefined ? text : (find(key) ?? key);
  };
  return {
    language,
    text: (key, values) => fillIn(messages[key], values),
    message: ({ key, values }) => fillIn(find(key) ?? stored(key), values),
    stored,
  };
}

function plainTexts(own: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, text] of Object.entries(own))
    if (typeof text === 'string') texts[key] = withoutMarkup(text);
  return texts;
}

/**
 * Replaces paragraphs and line breaks with newlines and removes all other tags. The result is escaped later, like any
 * text.
 */
function withoutMarkup(text: string): string {
  return text
    .replace(/<br\s*\/?>|<\/(?:p|div|li|h\d)>/gi, '\n')
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/&(lt|gt|quot|apos|nbsp|amp);/g, (_whole, name: string) => ENTITIES[name] ?? '')
    .replace(/\n{2,}/g, '\n')
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  amp: '&',
};

/** Fills in all placeholders in one pass, so that a value that looks like a placeholder is not replaced. */
function fillIn(text: string, values: Message['values']): string {
  if (values === undefined) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? values[name]! : (Object.values(values)[Number(name)] ?? whole),
  );
}
