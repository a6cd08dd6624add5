// A test preloads this module into a child process to kill it in the middle of its work: the process sends itself
// SIGKILL before its n-th call that changes the file system, where n is KILL_AT_CALL. If it ends normally, it prints
// `calls N`, where N is the number of these calls.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const at = Number(process.env['KILL_AT_CALL'] ?? '0');
let calls = 0;

function counted<T extends (...args: never[]) => unknown>(call: T): T {
  return function (this: unknown, ...args: Parameters<T>) {
    calls++;
    if (calls === at) process.kill(process.pid, 'SIGKILL');
    return call.apply(this, args);
  } as unknown as T;
}

for (const name of ['rename', 'link', 'rm', 'open', 'unlink', 'writeFile'] as const)
  Object.assign(fs.promises, { [name]: counted(fs.promises[name] as (...args: never[]) => unknown) });
syncBuiltinESMExports();
process.on('exit', () => process.stdout.write(`calls ${calls}\n`));
