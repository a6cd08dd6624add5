import assert from 'node:assert/strict';
import { type ErrorCode, IdkitError } from '../../src/core/index.ts';

/** A reader of bytes that can come from an attacker. */
export interface FuzzTarget {
  name: string;
  /** The parts of the program whose coverage guides the engine: parts of the paths of its files. */
  covers: readonly string[];
  /** Valid inputs from which the engine starts, in addition to those in `corpus/NAME`. */
  seeds(): Promise<readonly Uint8Array[]> | readonly Uint8Array[];
  /** Words that the format knows. */
  dictionary: readonly string[];
  /** The codes of the errors that bad input may have. Anything else that is thrown is a fault. */
  refusals: readonly ErrorCode[];
  /** Whether one input takes about 50 ms, so that the tests run fewer. */
  isSlow?: true;
  /** Reads an input and checks what always holds. */
  run(input: Uint8Array): Promise<void> | void;
}

/**
 * Runs a target on one input. Returns the error with which the input was refused, or undefined.
 *
 * @throws the fault, if the input was not refused in the documented way
 */
export async function runTarget(target: FuzzTarget, input: Uint8Array): Promise<IdkitError | undefined> {
  try {
    await target.run(input);
    return undefined;
  } catch (error) {
    if (error instanceof IdkitError && target.refusals.includes(error.code)) return error;
    throw error;
  }
}

/** The result of a reader: its value, or the code of its refusal. */
export type Reading<T> = { value: T } | { refused: string };

/** Runs a reader, and returns its refusal as a value, so that two readings can be compared. */
export async function reading<T>(read: () => Promise<T> | T): Promise<Reading<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    if (error instanceof IdkitError) return { refused: error.code };
    throw error;
  }
}

/** Returns the input in chunks whose sizes depend on its bytes: the first one has 1 byte, others up to 509. */
export function* inChunks(input: Uint8Array): Generator<Buffer> {
  let at = 0;
  let size = 1;
  while (at < input.length) {
    yield Buffer.from(input.subarray(at, at + size));
    at += size;
    size = 1 + (((input[at] ?? 0) * 7 + at) % 509);
  }
}

/** Returns the whole input as one chunk. */
export function* asOne(input: Uint8Array): Generator<Buffer> {
  if (input.length > 0) yield Buffer.from(input);
}

/** Converts chunks to a stream. */
export async function* stream(chunks: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
}

/** Checks that two readings of the same bytes are the same. */
export function assertSame<T>(one: Reading<T>, other: Reading<T>, what: string): void {
  assert.deepEqual(one, other, what);
}

/** Throws the refusal of a reading, so that the engine counts it. */
export function unwrap<T>(read: Reading<T>): T {
  if ('value' in read) return read.value;
  throw new IdkitError(read.refused as ErrorCode, 'the input is refused');
}
