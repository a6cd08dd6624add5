import { IdkitError } from '../core/index.ts';

/** @throws IDKIT_FAILED if the source was shorter or longer than announced */
export function checkSize(label: string, name: string, bytes: number, size: number | undefined): void {
  if (size === undefined || size === bytes) return;
  throw new IdkitError('IDKIT_FAILED', `${label}: ${name} has ${bytes} bytes, but ${size} were announced`);
}
