import { NotAllowed, stringValue, type Token, tokenize } from './tokens.ts';

/** A name that pg_dump writes without quotes. */
const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/;
/** Schemas of the server itself: rows written there are functions, roles and rights. */
export const SYSTEM_SCHEMA = /^(?:pg_|information_schema$)/i;

/** A table, index or sequence. */
export interface Relation {
  schema: string;
  name: string;
}

/** Reads the tokens of one statement in order; whatever is not what it must be is refused. */
export class StatementReader {
  readonly tokens: readonly Token[];
  #next = 0;

  /** @throws NotAllowed */
  constructor(statement: string) {
    this.tokens = tokenize(statement);
  }

  get token(): Token {
    return this.tokens[this.#next]!;
  }

  /** Refuses the statement at the next token. */
  refuse(): never {
    throw new NotAllowed(this.token.at);
  }

  /** Takes these keywords, written as pg_dump writes them, or signs, divided by blanks: all or none. */
  take(words: string): boolean {
    const wanted = words.split(' ');
    const fits = wanted.every((word, index) => {
      const token = this.tokens[this.#next + index];
      return token !== undefined && (token.kind === 'word' || token.kind === 'sign') && token.text === word;
    });
    if (fits) this.#next += wanted.length;
    return fits;
  }

  /** One of several, as `take` does. */
  takeOne(choices: readonly string[]): string | undefined {
    return choices.find((choice) => this.take(choice));
  }

  must(words: string): void {
    if (!this.take(words)) this.refuse();
  }

  mustOne(choices: readonly string[]): string {
    return this.takeOne(choices) ?? this.refuse();
  }

  takeKind(kind: Token['kind']): Token | undefined {
    const { token } = this;
    if (token.kind !== kind) return undefined;
    this.#next++;
    return token;
  }

  takeName(): string | undefined {
    const { token } = this;
    if (token.kind !== 'name' && !(token.kind === 'word' && PLAIN_NAME.test(token.text))) return undefined;
    this.#next++;
    return token.text;
  }

  name(): string {
    return this.takeName() ?? this.refuse();
  }

  /** A literal that says something which `fits`. */
  string(fits: (text: string) => boolean = () => true): void {
    const { token } = this;
    if (token.kind !== 'string' || !fits(stringValue(token))) this.refuse();
    this.next();
  }

  /** Moves past the current token. */
  next(): void {
    this.#next++;
  }

  /** An integer, which may be negative. */
  integer(): void {
    this.take('-');
    if (!/^\d+$/.test((this.takeKind('number') ?? this.refuse()).text)) this.refuse();
  }

  /** `schema.name`: pg_dump never relies on a search path. */
  relation(): Relation {
    if (SYSTEM_SCHEMA.test(this.token.text)) this.refuse();
    const schema = this.name();
    this.must('.');
    return { schema, name: this.name() };
  }

  /** `(item, …)` */
  list(item: () => void): void {
    this.must('(');
    do item();
    while (this.take(','));
    this.must(')');
  }

  /** `(name, …)` */
  names(): string[] {
    const names: string[] = [];
    this.list(() => names.push(this.name()));
    return names;
  }

  end(): void {
    if (this.token.kind !== 'end') this.refuse();
  }
}
