/** A token of a statement as the scanner of Postgres reads it. */
export interface Token {
  /** A `word` is unquoted, a `name` is in double quotes, and a `body` is the source of a function between `$$`. */
  kind: 'word' | 'name' | 'string' | 'body' | 'number' | 'sign' | 'end';
  /** The text as written in the dump. For a `name`, the text between the quotes. */
  text: string;
  /** The offset in the statement. */
  at: number;
}

/** Thrown for a statement that no dump of idkit or Keycloak contains, with the offset of the first difference. */
export class NotAllowed extends Error {
  readonly at: number;

  constructor(at: number) {
    super('not allowed in a dump');
    this.at = at;
  }
}

const PLAIN =
  /(?<space>[ \t\n]+)|(?<body>\$\$[^$]*\$\$(?![\w$]))|(?<word>[A-Za-z_][A-Za-z0-9_]*)|(?<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(?<sign>::|<>|<=|>=|\|\||[(),.=<>+*[\]-])/y;
const SPACE = /[ \t\n]/;
/**
 * Control characters are rejected, because a line break in a name can smuggle commands into psql (CVE-2025-8715).
 * Neither idkit nor Keycloak has such names.
 */
const CONTROL = /\p{Cc}/u;

/** Maximum number of tokens in one statement, because each token takes memory. CREATE TABLE has a few thousand. */
const MOST_TOKENS = 500_000;

/**
 * Splits one statement without its semicolon. Comments, dollar quotes with a tag and literals with a prefix (`E''`,
 * `U&''`, `B''`) are rejected, because pg_dump does not write them for idkit or Keycloak.
 *
 * @throws NotAllowed
 */
export function tokenize(statement: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < statement.length) {
    if (tokens.length === MOST_TOKENS) throw new NotAllowed(at);
    const sign = statement[at];
    const quoted = sign === "'" || sign === '"' ? endOfQuoted(statement, at, sign) : undefined;
    if (quoted !== undefined) {
      if (at > 0 && /[A-Za-z0-9_$]/.test(statement[at - 1]!)) throw new NotAllowed(at - 1);
      tokens.push(quotedToken(statement, at, quoted, sign!));
      at = quoted;
      continue;
    }
    PLAIN.lastIndex = at;
    const groups = PLAIN.exec(statement)?.groups;
    if (groups === undefined) throw new NotAllowed(at);
    const { space, body, word, number, sign: single } = groups;
    const text = space ?? body ?? word ?? number ?? single!;
    if (body !== undefined) {
      if (statement[at - 1] !== ' ') throw new NotAllowed(at);
      tokens.push({ kind: 'body', text, at });
    } else if (word !== undefined) tokens.push({ kind: 'word', text, at });
    else if (number !== undefined) {
      // If a word directly follows a number, versions of psql disagree about where the number ends.
      if (/[A-Za-z0-9_.]/.test(statement[at + text.length] ?? '')) throw new NotAllowed(at);
      tokens.push({ kind: 'number', text, at });
    } else if (single !== undefined) tokens.push({ kind: 'sign', text, at });
    at += text.length;
  }
  tokens.push({ kind: 'end', text: '', at: trimmedLength(statement) });
  return tokens;
}

function quotedToken(statement: string, at: number, end: number, quote: string): Token {
  const text = statement.slice(at, end);
  if (quote === "'") return { kind: 'string', text, at };
  const name = text.slice(1, -1).replaceAll('""', '"');
  if (name === '' || CONTROL.test(name)) throw new NotAllowed(at);
  return { kind: 'name', text: name, at };
}

/** Returns the offset after the closing quote. */
function endOfQuoted(statement: string, start: number, quote: string): number {
  for (let at = start + 1; ; at += 2) {
    at = statement.indexOf(quote, at);
    if (at < 0) throw new NotAllowed(start);
    if (statement[at + 1] !== quote) return at + 1;
  }
}

function trimmedLength(statement: string): number {
  let end = statement.length;
  while (end > 0 && SPACE.test(statement[end - 1]!)) end--;
  return end;
}

/** Decodes a string literal without backslash escapes. */
export function stringValue(token: Token): string {
  return token.text.slice(1, -1).replaceAll("''", "'");
}
