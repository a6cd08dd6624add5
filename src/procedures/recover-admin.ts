import { platformPaths, type Settings, writeEnvironmentValue } from '../config/index.ts';
import type { Secret } from '../core/index.ts';
import { openPlatform } from '../platform/open.ts';
import { beginRun, type ProcedureOptions, type ProcedureResult, type StepDescription } from './run.ts';

/** The steps that recover an administrator, in order. */
export const RECOVER_ADMIN_STEPS = [
  {
    id: 'reset',
    title: 'Create or reset the administrator in the database',
    why: 'the administrative API requires an administrator who can log in',
  },
  {
    id: 'env',
    title: 'Write the new password into .env if .env names this administrator',
    why: 'backup, restore and smoke log in with the password in .env',
  },
] as const satisfies readonly StepDescription[];

export interface RecoverAdminResult extends ProcedureResult {
  username: string;
  /** The caller shows this password once. */
  password: Secret;
  /** True if `.env` contains the password of this administrator. */
  envUpdated: boolean;
}

/**
 * Gives an administrator a new password, or creates the administrator. Default for `username`: the administrator that
 * `.env` names.
 *
 * @throws IDKIT_SERVICE_RUNNING
 */
export async function recoverAdmin(
  settings: Settings,
  options: ProcedureOptions & { username?: string },
): Promise<RecoverAdminResult> {
  const run = beginRun(RECOVER_ADMIN_STEPS, options);
  const username = options.username ?? settings.administrator.username;
  const platform = await openPlatform(settings);
  const { password } = await run.step('reset', () => platform.database.recoverAdministrator(username));
  const envUpdated = username === settings.administrator.username;
  if (envUpdated) {
    await run.step('env', async () => {
      const { env } = platformPaths(settings.dir);
      writeEnvironmentValue(env, 'IDKIT_ADMIN_USERNAME', username);
      writeEnvironmentValue(env, 'IDKIT_ADMIN_PASSWORD', password);
    });
    const source = settings.sources['IDKIT_ADMIN_PASSWORD'];
    if (source === 'environment') {
      run.finding(
        'ADMIN_ELSEWHERE',
        'the environment variable IDKIT_ADMIN_PASSWORD still has the old password and overrides .env',
      );
    }
  }
  return { username, password, envUpdated, findings: run.findings };
}
