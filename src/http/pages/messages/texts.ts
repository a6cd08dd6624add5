import type { Message } from '../../../browser/index.ts';
import { matchLocale, PAGE_LOCALES, type PageLocale } from '../../../model/index.ts';
import { type DetailKey, details } from './details.ts';
import { en, type MessageKey, type Messages, type Plural } from './en.ts';

export type { MessageKey } from './en.ts';

/** Loads the texts of each language except English, which is always loaded. */
const LOADERS: Readonly<Record<Exclude<PageLocale, 'en'>, () => Promise<Messages>>> = {
  cs: async () => (await import('./cs.ts')).cs,
  de: async () => (await import('./de.ts')).de,
  es: async () => (await import('./es.ts')).es,
  fr: async () => (await import('./fr.ts')).fr,
  it: async () => (await import('./it.ts')).it,
  ja: async () => (await import('./ja.ts')).ja,
  nl: async () => (await import('./nl.ts')).nl,
  pl: async () => (await import('./pl.ts')).pl,
  'pt-BR': async () => (await import('./pt-br.ts')).ptBR,
  sv: async () => (await import('./sv.ts')).sv,
  tr: async () => (await import('./tr.ts')).tr,
};

const loaded = new Map<PageLocale, Messages>([['en', en]]);

/** Returns the key of each text that a theme may replace, with the placeholders of the text. */
export function findTextPlaceholders(): ReadonlyMap<string, readonly string[]> {
  const forms = (text: string | Plural) => (typeof text === 'string' ? [text] : Object.values<string>(text));
  return new Map(
    Object.entries<string | Plural>(en).map(([key, text]) => [
      key,
      [...new Set(forms(text).flatMap((form) => form.match(/\{\w+\}/g) ?? []))],
    ]),
  );
}

/** Loads the texts for a locale on its first use. Pages in a language can be rendered only after that. */
export async function loadTexts(locale: string): Promise<void> {
  const language = languageOf(locale);
  if (language === 'en' || loaded.has(language)) return;
  loaded.set(language, await LOADERS[language]());
}

/** Returns the texts of a loaded language by key. Tests compare them. */
export function messagesOf(language: PageLocale): Messages {
  const messages = loaded.get(language);
  if (messages === undefined) throw new Error(`the texts in ${language} are not loaded`);
  return messages;
}

/** The texts of a page in one language. */
export interface Texts {
  /** The language of the texts, for the attribute `lang`. English if idkit has no texts in the requested language. */
  language: PageLocale;
  text(key: MessageKey, values?: Message['values']): string;
  /** Returns the text for a message of src/browser. An unknown key is returned unchanged. */
  message(message: Message): string;
  /** Returns a stored text. If the text is `${key}`, returns the message with that key, as in Keycloak. */
  stored(text: string): string;
  /** Whether the realm or its theme has its own text for a key. */
  isOwn(key: string): boolean;
}

/** Texts of a realm or a theme, by key. */
export type OwnTexts = Readonly<Record<string, unknown>>;

const perLanguage = new Map<PageLocale, Texts>();
/**
 * Caches the texts of a realm or a theme. The key is the object with its own texts, which stays the same until the realm
 * or the theme changes.
 */
const perWording = new WeakMap<object, Map<unknown, Texts>>();

/**
 * Returns the texts for a locale. `de-AT` gets those of `de`.
 *
 * @param own the realm's own texts. Their markup is removed, and both `{0}` and `{name}` are placeholders.
 * @param theme the texts of the realm's theme, which the realm's own texts override
 * @throws Error if `loadTexts` has not loaded the language
 */
export function findTexts(locale: string, own?: OwnTexts, theme?: OwnTexts): Texts {
  const language = languageOf(locale);
  const [first, second] = own === undefined ? [theme, undefined] : [own, theme];
  if (first === undefined) {
    const usual = perLanguage.get(language) ?? makeTexts(language, {});
    perLanguage.set(language, usual);
    return usual;
  }
  const known = perWording.get(first) ?? new Map<unknown, Texts>();
  perWording.set(first, known);
  let texts = known.get(second);
  if (texts?.language !== language) {
    texts = makeTexts(language, { ...plainTexts(theme ?? {}), ...plainTexts(own ?? {}) });
    known.clear();
    known.set(second, texts);
  }
  return texts;
}

function languageOf(locale: string): PageLocale {
  return matchLocale(PAGE_LOCALES, locale) ?? 'en';
}

function makeTexts(language: PageLocale, own: Readonly<Record<string, string>>): Texts {
  const messages: Readonly<Record<string, string | Plural>> = {
    ...(details satisfies Record<DetailKey, string>),
    ...messagesOf(language),
    ...own,
  };
  const rules = new Intl.PluralRules(language);
  const find = (key: string, values: Message['values']): string | undefined => {
    const text = Object.hasOwn(messages, key) ? messages[key] : undefined;
    if (text === undefined || typeof text === 'string') return text;
    const [count] = Object.values(values ?? {});
    const form = rules.select(Number(count));
    return (form in text ? text[form as keyof Plural] : undefined) ?? text.other;
  };
  const stored = (text: string): string => {
    const key = /^\s*\$\{([\w.-]+)\}\s*$/.exec(text)?.[1];
    return key === undefined ? text : (find(key, undefined) ?? key);
  };
  return {
    language,
    text: (key, values) => fillIn(find(key, values) ?? key, values),
    message: ({ key, values }) => fillIn(find(key, values) ?? stored(key), values),
    stored,
    isOwn: (key) => Object.hasOwn(own, key),
  };
}

function plainTexts(own: OwnTexts): Record<string, string> {
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
