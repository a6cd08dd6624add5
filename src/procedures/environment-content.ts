import { checkEnvKeys, parseEnvContent } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';

/**
 * What an opened env.gpg is worth. Something that is no environment file is damage, for nothing can be restored
 * from it; a key that this idkit does not know may be one of a newer idkit, as a newer schema is.
 */
export function judgeEnvironment(plain: Uint8Array): { fault?: string; note?: string } {
  const text = 'the text';
  const read = settingFault(() => parseEnvContent(plain, text));
  if (read.fault !== undefined) return { fault: `it holds no environment file: ${read.fault}` };
  const { fault } = settingFault(() => checkEnvKeys(read.value, text));
  return fault === undefined ? {} : { note: `restore will refuse it: ${fault}` };
}

function settingFault<T>(work: () => T): { value: T; fault?: undefined } | { fault: string } {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof IdkitError && error.code === 'IDKIT_SETTING') return { fault: error.message };
    throw error;
  }
}
