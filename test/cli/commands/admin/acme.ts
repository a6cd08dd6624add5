import assert from 'node:assert/strict';
import { type Ran, run } from '../../run.ts';
import { type ServedPlatform, servePlatform } from '../../served-platform.ts';

/** A served platform with an empty realm `acme`, for tests of `idkit admin`. */
export interface Acme extends ServedPlatform {
  /** Runs `idkit admin …` in the realm acme. */
  admin(words: string, options?: Parameters<typeof run>[1]): Promise<Ran>;
  /** As `admin` with `--json`, and returns the result. Fails unless the exit code is 0. */
  succeed(words: string, options?: Parameters<typeof run>[1]): Promise<Record<string, unknown>>;
  /** Returns the records of the list that `idkit admin … -o json` prints. */
  list(words: string): Promise<readonly Record<string, unknown>[]>;
}

export async function serveAcme(): Promise<Acme> {
  const platform = await servePlatform();
  const admin: Acme['admin'] = (words, options = {}) => {
    const { env, ...rest } = options;
    const argv = words.split(' ').map((word) => word.replaceAll('%20', ' '));
    return run(['admin', ...argv, '--timeout', '120'], {
      cwd: platform.cwd,
      env: { IDKIT_REALM: 'acme', ...env },
      ...rest,
    });
  };
  const succeed: Acme['succeed'] = async (words, options) => {
    const ran = await admin(`${words} --json`, options);
    assert.equal(ran.code, 0, `${words}: ${ran.stderr}`);
    return ran.result();
  };
  const list: Acme['list'] = async (words) => {
    const ran = await admin(`${words} -o json`);
    assert.equal(ran.code, 0, `${words}: ${ran.stderr}`);
    return JSON.parse(ran.stdout) as Record<string, unknown>[];
  };
  await succeed('realm create acme');
  return { ...platform, admin, succeed, list };
}
