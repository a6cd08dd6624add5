import type { Node, Pair, YAMLMap } from 'yaml';
import { nearestName } from '../../core/index.ts';
import { PAGE_LOCALES } from '../../model/index.ts';
import type { FooterLink, OwnTexts } from '../pages/index.ts';
import { COLOR_KEYS, type Color, type GivenColors, type Mode, parseColor } from './colors.ts';
import type { ThemeProblem } from './theme.ts';

/** Maximum length of a text in characters. */
const MOST_TEXT = 2000;
/** Maximum length of the text of a link in characters. */
const MOST_LABEL = 80;
/** Maximum number of links at the end of a page. */
const MOST_LINKS = 8;

/** The content of a `theme.yaml`. */
export interface ParsedTheme {
  colors: Readonly<Record<Mode, GivenColors>>;
  texts: Readonly<Record<string, OwnTexts>>;
  footer: readonly FooterLink[];
  problems: readonly ThemeProblem[];
}

/** Parses and checks a `theme.yaml`. @param file the name for messages */
export async function parseThemeYaml(content: Buffer, file: string): Promise<ParsedTheme> {
  const [{ isMap, isScalar, isSeq, LineCounter, parseDocument, visit }, { findTextPlaceholders }] =
    await Promise.all([import('yaml'), import('../pages/index.ts')]);
  const problems: ThemeProblem[] = [];
  const lines = new LineCounter();
  const report = (node: Node | null | undefined, message: string, hint?: string): void => {
    const offset = node?.range?.[0];
    const place = offset === undefined ? file : `${file} line ${lines.linePos(offset).line}`;
    problems.push({ kind: 'error', place, message, ...(hint === undefined ? {} : { hint }) });
  };
  const colors: Record<Mode, Partial<Record<(typeof COLOR_KEYS)[number], Color>>> = { light: {}, dark: {} };
  const texts: Record<string, Record<string, string>> = {};
  const footer: FooterLink[] = [];
  const result = { colors, texts, footer, problems };

  let source: string;
  try {
    source = new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    report(undefined, 'is not UTF-8');
    return result;
  }
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const place = `${file} line ${lines.linePos(fault.pos[0]).line}`;
    problems.push({ kind: 'error', place, message: fault.message.replace(/\n.*$/s, '') });
    return result;
  }
  // Reject aliases, because a few lines of them can expand to gigabytes.
  visit(document, {
    Alias: (_, node) => {
      report(node, 'aliases are not allowed');
      return visit.BREAK;
    },
  });
  if (problems.length > 0 || document.contents === null) return result;

  /** Calls `read` for each pair of a mapping whose key is known. */
  const eachPair = <Key extends string>(
    node: unknown,
    path: string,
    known: readonly Key[],
    read: (key: Key, value: Node | null) => void,
  ): void => {
    if (!isMap(node)) {
      report(node as Node | null, `${path || 'the file'} must be a mapping`);
      return;
    }
    for (const pair of (node as YAMLMap).items as Pair<Node, Node | null>[]) {
      const name = isScalar(pair.key) ? String(pair.key.value) : '';
      const key = known.find((one) => one === name);
      if (key === undefined) {
        const near = nearestName(name, known);
        const hint =
          near === undefined ? `known keys: ${known.slice(0, 12).join(', ')}` : `did you mean ${near}?`;
        report(pair.key, `unknown key ${JSON.stringify(path === '' ? name : `${path}.${name}`)}`, hint);
      } else read(key, pair.value);
    }
  };
  /** Returns a plain text, or reports why the value is not one. */
  const readText = (node: Node | null, path: string, most: number): string | undefined => {
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value !== 'string' || value.trim() === '') {
      report(node, `${path} must be a text`);
    } else if (value.length > most) {
      report(node, `${path} has ${value.length} characters, but at most ${most} are allowed`);
    } else if (/<[a-z/!?]/i.test(value)) {
      report(
        node,
        `${path} contains markup, but texts are plain`,
        'remove the tags; a line break starts a paragraph',
      );
    } else if (/[^\P{C}\n\u200c\u200d]/u.test(value)) {
      report(node, `${path} contains a control character`);
    } else return value;
    return undefined;
  };

  const readColors = (mode: Mode, node: Node | null) =>
    eachPair(node, `colors.${mode}`, COLOR_KEYS, (key, value) => {
      const text = isScalar(value) ? value.value : undefined;
      const color = typeof text === 'string' ? parseColor(text) : undefined;
      if (color !== undefined) colors[mode][key] = color;
      else
        report(
          value,
          `colors.${mode}.${key} must be a colour such as "#2450c8"`,
          text === null || text === undefined
            ? 'write the colour in quotes, because # begins a comment'
            : undefined,
        );
    });
  const placeholders = findTextPlaceholders();
  const readTexts = (locale: string, node: Node | null) =>
    eachPair(node, `texts.${locale}`, [...placeholders.keys()], (key, value) => {
      const path = `texts.${locale}.${key}`;
      const text = readText(value, path, MOST_TEXT);
      if (text === undefined) return;
      const allowed = placeholders.get(key) ?? [];
      const strange = (text.match(/\{\w+\}/g) ?? []).filter((one) => !allowed.includes(one));
      if (strange.length === 0) texts[locale] = { ...texts[locale], [key]: text };
      else
        report(
          value,
          `${path} contains the placeholder ${strange[0]}`,
          allowed.length === 0 ? 'this text has no placeholder' : `this text has ${allowed.join(', ')}`,
        );
    });
  const readLabel = (node: Node | null, path: string): FooterLink['text'] | undefined => {
    if (!isMap(node)) {
      const text = readText(node, path, MOST_LABEL);
      return text === undefined ? undefined : { default: text };
    }
    const labels: Record<string, string> = {};
    eachPair(node, path, PAGE_LOCALES, (locale, value) => {
      const text = readText(value, `${path}.${locale}`, MOST_LABEL);
      if (text !== undefined) labels[locale] = text;
    });
    const first = labels['en'] ?? Object.values(labels)[0];
    return first === undefined ? undefined : { ...labels, default: first };
  };
  const readLink = (node: Node, path: string): void => {
    let url: string | undefined;
    let text: FooterLink['text'] | undefined;
    let textNode: Node | null | undefined;
    eachPair(node, path, ['url', 'text'], (key, value) => {
      if (key === 'text') {
        textNode = value;
        text = readLabel(value, `${path}.text`);
        return;
      }
      const given = isScalar(value) ? value.value : undefined;
      if (typeof given === 'string' && isFooterUrl(given)) url = given;
      else report(value, `${path}.url must begin with https:// or mailto:`);
    });
    if (url !== undefined && text !== undefined) footer.push({ url, text });
    else if (textNode === undefined && isMap(node)) report(node, `${path} must have url and text`);
  };

  eachPair(document.contents, '', ['colors', 'texts', 'footer'], (key, value) => {
    if (value === null || (isScalar(value) && value.value === null)) return;
    if (key === 'colors') return eachPair(value, key, ['light', 'dark'], readColors);
    if (key === 'texts') return eachPair(value, key, PAGE_LOCALES, readTexts);
    if (!isSeq(value)) return report(value, 'footer must be a list of links');
    if (value.items.length > MOST_LINKS)
      return report(value, `footer has ${value.items.length} links, but at most ${MOST_LINKS} are allowed`);
    value.items.forEach((item, at) => {
      readLink(item as Node, `footer[${at}]`);
    });
  });
  return result;
}

/** Whether a URL may be in the footer: a web address without a user part, or a mail address. */
function isFooterUrl(text: string): boolean {
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password, hostname } = new URL(text);
  if (protocol === 'mailto:') return /^mailto:[^@?]+@[^@?]+(\?.*)?$/.test(text);
  return (
    protocol === 'https:' &&
    text.startsWith('https://') &&
    hostname !== '' &&
    username === '' &&
    password === ''
  );
}
