import { NotAllowed, stringValue, type Token, tokenize } from './tokens.ts';

/** A name that pg_dump writes without quotes. */
const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/;
/** System schemas of Postgres, whose tables define functions, roles and privileges. */
export const SYSTEM_SCHEMA = /^(?:pg_|information_schema$)/i;

/** The name of a table, index or sequence. */
export interface Relation {
  schema: string;
  name: string;
}

/** Reads the tokens of one statement in order, and rejects the statement at the first unexpected token. */
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

  /** Rejects the statement at the current token. */
  refuse(): never {
    throw new NotAllowed(this.token.at);
  }

  /**
   * Skips the given keywords or signs, which are separated by spaces, if all of them come next in the same case.
   * Returns false otherwise.
   */
  take(words: string): boolean {
    const wanted = words.split(' ');
    const fits = wanted.every((word, index) => {
      const token = this.tokens[this.#next + index];
      return token !== undefined && (token.kind === 'word' || token.kind === 'sign') && token.text === word;
    });
    if (fits) this.#next += wanted.length;
    return fits;
  }

  /** Skips and returns the choice that comes next. Returns undefined if the next token begins none of the choices. */
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

  /** Reads a string literal. Rejects the statement unless `fits` accepts the content. */
  string(fits: (text: string) => boolean = () => true): void {
    const { token } = this;
    if (token.kind !== 'string' || !fits(stringValue(token))) this.refuse();
    this.next();
  }

  /** Moves past the current token. */
  next(): void {
    this.#next++;
  }

  /** Reads an integer, which may be negative. */
  integer(): void {
    this.take('-');
    if (!/^\d+$/.test((this.takeKind('number') ?? this.refuse()).text)) this.refuse();
  }

  /** Reads `schema.name`. pg_dump always writes the schema, because it does not rely on a search path. */
  relation(): Relation {
    if (SYSTEM_SCHEMA.test(this.token.text)) this.refuse();
    const schema = this.name();
    this.must('.');
    return { schema, name: this.name() };
  }

  /** Reads `(item, …)`. */
  list(item: () => void): void {
    this.must('(');
    do item();
    while (this.take(','));
    this.must(')');
  }

  /** Reads `(name, …)`. */
  names(): string[] {
    const names: string[] = [];
    this.list(() => names.push(this.name()));
    return names;
  }

  end(): void {
    if (this.token.kind !== 'end') this.refuse();
  }
}
