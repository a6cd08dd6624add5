import { platformPaths, type Settings, writeEnvironmentValue } from '../config/index.ts';
import type { Secret } from '../core/index.ts';
import { openPlatform } from '../platform/open.ts';
import { beginRun, type ProcedureOptions, type ProcedureResult, type StepDescription } from './run.ts';

/** Getting back in, in order. */
export const RECOVER_ADMIN_STEPS = [
  {
    id: 'reset',
    title: 'Make or reset the administrator in the store',
    why: 'with every administrator locked out no request can do it',
  },
  {
    id: 'env',
    title: 'Write the new password into .env where the administrator is the machine’s own',
    why: 'backup, restore and smoke log in with what .env says',
  },
] as const satisfies readonly StepDescription[];

export interface RecoverAdminResult extends ProcedureResult {
  username: string;
  /** To be shown once. */
  password: Secret;
  /** True where the administrator is the machine's own, whose password `.env` holds. */
  envUpdated: boolean;
}

/** `username`: the administrator of `.env` unless told. @throws IDKIT_SERVICE_RUNNING */
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
      run.finding('ADMIN_ELSEWHERE', 'IDKIT_ADMIN_PASSWORD of the environment still holds the old password');
    }
  }
  return { username, password, envUpdated, findings: run.findings };
}
