import { inspect } from 'node:util';

const MASK = '[secret]';

/**
 * A value that must not be shown. It prints as `[secret]` in logs, JSON, templates, `inspect` and error
 * messages; `.reveal()` is the only way out.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value in the clear. Never pass the result to a log, an error or an argument list. */
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
