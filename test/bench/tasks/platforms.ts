import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { KEYCLOAK_ADMIN, prepareDistribution, startKeycloak } from '../../keycloak/keycloak-server.ts';
import { spawnService } from '../../program.ts';
import { startPostgres } from '../../store/postgres-server.ts';
import { type Entry, freePort, readEnvironment } from '../service.ts';
import { Api } from './api.ts';
import { FILE_USERS, REALM, seed } from './tasks.ts';
import { ShellHand } from './way.ts';

/** Registers what to close at the end. */
export interface Closing {
  after(close: () => unknown): void;
}

/** A service with the realm of the tasks, its administrator, and a shell in which its commands work. */
export interface Place {
  api: Api;
  shell: ShellHand;
  /** The directory with `users.csv`, in which the shell works. */
  dir: string;
}

/** Starts idkit on a new platform directory with a verified backup of the realm. */
export async function startIdkitPlace(closing: Closing, root: string, entry: Entry): Promise<Place> {
  const dir = join(root, 'live');
  const programs = join(root, 'programs');
  mkdirSync(dir);
  mkdirSync(programs);
  const wrapper = join(programs, 'idkit');
  writeFileSync(wrapper, `#!/bin/sh\nexec '${[entry.command, ...entry.args].join("' '")}' "$@"\n`);
  chmodSync(wrapper, 0o755);
  const env = {
    PATH: `${programs}:${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: root,
    IDKIT_REALM: REALM,
    IDKIT_BACKUP_PASSPHRASE: 'a passphrase of the tasks',
    COPY_PORT: String(await freePort()),
  };
  const shell = new ShellHand(dir, env);
  await shell.run('idkit init');
  const service = await spawnService(join(dir, 'idkit'), [], env);
  closing.after(() => service.stop());
  closing.after(() => stopCopy(root));
  writeUsers(dir);
  const { IDKIT_ADMIN_PASSWORD: password = '' } = readEnvironment(join(dir, 'idkit'));
  const api = new Api(service.address, { username: 'admin', password });
  await seed(api);
  await shell.run('idkit backup');
  await shell.run('idkit verify');
  return { api, shell, dir };
}

/** Ends the service that the task of the restore started. */
function stopCopy(root: string): void {
  const file = join(root, 'copy.pid');
  if (existsSync(file)) process.kill(Number(readFileSync(file, 'utf8')));
}

/** Starts a real Keycloak, and logs its kcadm.sh in. */
export async function startKeycloakPlace(closing: Closing, root: string): Promise<Place> {
  const keycloak = await startKeycloak(closing, await startPostgres(closing));
  const dir = join(root, 'keycloak');
  mkdirSync(dir);
  const programs = join(await prepareDistribution(), 'bin');
  const env = { PATH: `${programs}:${process.env['PATH']}`, HOME: dir };
  const { username, password } = KEYCLOAK_ADMIN;
  const login = ['config', 'credentials', '--server', keycloak.baseUrl, '--realm', 'master'];
  execFileSync(join(programs, 'kcadm.sh'), [...login, '--user', username, '--password', password], {
    env,
    stdio: 'ignore',
  });
  writeUsers(dir);
  const api = new Api(keycloak.baseUrl, KEYCLOAK_ADMIN);
  return { api, shell: new ShellHand(dir, env), dir };
}

function writeUsers(dir: string): void {
  writeFileSync(join(dir, 'users.csv'), `username\n${FILE_USERS.join('\n')}\n`);
}
