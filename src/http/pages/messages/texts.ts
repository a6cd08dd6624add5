import type { Message } from '../../../browser/index.ts';
import { de } from './de.ts';
import { en, type MessageKey, type Messages } from './en.ts';

export type { MessageKey } from './en.ts';

/** Every language that there are texts for, by its tag. */
export const LANGUAGES: Readonly<Record<string, Messages>> = { en, de };

/** The texts that one page needs. */
export interface Texts {
  /** The language that the texts are in, for `lang`; English where there are none in the language asked for. */
  language: string;
  text(key: MessageKey, values?: Message['values']): string;
  /** A message of the rules; a key that no file has is shown as it is. */
  message(message: Message): string;
  /** A stored text: `${key}` stands for the message of that key, as in Keycloak; everything else for itself. */
  stored(text: string): string;
}

const perLanguage = new Map<string, Texts>();
/** By the realm's own wording, which is one object until the realm changes. */
const perWording = new WeakMap<object, Texts>();

/**
 * The texts for a locale: `de-AT` gets those of `de`.
 *
 * @param own the realm's own wording by key; Keycloak's has markup and counted places, here it is text with both
 */
export function findTexts(locale: string, own?: Readonly<Record<string, unknown>>): Texts {
  const language = [locale, locale.split(/[-_]/, 1)[0]!].find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? 'en';
  let texts = own === undefined ? perLanguage.get(language) : perWording.get(own);
  if (texts?.language === language) return texts;
  texts = makeTexts(language, { ...LANGUAGES[language]!, ...plainTexts(own ?? {}) });
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

/** Paragraphs and breaks become line ends, other tags nothing; what is left is escaped like any text. */
function withoutMarkup(text: string): string {
  return text
    .replace(/<br\s*\/?>|<\/(?:p|div|li|h\d)>/gi, '\n')
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/&(lt|gt|quot|apos|nbsp|amp);/g, (_whole, name: string) => ENTITIES[name]!)
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

/** One pass, so that a value that looks like a placeholder stays what it is. */
function fillIn(text: string, values: Message['values']): string {
  if (values === undefined) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? values[name]! : (Object.values(values)[Number(name)] ?? whole),
  );
}
