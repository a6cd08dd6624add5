import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from '../free-port.ts';
import { waitUntil } from '../wait-until.ts';
import { scratch } from './scratch.ts';

const PROGRAM = '/usr/sbin/sshd';

/** A real sshd on the loopback address with its own keys. */
export interface SshServer {
  port: number;
  user: string;
  /** The file that lists the accepted keys. */
  authorizedKeys: string;
  /** The environment of a client, whose ssh reads only the configuration of this server. */
  env: Record<string, string>;
  /** The file with the variables that ssh was started with. */
  seen: string;
  stop(): Promise<void>;
}

/** Returns why ssh cannot be tested here, or undefined if it can. Throws instead if IDKIT_TEST_REQUIRE_ALL is set. */
export function findSshGap(): string | undefined {
  const why = existsSync(PROGRAM) ? undefined : `needs ${PROGRAM}`;
  if (why !== undefined) assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', why);
  return why;
}

/**
 * Starts sshd, which is stopped after the test.
 *
 * @param options.through the port that clients connect to, if it is not the one of sshd
 */
export async function startSsh(
  t: TestContext,
  options: { through?: (port: number) => Promise<number> } = {},
): Promise<SshServer> {
  const dir = scratch(t);
  chmodSync(dir, 0o755);
  const port = await freePort();
  const file = (name: string) => join(dir, name);
  for (const key of ['host', 'client'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(key)]);
  const authorizedKeys = file('authorized_keys');
  execFileSync('cp', [file('client.pub'), authorizedKeys]);
  // sshd as root needs this directory, which an init script creates otherwise.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const config = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${file('host')}`,
    `AuthorizedKeysFile ${authorizedKeys}`,
    `PidFile ${file('pid')}`,
    'StrictModes no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin prohibit-password',
    'UsePAM no',
    'Subsystem sftp internal-sftp',
  ];
  writeFileSync(file('sshd_config'), `${config.join('\n')}\n`);
  const child = spawn(PROGRAM, ['-D', '-e', '-f', file('sshd_config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const closed = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await closed;
  };
  t.after(stop);
  const user = userInfo().username;
  const through = options.through === undefined ? port : await options.through(port);
  execFileSync('sh', [
    '-c',
    `printf '[127.0.0.1]:%s ' ${through} | cat - ${file('host.pub')} > ${file('known_hosts')}`,
  ]);
  const client = [
    'Host *',
    `IdentityFile ${file('client')}`,
    'IdentitiesOnly yes',
    `UserKnownHostsFile ${file('known_hosts')}`,
    'GlobalKnownHostsFile /dev/null',
    'StrictHostKeyChecking yes',
  ];
  writeFileSync(file('ssh_config'), `${client.join('\n')}\n`);
  // ssh reads the configuration in the home directory of the user, so a program of the same name adds another one.
  mkdirSync(file('bin'));
  writeFileSync(
    file('bin/ssh'),
    `#!/bin/sh\nenv >> ${file('seen')}\nexec /usr/bin/ssh -F ${file('ssh_config')} "$@"\n`,
    {
      mode: 0o755,
    },
  );
  await waitUntil('sshd listens', () => /Server listening/.test(errors), { seen: () => errors });
  return {
    port: through,
    user,
    authorizedKeys,
    seen: file('seen'),
    env: { ...(process.env as Record<string, string>), PATH: `${file('bin')}:${process.env['PATH']}` },
    stop,
  };
}
