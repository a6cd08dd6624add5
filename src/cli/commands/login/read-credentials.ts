import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { IdkitError, Secret } from '../../../core/index.ts';
import type { CommandContext } from '../../command.ts';
import { checkName, given } from '../../flags.ts';
import { ask, readLines } from '../../terminal.ts';

/** Variables of the environment. Every user of the machine could see an argument. */
const USERNAME = 'IDKIT_ADMIN_USERNAME';
const PASSWORD = 'IDKIT_ADMIN_PASSWORD';
const CODE = 'IDKIT_ADMIN_TOTP';

export interface Credentials {
  username: string;
  password: Secret;
  /** A one-time password, if the user has one. */
  totp?: Secret;
}

/**
 * Reads the credentials of a login with a password. The password and the one-time password come from variables, from
 * the files that `…_FILE` variables name, from prompts, or from the first two lines of stdin.
 *
 * @param asked `place` is where the credentials are valid; `suggested` is the default of the prompt for the username
 * @throws IDKIT_USAGE if something is missing; IDKIT_SETTING for a file that cannot be read
 */
export async function readCredentials(
  context: CommandContext,
  asked: { username?: string; suggested?: string; place: string },
): Promise<Credentials> {
  const { env, signal, terminal } = context;
  const username = asked.username ?? (env[USERNAME] || undefined) ?? (await askUsername(context, asked));
  checkName(username, 'the username');
  const password = fromEnvironment(context, PASSWORD);
  const totp = fromEnvironment(context, CODE);
  if (password !== undefined) return { username, password: new Secret(password), ...secretOf(totp) };
  if (!terminal.canAsk) {
    const [first = '', second = ''] = await readLines(terminal, 2, 'the password');
    if (first === '')
      throw new IdkitError('IDKIT_USAGE', 'stdin is empty, but its first line must be the password', {
        hints: [`or set ${PASSWORD} or ${PASSWORD}_FILE`],
      });
    return { username, password: new Secret(first), ...secretOf(totp ?? second) };
  }
  const hidden = { hidden: true, signal };
  const typed = await ask(terminal, `Password of ${username} at ${asked.place}: `, hidden);
  if (typed === '') throw new IdkitError('IDKIT_USAGE', 'the password is empty');
  // The service does not say whether it misses a one-time password or rejects the password, so always ask.
  const code = totp ?? (await ask(terminal, 'One-time password (Enter if the user has none): ', hidden));
  return { username, password: new Secret(typed), ...secretOf(code) };
}

function secretOf(code: string | undefined): { totp?: Secret } {
  const digits = code?.replace(/\s/g, '') ?? '';
  return given('totp', digits === '' ? undefined : new Secret(digits));
}

async function askUsername(
  { signal, terminal }: CommandContext,
  { suggested, place }: { suggested?: string; place: string },
): Promise<string> {
  if (!terminal.canAsk) {
    if (suggested !== undefined) return suggested;
    throw new IdkitError('IDKIT_USAGE', 'the username is missing', {
      hints: [`pass --username, or set ${USERNAME}`],
    });
  }
  const offer = suggested === undefined ? '' : ` [${suggested}]`;
  const typed = (await ask(terminal, `Username at ${place}${offer}: `, { hidden: false, signal })).trim();
  return typed === '' ? (suggested ?? '') : typed;
}

/** Returns the value of a variable, or the first line of the file that its `…_FILE` variable names. */
function fromEnvironment({ cwd, env }: CommandContext, name: string): string | undefined {
  const file = env[`${name}_FILE`];
  if (env[name] && file) throw new IdkitError('IDKIT_SETTING', `${name} and ${name}_FILE are both set`);
  if (!file) return env[name] || undefined;
  let text: string;
  try {
    text = readFileSync(resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new IdkitError('IDKIT_SETTING', `${name}_FILE names ${file}, which cannot be read`, {
      cause: error,
    });
  }
  const [line = ''] = text.split(/\r?\n/);
  if (line === '') throw new IdkitError('IDKIT_SETTING', `the file that ${name}_FILE names is empty`);
  return line;
}
