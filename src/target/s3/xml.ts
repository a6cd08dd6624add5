import { hostile } from '../faults.ts';

/** Maximum size in bytes of an XML response. A page of 1,000 names has at most about 5 MB. */
export const MOST_XML_BYTES = 8 * 1024 * 1024;

/**
 * Returns the contents of every element with this name, in order. The responses of S3 nest no element inside one of the
 * same name. Entities are decoded only in the texts that `decodeText` is given, and documents that declare entities are
 * rejected, so nothing expands.
 */
export function findElements(xml: string, name: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; ; ) {
    const open = indexOfTag(xml, name, at);
    if (open === undefined) return found;
    if (open.isEmpty) {
      found.push('');
      at = open.end;
      continue;
    }
    const close = xml.indexOf(`</${name}>`, open.end);
    if (close === -1) return found;
    found.push(xml.slice(open.end, close));
    at = close + name.length + 3;
  }
}

/** Returns the decoded text of the first element with this name. */
export function findText(xml: string, name: string): string | undefined {
  const [first] = findElements(xml, name);
  return first === undefined ? undefined : decodeText(first);
}

function indexOfTag(xml: string, name: string, from: number): { end: number; isEmpty: boolean } | undefined {
  for (let at = xml.indexOf(`<${name}`, from); at !== -1; at = xml.indexOf(`<${name}`, at + 1)) {
    const next = xml[at + name.length + 1];
    if (next !== '>' && next !== ' ' && next !== '/') continue;
    const end = xml.indexOf('>', at);
    if (end === -1) return undefined;
    return { end: end + 1, isEmpty: xml[end - 1] === '/' };
  }
  return undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Decodes the five named entities and numeric ones. Others stay as they are. */
export function decodeText(text: string): string {
  return text.replaceAll(/&(#x[0-9a-f]{1,6}|#\d{1,7}|amp|lt|gt|quot|apos);/gi, (whole, entity: string) => {
    if (!entity.startsWith('#')) return ENTITIES[entity.toLowerCase()] ?? whole;
    const code =
      entity[1] === 'x' || entity[1] === 'X' ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Escapes a text for an element or an attribute. */
export function encodeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** @throws IDKIT_DAMAGED for a document type, which could declare entities */
export function checkXml(label: string, xml: string): string {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) throw hostile(label, 'its response declares a document type');
  return xml;
}
