import { createHash, randomInt } from 'node:crypto';
import type { SampledCredential } from '../contract.ts';

/** Number of credentials in a sample. Each takes about 100 bytes. */
const SAMPLE_SIZE = 25;
/** The range of `randomInt`, which must be less than 2^48. */
const RANGE = 2 ** 47;

/**
 * A uniform random sample of the stored credentials of a dump (algorithm L: Li, 1994). It draws random numbers only for
 * the rows that it takes, so that a million other rows cost nothing.
 */
export class CredentialSample {
  readonly #taken: SampledCredential[] = [];
  #seen = 0;
  #weight = 1;
  /** The number of the next row to take after the sample is full. */
  #next = 0;

  /** Counts a row. Returns the place in the sample for which the row is taken, or undefined if it is not taken. */
  place(): number | undefined {
    const row = this.#seen++;
    if (row < SAMPLE_SIZE) {
      if (row === SAMPLE_SIZE - 1) this.#skip(row);
      return row;
    }
    if (row !== this.#next) return undefined;
    this.#skip(row);
    return randomInt(SAMPLE_SIZE);
  }

  /** Puts a credential at a place that `place` returned. */
  put(place: number, id: string, user: string, secret: string): void {
    this.#taken[place] = { id, sha256: digestCredential(user, secret) };
  }

  result(): readonly SampledCredential[] {
    return this.#taken.filter((one) => one !== undefined);
  }

  #skip(row: number): void {
    this.#weight *= Math.exp(Math.log(uniform()) / SAMPLE_SIZE);
    this.#next = row + 1 + Math.floor(Math.log(uniform()) / Math.log(1 - this.#weight));
  }
}

/** Returns a random number that is greater than 0 and less than 1. */
function uniform(): number {
  return (randomInt(RANGE - 1) + 1) / RANGE;
}

/** Returns the SHA-256 of a user and the secret of a credential, in hex. Postgres can compute the same. */
export function digestCredential(user: string, secret: string): string {
  return createHash('sha256').update(`${user}\n${secret}`).digest('hex');
}
