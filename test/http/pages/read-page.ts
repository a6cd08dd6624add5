import { type DefaultTreeAdapterTypes, parse } from 'parse5';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** An element of a page. */
export interface ReadElement {
  tag: string;
  attributes: Readonly<Record<string, string>>;
  /** The text content of the element, with that of its descendants. */
  text: string;
}

/** Returns every element of a document, in order. */
export function readElements(markup: string): readonly ReadElement[] {
  const found: ReadElement[] = [];
  const walk = (node: Node): void => {
    if (!('tagName' in node)) return;
    found.push({
      tag: node.tagName,
      attributes: Object.fromEntries(node.attrs.map(({ name, value }) => [name, value])),
      text: textOf(node),
    });
    node.childNodes.forEach(walk);
  };
  parse(markup, { scriptingEnabled: false }).childNodes.forEach(walk);
  return found;
}

function textOf(element: Element): string {
  return element.childNodes
    .map((node) => ('value' in node ? node.value : 'tagName' in node ? textOf(node) : ''))
    .join('');
}

/** Returns the structure of a document: the tags and the attribute names of its elements, without texts. */
export function shapeOf(markup: string): readonly string[] {
  return readElements(markup).map(
    ({ tag, attributes }) => `${tag}[${Object.keys(attributes).sort().join(' ')}]`,
  );
}

/** Returns the element with the given id or name. Fails unless exactly one element has it. */
export function find(markup: string, hook: string): ReadElement {
  const key = hook.startsWith('#') ? 'id' : 'name';
  const wanted = hook.replace('#', '');
  const found = readElements(markup).filter(({ attributes }) => attributes[key] === wanted);
  if (found.length !== 1) throw new Error(`${found.length} elements for ${hook}`);
  return found[0]!;
}
