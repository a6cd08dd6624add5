import { inspect } from 'node:util';

const MASK = '[secret]';

/**
 * A value that must not be shown. It prints as `[secret]` in logs, JSON, template strings, `inspect` and error
 * messages. Only `reveal()` returns the value.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the value itself. Never pass the result to a log, an error or an argument list. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
