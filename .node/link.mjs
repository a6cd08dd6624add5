import { existsSync, rmSync, symlinkSync } from 'node:fs';

// npm 9 (Debian 12, Ubuntu 24.04) unlinks `node` again when it drops the package of the other architecture, because
// both give it. Runs on whatever Node.js the system has.
const link = new URL('../node_modules/.bin/node', import.meta.url);
const program = `node-linux-${process.arch}/bin/node`;
if (
  process.platform === 'linux' &&
  existsSync(new URL(`../node_modules/${program}`, import.meta.url)) &&
  !existsSync(link)
) {
  rmSync(link, { force: true });
  symlinkSync(`../${program}`, link);
}
