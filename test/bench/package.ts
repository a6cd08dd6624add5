import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from './service.ts';

/** The checkout of this program. */
export const CHECKOUT = new URL('../..', import.meta.url).pathname;

/**
 * Builds the package of a checkout and unpacks it outside the checkout, as npm would install it. Its dependencies are
 * links to those of the checkout.
 */
export async function buildPackage(checkout = CHECKOUT): Promise<Entry & { remove(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-bench-package-'));
  execFileSync('npm', ['run', '--silent', 'build'], {
    cwd: checkout,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', dir], {
    cwd: checkout,
    encoding: 'utf8',
  });
  execFileSync('tar', ['-xzf', join(dir, packed.trim().split('\n').at(-1) ?? ''), '-C', dir]);
  // Replace the bundled packages with a link to the checkout's packages, which include them.
  const modules = join(dir, 'package', 'node_modules');
  rmSync(modules, { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), modules);
  return {
    command: process.execPath,
    args: [join(dir, 'package', 'bin', 'idkit.js')],
    remove: async () => rmSync(dir, { recursive: true, force: true }),
  };
}
