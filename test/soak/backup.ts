import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { resident } from '../bench/scale/rows/users.ts';
import type { Side } from '../bench/scale/side.ts';

/** Runs `idkit backup` on a side and removes the set. Returns the exit code, the duration and the most memory in MB. */
export async function backUp(
  side: Side,
): Promise<{ code: number; seconds: number; resident: number; output: string }> {
  const { command, args } = side.program.entry;
  const began = performance.now();
  const child = spawn(command, [...args, 'backup', '--dir', side.dir, '--quiet'], {
    env: {
      ...process.env,
      IDKIT_DATABASE_URL: side.cluster!.url(side.database),
      IDKIT_DATABASE_PASSWORD: side.cluster!.password,
      IDKIT_BACKUP_PASSPHRASE: 'soak-Passphrase-1',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let most = 0;
  let output = '';
  child.stderr.on('data', (part) => {
    output += part;
  });
  const timer = setInterval(() => {
    if (child.exitCode === null) most = Math.max(most, resident(child.pid!));
  }, 500);
  const [code] = await once(child, 'exit');
  clearInterval(timer);
  const root = join(side.dir, 'backups');
  for (const name of readdirSync(root))
    if (/^\d{8}_\d{6}$/.test(name)) rmSync(join(root, name), { recursive: true, force: true });
  return { code: Number(code), seconds: (performance.now() - began) / 1000, resident: most, output };
}
