import type { SettingName } from '../../src/config/settings/table.ts';
import type { ErrorCode } from '../../src/core/index.ts';
import { clientRows } from '../../src/http/admin/client-routes.ts';
import { componentRows } from '../../src/http/admin/component-routes.ts';
import { eventRows } from '../../src/http/admin/event-routes.ts';
import { groupRows } from '../../src/http/admin/group-routes.ts';
import { restRows, serverInfoRoutes } from '../../src/http/admin/not-implemented.ts';
import { realmRows } from '../../src/http/admin/realm-routes.ts';
import { roleRows } from '../../src/http/admin/role-routes.ts';
import { userRows } from '../../src/http/admin/user-routes.ts';
import { accountRoutes, loginRoutes, resourceRoutes, sessionRoutes } from '../../src/http/browser/index.ts';
import { consoleRoutes } from '../../src/http/console/console-routes.ts';
import { metadataRoutes, notImplementedRoutes, tokenRoutes } from '../../src/http/oidc/index.ts';
import { code } from './markdown.ts';

// Names the source files that decide the rules in the generated parts of the pages. In the texts below, `~cli/exit.ts`
// stands for `src/cli/exit.ts`. A command, setting, error or route for which this file names no source file makes the
// generation fail.

/** Replaces each `~path` with the path in code style, as the pages show it. */
export const paths = (text: string): string =>
  text.replaceAll(/~([\w./-]+\.ts)/g, (_, path: string) => code(`src/${path}`));

/** Returns the lines of the paragraph "Decided in:", wrapped at 120 characters. */
export function decidedIn(text: string): readonly string[] {
  const lines = [''];
  for (const word of `Decided in: ${paths(text)}.`.split(' ')) {
    const line = lines.at(-1)!;
    if (line === '') lines.splice(-1, 1, word);
    else if (line.length + 1 + word.length > 120) lines.push(word);
    else lines.splice(-1, 1, `${line} ${word}`);
  }
  return lines;
}

const found = (files: Readonly<Record<string, string>>, kind: string, name: string): string => {
  const text = files[name];
  if (text === undefined) throw new Error(`the ${kind} ${name} names no file in test/docs/decided.ts`);
  return text;
};

const SETTING = 'the flags of settings in ~config/settings/table.ts';
const ADMIN =
  '`--base-url` and `--realm` in ~cli/commands/admin/connect.ts; the response of the service in the file of its section of [Administrative API](../keycloak/admin-api.md)';

const COMMANDS: Readonly<Record<string, string>> = {
  init: '~cli/commands/init.ts; which files it writes in ~config/init.ts',
  serve: `~cli/commands/serve.ts; ${SETTING}; the management port in ~service/listener/listen.ts; what several workers share in ~service/workers/workers.ts; \`--new-secrets\` in ~admin/representation/missing-secrets.ts`,
  up: '~cli/commands/up-down.ts; the order in ~procedures/up-down.ts; each container in ~platform/compose/start.ts',
  down: '~cli/commands/up-down.ts; the order in ~procedures/up-down.ts; what is removed in ~platform/compose/service.ts',
  backup: `~cli/commands/backup.ts; ${SETTING}; \`--only\` in ~procedures/backup/options.ts; the order of the steps in ~procedures/backup/runbook.ts`,
  verify: `~cli/commands/verify.ts; ${SETTING}; which sets in ~procedures/verify/find-sets.ts; age in ~procedures/verify/runbook.ts, the form of a duration in ~config/duration.ts`,
  restore:
    '~cli/commands/restore.ts; the order of the steps in ~procedures/restore/steps.ts; `--dry-run` and `--resume` in ~procedures/restore/runbook.ts, `--abort` in ~procedures/restore/abort.ts; `--keep-env` and `--trust-unsealed` in ~procedures/restore/verified-set.ts; `--keep-config` in ~procedures/restore/stage.ts; `--in-place` and `--confirm` in ~procedures/restore/preflight.ts',
  drill:
    '~cli/commands/drill.ts; the steps, `--keep` and `--trust-unsealed` in ~procedures/drill/runbook.ts; the newest set in ~procedures/verify/find-sets.ts',
  smoke:
    '~cli/commands/smoke.ts; the list of checks in ~procedures/smoke/runbook.ts; `--base-url` and `--realm` in ~procedures/smoke/service.ts; `--deep` in ~procedures/smoke/check-administrator.ts; `--junit` in ~procedures/smoke/junit.ts',
  'admin realm': `~cli/commands/admin/realm.ts; ${ADMIN}`,
  'admin user': `~cli/commands/admin/user.ts; ${ADMIN}`,
  'admin client': `~cli/commands/admin/client.ts; ${ADMIN}`,
  'admin session': `~cli/commands/admin/session.ts; ${ADMIN}`,
  'admin token': '~cli/commands/admin/token.ts; `--base-url` in ~cli/commands/admin/connect.ts',
  'backups list': `~cli/commands/backups.ts; ${SETTING}; what it lists in ~procedures/backups/list.ts`,
  'backups prune': `~cli/commands/backups.ts; ${SETTING}; the retention rule in ~backupset/retention/prune.ts; \`--dry-run\` in ~procedures/backups/prune.ts`,
  'master-key rotate': '~cli/commands/master-key.ts; the steps in ~procedures/rotate-master-key.ts',
  'recover-admin':
    '~cli/commands/recover-admin.ts; the steps in ~procedures/recover-admin.ts; the change in the store in ~admin/master/recover-administrator.ts',
  schedule: '~cli/commands/schedule.ts; timers, lines and units in ~procedures/schedule.ts',
  status: '~cli/commands/status.ts; what it reports in ~procedures/status/status.ts',
  'config show': '~cli/commands/config.ts; sources and hidden secrets in ~config/settings/show.ts',
  completion: '~cli/commands/completion.ts',
  help: '~cli/commands/help.ts; the reference in ~cli/reference/text.ts',
};

/** Returns the files that decide about a command, such as `admin realm list`. */
export function filesOfCommand(path: string): string {
  const words = path.split(' ');
  const [first = ''] = words;
  const group = words.slice(0, 2).join(' ');
  return found(
    COMMANDS,
    'command',
    COMMANDS[path] !== undefined ? path : COMMANDS[group] !== undefined ? group : first,
  );
}

/** Maps those sections of the command reference that belong to no command to their files. */
export const FILES_OF_PROGRAM: Readonly<Record<string, string>> = {
  'Commands and their flags':
    '~cli/commands/table.ts (which commands, in which order), their purpose in the file of the command; what `idkit help --all` prints in ~cli/reference/text.ts, the manual in ~cli/reference/man.ts',
  'Flags of every command':
    '~cli/program.ts; what `--json`, `--quiet`, `--no-color` and `--no-progress` do in ~cli/output/output.ts, `--timeout` in ~cli/context.ts, `--dir` in ~config/paths.ts; a stack trace in ~cli/output/text-output.ts; `--yes` in the commands that ask, for example ~cli/commands/restore.ts',
  'Exit codes': '~core/catalogue.ts; which one ends a command in ~cli/exit.ts',
};

const SETTINGS: Readonly<Record<SettingName, string>> = {
  runtime: '~platform/open.ts',
  service: '~platform/open.ts',
  baseUrl: '~service/server.ts',
  'listen.host': '~service/listener/listen.ts',
  'listen.port': '~service/listener/listen.ts',
  'listen.managementPort': '~service/listener/listen.ts',
  'listen.managementHost': '~service/listener/listen.ts',
  'listen.tlsCert': '~http/app/tls.ts',
  'listen.tlsKey': '~http/app/tls.ts',
  'listen.drainSeconds': '~service/listener/drain.ts',
  database: '~config/settings/kinds.ts',
  trustedProxies: '~http/app/new-app.ts',
  'admin.protectAdministrators': '~admin/access/administrators.ts',
  'realmFiles.remove': '~service/realm-directory.ts',
  'outbound.privateAddresses': '~service/post-form.ts',
  realms: '~procedures/backup/fetch-realms.ts ~procedures/smoke/service.ts',
  'backup.root': '~procedures/platform.ts',
  'backup.keepDays': '~backupset/retention/prune.ts',
  'backup.keepVersions': '~backupset/retention/versions.ts',
  'backup.mirror': '~procedures/mirror/mirror.ts',
  'smoke.realm': '~procedures/smoke/check-token.ts',
  'smoke.clientId': '~procedures/smoke/check-token.ts',
  applications: '~procedures/smoke/check-applications.ts',
  'compose.engine': '~platform/compose/engine.ts',
  'compose.project': '~platform/compose/containers.ts',
  'compose.proxy': '~platform/compose/definition.ts',
  'keycloak.managementUrl': '~platform/keycloak/service.ts',
  'keycloak.start': '~platform/keycloak/operator-command.ts',
  'keycloak.stop': '~platform/keycloak/operator-command.ts',
  'metrics.public': '~http/app/public-app.ts',
  'limits.bodyBytes': '~http/request/request-body.ts',
  'limits.adminBodyBytes': '~http/request/request-body.ts',
  IDKIT_ADMIN_USERNAME: '~admin/master/bootstrap.ts',
  IDKIT_ADMIN_PASSWORD: '~admin/master/bootstrap.ts',
  IDKIT_MASTER_KEY: '~config/master-key.ts',
  IDKIT_MASTER_KEY_OLD: '~procedures/rotate-master-key.ts',
  IDKIT_SMOKE_CLIENT_SECRET: '~procedures/smoke/check-token.ts',
  IDKIT_DATABASE_PASSWORD: '~config/postgres/password.ts',
};

/** Returns the files that apply a setting. */
export function filesOfSetting(name: string): string {
  return paths(found(SETTINGS, 'setting', name));
}

const ERRORS: Readonly<Record<ErrorCode, string>> = {
  IDKIT_USAGE: 'reported by ~cli/run-cli.ts, ~cli/flags.ts and the command itself',
  IDKIT_SETTING: 'reported by ~config/settings/load.ts, ~config/yaml/file.ts and ~config/environment/file.ts',
  IDKIT_DIRECTORY_MISSING: 'reported by ~config/paths.ts and ~cli/context.ts',
  IDKIT_DIRECTORY_NOT_WRITABLE: 'reported by ~files/system-errors.ts',
  IDKIT_ENV_READABLE: 'reported by ~config/environment/file.ts',
  IDKIT_MASTER_KEY_MISSING: 'reported by ~config/master-key.ts',
  IDKIT_MASTER_KEY_INVALID: 'reported by ~config/master-key.ts',
  IDKIT_MASTER_KEY_WRONG: 'reported by ~store/sealing/proofs.ts and ~store/sealing/seal.ts',
  IDKIT_IMPORT: 'reported by ~admin/import/import-realm.ts and ~admin/import/realm-files.ts',
  IDKIT_PORT_TAKEN: 'reported by ~service/listener/listen.ts',
  IDKIT_FAILED: 'reported by the operation that fails',
  IDKIT_NOT_FOUND: 'reported by ~backupset/set/handle.ts and ~client/admin/admin-client.ts',
  IDKIT_LOCKED: 'reported by ~config/lock/lock.ts',
  IDKIT_SERVICE_RUNNING: 'reported by ~service/lock.ts and ~platform/find-service.ts',
  IDKIT_CREDENTIALS:
    'reported by ~backupset/openpgp/environment.ts, ~client/admin/login.ts and ~postgres/faults.ts',
  IDKIT_PASSWORD_METHOD: 'reported by ~postgres/guarded-client.ts',
  IDKIT_DAMAGED: 'reported by ~backupset/faults.ts for the files of `src/backupset/`',
  IDKIT_DATABASE_DAMAGED: 'reported by ~store/sqlite/file.ts',
  IDKIT_VERSION:
    'reported by ~store/sqlite/schema-state.ts, ~store/postgres/schema-state.ts and ~backupset/set/manifest.ts',
  IDKIT_UNREACHABLE:
    'reported by ~client/admin/call-service.ts, ~postgres/faults.ts and ~procedures/smoke/call.ts',
  IDKIT_RESTORE_UNDONE: 'reported by ~procedures/restore/failure.ts',
  IDKIT_RESTORE_BROKEN: 'reported by ~procedures/restore/failure.ts and ~procedures/restore/leftovers.ts',
  IDKIT_NO_SPACE: 'reported by ~procedures/restore/disk-space.ts and ~files/system-errors.ts',
  IDKIT_CHANGED: 'reported by ~core/until-applied.ts',
  IDKIT_INTERRUPTED: 'reported by ~cli/main.ts',
  IDKIT_TERMINATED: 'reported by ~cli/main.ts',
  IDKIT_UNSEALED: 'reported by ~procedures/restore/verified-set.ts',
  IDKIT_BUG: 'reported by ~cli/exit.ts',
};

/** Returns the file that defines an error, and the files that report it. */
export function filesOfError(name: string): string {
  return `~core/catalogue.ts; ${found(ERRORS, 'error', name)}`;
}

/** A route, or a row of a route table. Its method and its URL or path identify it. */
interface Named {
  method: string;
  url?: string;
  path?: string;
}

const nameOf = ({ method, url, path }: Named): string => `${method} ${url ?? path}`;

const ROUTE_FILES: ReadonlyMap<string, string> = new Map(
  (
    [
      ['http/oidc/token-routes.ts', tokenRoutes],
      ['http/oidc/metadata-routes.ts', metadataRoutes],
      ['http/oidc/not-implemented.ts', notImplementedRoutes],
      ['http/browser/login-routes.ts', loginRoutes],
      ['http/browser/session-routes.ts', sessionRoutes],
      ['http/browser/account-routes.ts', accountRoutes],
      ['http/browser/resource-routes.ts', resourceRoutes],
      ['http/console/console-routes.ts', consoleRoutes],
      ['http/admin/not-implemented.ts', [...serverInfoRoutes, ...restRows]],
      ['http/admin/routes.ts', [{ method: 'GET', url: '/admin/:realm/console/whoami' }]],
      ['http/admin/realm-routes.ts', realmRows],
      ['http/admin/user-routes.ts', userRows],
      ['http/admin/client-routes.ts', clientRows],
      ['http/admin/role-routes.ts', roleRows],
      ['http/admin/group-routes.ts', groupRows],
      ['http/admin/event-routes.ts', eventRows],
      ['http/admin/component-routes.ts', componentRows],
    ] satisfies readonly (readonly [string, readonly Named[]])[]
  ).flatMap(([file, routes]) =>
    routes.map((route): [string, string] => [nameOf(route), code(`src/${file}`)]),
  ),
);

/** Returns the files that define these routes. */
export function filesOfRoutes(routes: readonly Named[]): string {
  const files = routes.map((route) => found(Object.fromEntries(ROUTE_FILES), 'route', nameOf(route)));
  return [...new Set(files)].join(' ');
}
