import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../free-port.ts';
import { PROGRAM } from '../../program.ts';

/** A running `idkit serve` with a separate platform directory. */
export interface RunningPlatform {
  dir: string;
  baseUrl: string;
  /** Stops the service and removes its directory. */
  close(): Promise<void>;
}

export const ADMINISTRATOR = { username: 'admin', password: 'Observed-Admin-1' };

/** Starts `idkit serve` on a free port with a new platform directory, and waits until the service is ready. */
export async function startPlatform(
  options: { prepare?: (dir: string) => void; flags?: readonly string[] } = {},
): Promise<RunningPlatform> {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-recorded-'));
  const port = await freePort();
  options.prepare?.(dir);
  const output: string[] = [];
  const service = spawn(
    process.execPath,
    [PROGRAM, 'serve', '--dir', dir, '--port', String(port), ...(options.flags ?? [])],
    {
      env: {
        ...process.env,
        IDKIT_ADMIN_USERNAME: ADMINISTRATOR.username,
        IDKIT_ADMIN_PASSWORD: ADMINISTRATOR.password,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  service.stdout?.on('data', (chunk) => output.push(String(chunk)));
  service.stderr?.on('data', (chunk) => output.push(String(chunk)));
  const baseUrl = `http://127.0.0.1:${port}`;
  await untilReady(baseUrl, service, output);
  return {
    dir,
    baseUrl,
    close: async () => {
      await stop(service);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function untilReady(baseUrl: string, service: ChildProcess, output: string[]): Promise<void> {
  const end = Date.now() + 60_000;
  while (Date.now() < end) {
    if (service.exitCode !== null)
      throw new Error(`serve ended with ${service.exitCode}:\n${output.join('')}`);
    const ready = await fetch(`${baseUrl}/health/ready`).catch(() => undefined);
    if (ready?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`serve was not ready within 60 s:\n${output.join('')}`);
}

async function stop(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null) return;
  const ended = new Promise((resolve) => service.once('exit', resolve));
  service.kill('SIGTERM');
  await ended;
}
