import type { ErrorCode } from '../../src/core/index.ts';
import { clientRows } from '../../src/http/admin/client-routes.ts';
import { componentRows } from '../../src/http/admin/component-routes.ts';
import { eventRows } from '../../src/http/admin/event-routes.ts';
import { groupRows } from '../../src/http/admin/group-routes.ts';
import { restRows, serverInfoRoutes } from '../../src/http/admin/not-implemented.ts';
import { outsideRoutes } from '../../src/http/admin/outside-routes.ts';
import { realmRows } from '../../src/http/admin/realm-routes.ts';
import { roleRows } from '../../src/http/admin/role-routes.ts';
import { deletedRealmRoutes, trashRows } from '../../src/http/admin/trash-routes.ts';
import { userRows } from '../../src/http/admin/user-routes.ts';
import {
  accountRoutes,
  loginRoutes,
  previewRoutes,
  resourceRoutes,
  sessionRoutes,
} from '../../src/http/browser/index.ts';
import { consoleRoutes } from '../../src/http/console/console-routes.ts';
import { metadataRoutes, notImplementedRoutes, tokenRoutes } from '../../src/http/oidc/index.ts';
import { themeRoutes } from '../../src/http/themes/index.ts';
import { SETTINGS } from './decided-settings.ts';
import { code, head, row } from './markdown.ts';

// Names the source files that decide the rules in the generated parts of the pages. In the texts below, `~cli/exit.ts`
// stands for `src/cli/exit.ts`. A command, setting, error or route for which this file names no source file makes the
// generation fail.

/** Replaces each `~path` with the path in code style, as the pages show it. */
export const paths = (text: string): string =>
  text.replaceAll(/~([\w./-]+\.ts)/g, (_, path: string) => code(`src/${path}`));

/** One rule, and the files that decide it. */
type Decision = readonly [rule: string, files: string];

/** The files that decide the rules of a section: a text that names one file, or a row for each rule. */
export type Decisions = string | readonly Decision[];

/** Returns the end of a section: the line "Decided in:" for one file, or a table for several rules. */
export const decidedIn = (decisions: Decisions): readonly string[] =>
  typeof decisions === 'string'
    ? [`Decided in: ${paths(decisions)}.`]
    : [...head('rule', 'decided in'), ...decisions.map(([rule, files]) => row(rule, paths(files)))];

function found<T>(files: Readonly<Record<string, T>>, kind: string, name: string): T {
  const decisions = files[name];
  if (decisions === undefined) throw new Error(`the ${kind} ${name} names no file in test/docs/decided.ts`);
  return decisions;
}

const command = (file: string): Decision => [
  'the command with its flags and examples',
  `~cli/commands/${file}`,
];

const SETTING_FLAGS: Decision = ['the flags that correspond to settings', '~config/settings/table.ts'];

const ADMIN: readonly Decision[] = [
  ['`--base-url`', '~cli/commands/admin/connect.ts'],
  ['`--realm`', '~cli/commands/admin/place.ts'],
  [
    'the response of the service',
    'the files that [Administrative API](../keycloak/admin-api.md) names for the operation',
  ],
];

/** The decisions of a kind of record that `idkit admin` manages. */
const noun = (...files: readonly string[]): Decisions => [
  [
    'the commands with their flags and examples',
    files.map((file) => `~cli/commands/admin/nouns/${file}.ts`).join(' and '),
  ],
  ['list, get, create, update and delete', '~cli/commands/admin/records/noun-commands.ts'],
  ...ADMIN,
];

const COMMANDS: Readonly<Record<string, Decisions>> = {
  init: [command('init.ts'), ['the files that the command writes', '~config/init.ts']],
  serve: [
    command('serve.ts'),
    ['the order of a start, and the base URL', '~service/server.ts'],
    SETTING_FLAGS,
    ['the management port', '~service/listener/listen.ts'],
    ['what several workers share', '~service/workers/workers.ts'],
    ['`--new-secrets`', '~admin/representation/missing-secrets.ts'],
  ],
  up: [
    command('up-down.ts'),
    ['the order of the containers', '~procedures/up-down.ts'],
    ['the start of one container', '~platform/compose/start.ts'],
  ],
  down: [
    command('up-down.ts'),
    ['the order of the containers', '~procedures/up-down.ts'],
    ['what `down` removes', '~platform/compose/service.ts'],
  ],
  backup: [
    command('backup.ts'),
    SETTING_FLAGS,
    ['`--only`', '~procedures/backup/options.ts'],
    ['the order of the steps', '~procedures/backup/runbook.ts'],
  ],
  verify: [
    command('verify.ts'),
    SETTING_FLAGS,
    ['which sets are verified', '~procedures/verify/find-sets.ts'],
    ['the age of a set', '~procedures/verify/runbook.ts'],
    ['the form of a duration', '~config/duration.ts'],
  ],
  restore: [
    command('restore.ts'),
    ['the order of the steps', '~procedures/restore/steps.ts'],
    ['when a failure causes a rollback', '~procedures/restore/failure.ts'],
    ['`--dry-run` and `--resume`', '~procedures/restore/runbook.ts'],
    ['`--abort`', '~procedures/restore/abort.ts'],
    ['`--keep-env` and `--trust-unsealed`', '~procedures/restore/verified-set.ts'],
    ['`--keep-config`', '~procedures/restore/stage.ts'],
    ['`--in-place` and `--confirm`', '~procedures/restore/preflight.ts'],
  ],
  drill: [
    command('drill.ts'),
    ['the steps, `--keep` and `--trust-unsealed`', '~procedures/drill/runbook.ts'],
    ['which set is the newest', '~procedures/verify/find-sets.ts'],
  ],
  smoke: [
    command('smoke.ts'),
    ['the list of checks', '~procedures/smoke/runbook.ts'],
    ['`--base-url` and `--realm`', '~procedures/smoke/service.ts'],
    ['`--deep`', '~procedures/smoke/check-administrator.ts'],
    ['`--junit`', '~procedures/smoke/junit.ts'],
  ],
  'admin realm': noun('realm', 'realm-file'),
  'admin user': noun('user', 'user-verbs'),
  'admin group': noun('group'),
  'admin role': noun('role'),
  'admin client': noun('client', 'client-verbs'),
  'admin client-scope': noun('client-scope'),
  'admin session': noun('session'),
  'admin event': noun('event'),
  'admin key': noun('key'),
  'admin component': noun('component'),
  'admin trash': [
    command('admin/trash.ts'),
    ['who may restore and erase what, and the texts of clashes', '~admin/trash/trash.ts'],
    ['what returns', '~store/verbs/restore-trash.ts'],
    ...ADMIN,
  ],
  'admin bulk': [
    command('admin/bulk/bulk.ts'),
    ['the formats of files', '~cli/input/records.ts'],
    ['the report of the lines, and exit codes 1 and 3', '~cli/commands/admin/bulk/run-bulk.ts'],
    ...ADMIN,
  ],
  'admin api': [
    command('admin/api.ts'),
    ['the exit code of a status', '~cli/commands/admin/response-fault.ts'],
    ...ADMIN,
  ],
  login: [
    command('login/login.ts'),
    ['the username, the password and the one-time password', '~cli/commands/login/read-credentials.ts'],
    ['the profile and the file of its session', '~config/profile/profiles.ts'],
  ],
  logout: [command('login/profile.ts'), ['the end of the session', '~client/admin/login.ts']],
  profile: [command('login/profile.ts'), ['the file of the profiles', '~config/profile/profiles.ts']],
  'admin token': [command('admin/token.ts'), ['`--base-url`', '~cli/commands/admin/connect.ts']],
  'backups list': [
    command('backups.ts'),
    SETTING_FLAGS,
    ['what the command lists', '~procedures/backups/list.ts'],
  ],
  'backups mirror': [
    command('backups-mirror.ts'),
    SETTING_FLAGS,
    ['what is copied', '~procedures/mirror/copy-set.ts'],
    ['`--delete`', '~procedures/mirror/mirror.ts'],
    ['`--read-all`', '~procedures/mirror/read-back.ts'],
  ],
  'backups prune': [
    command('backups.ts'),
    SETTING_FLAGS,
    ['the retention rule', '~backupset/retention/prune.ts'],
    ['`--dry-run`', '~procedures/backups/prune.ts'],
  ],
  'backups show': [
    command('inspect.ts'),
    ['what the command shows', '~procedures/inspect/show.ts, ~backupset/contents/survey.ts'],
  ],
  'backups diff': [
    command('inspect.ts'),
    ['the differences', '~procedures/inspect/diff.ts, ~backupset/contents/compare.ts'],
  ],
  'backups restore-item': [
    command('restore-item.ts'),
    ['the steps', '~procedures/inspect/restore-item.ts'],
    ['rights and clashes', '~admin/put-back/put-back.ts'],
  ],
  'master-key rotate': [command('master-key.ts'), ['the steps', '~procedures/rotate-master-key.ts']],
  'recover-admin': [
    command('recover-admin.ts'),
    ['the steps', '~procedures/recover-admin.ts'],
    ['the change in the database', '~admin/master/recover-administrator.ts'],
  ],
  schedule: [
    command('schedule.ts'),
    ['the jobs and their times', '~config/schedule/jobs.ts, ~config/settings/schedule-rows.ts'],
    ['what a job runs', '~procedures/schedule/timers.ts, ~procedures/schedule/run/work.ts'],
    ['when a job is due', '~procedures/schedule/run/due.ts'],
    ['locks, repetitions, results and pings of a job', '~procedures/schedule/run/run-job.ts'],
    ['hooks', '~procedures/schedule/run/hook.ts'],
    ['what is posted of a log', '~procedures/schedule/run/log-tail.ts'],
    ['the units', '~procedures/schedule/systemd.ts, ~procedures/schedule/sandbox.ts'],
    ['the cron lines', '~procedures/schedule/cron.ts'],
    ['the user, the paths, and what `install` writes', '~procedures/schedule/install.ts'],
    ['which files are never overwritten', '~procedures/schedule/owned-files.ts'],
  ],
  status: [
    command('status.ts'),
    ['what the command reports', '~procedures/status/status.ts'],
    ['the names of findings and warnings', '~config/settings/status-names.ts'],
    ['when a backup, verification or drill is a finding', '~procedures/status/judge-backups.ts'],
    ['when a realm has a finding or warning', '~procedures/status/judge-realms.ts'],
    ['`--prometheus`', '~procedures/status/render-metrics.ts'],
  ],
  doctor: [
    command('doctor.ts'),
    ['the list of checks', '~procedures/doctor/options.ts'],
    ['files, disks, programs, clock and ports', '~procedures/doctor/check-machine.ts'],
    ['the database', '~procedures/doctor/check-database.ts'],
    ['base URL, DNS, TLS and cookies', '~procedures/doctor/check-service.ts'],
    ['proxy headers', '~procedures/doctor/check-proxy.ts'],
    ['the content of `--bundle`', '~procedures/doctor/bundle.ts'],
    ['what `--bundle` hides', '~procedures/doctor/scrub.ts'],
  ],
  'config show': [
    command('config.ts'),
    ['the origin of a value, and hidden secrets', '~config/settings/show.ts'],
  ],
  'config themes': [
    command('config.ts'),
    [
      'the checks of a theme',
      '~http/themes/read-theme.ts, ~http/themes/parse-theme.ts, ~http/themes/logo-file.ts',
    ],
    ['the contrast of colours', '~http/themes/colors.ts'],
  ],
  completion: '~cli/commands/completion.ts',
  help: [command('help.ts'), ['the reference of all commands', '~cli/reference/text.ts']],
};

/** Returns the files that decide the rules of a command, such as `admin realm list`. */
export function filesOfCommand(path: string): Decisions {
  const words = path.split(' ');
  const [first = ''] = words;
  const group = words.slice(0, 2).join(' ');
  return found(
    COMMANDS,
    'command',
    COMMANDS[path] !== undefined ? path : COMMANDS[group] !== undefined ? group : first,
  );
}

/** The sections of the command reference that do not describe a command, each with the files that decide its rules. */
export const FILES_OF_PROGRAM: Readonly<Record<string, Decisions>> = {
  'Commands and their flags': [
    ['which commands exist, and their order', '~cli/commands/table.ts'],
    ['the purpose of a command', 'the file of the command'],
    ['the output of `idkit help --all`', '~cli/reference/text.ts'],
    ['the manual pages', '~cli/reference/man.ts'],
  ],
  'Flags of every command': [
    ['the list of these flags', '~cli/program.ts'],
    ['the effect of `--json`, `--no-color` and `--no-progress`', '~cli/run-cli.ts'],
    ['what `--quiet` hides', '~cli/output/text-output.ts, ~cli/output/json-output.ts'],
    ['`--timeout`', '~cli/context.ts'],
    ['`--dir`', '~config/paths.ts'],
    ['a stack trace', '~cli/output/output.ts'],
    ['`--yes`', 'the file of each command that asks for confirmation, for example ~cli/commands/restore.ts'],
  ],
  'Exit codes': [
    ['the list of exit codes', '~core/catalogue.ts'],
    ['which exit code ends a command', '~cli/exit.ts'],
  ],
};

/** Returns the files that apply a setting. */
export function filesOfSetting(name: string): string {
  return paths(found(SETTINGS, 'setting', name));
}

const ERRORS: Readonly<Record<ErrorCode, string>> = {
  IDKIT_USAGE: '~cli/run-cli.ts, ~cli/flags.ts and the file of the command',
  IDKIT_SETTING: '~config/settings/load.ts, ~config/yaml/file.ts and ~config/environment/file.ts',
  IDKIT_DIRECTORY_MISSING: '~config/paths.ts and ~cli/context.ts',
  IDKIT_DIRECTORY_NOT_WRITABLE: '~files/system-errors.ts',
  IDKIT_ENV_READABLE: '~config/environment/file.ts',
  IDKIT_MASTER_KEY_MISSING: '~config/master-key.ts',
  IDKIT_MASTER_KEY_INVALID: '~config/master-key.ts',
  IDKIT_MASTER_KEY_WRONG: '~store/sealing/proofs.ts and ~store/sealing/seal.ts',
  IDKIT_IMPORT: '~admin/import/import-realm.ts and ~admin/import/realm-files.ts',
  IDKIT_PORT_TAKEN: '~service/listener/listen.ts',
  IDKIT_FAILED: 'the file of the operation that fails',
  IDKIT_NOT_FOUND: '~backupset/set/handle.ts and ~client/admin/admin-client.ts',
  IDKIT_LOCKED: '~config/lock/lock.ts',
  IDKIT_SERVICE_RUNNING: '~service/lock.ts and ~platform/find-service.ts',
  IDKIT_CREDENTIALS: '~backupset/openpgp/environment.ts, ~client/admin/login.ts and ~postgres/faults.ts',
  IDKIT_PASSWORD_METHOD: '~postgres/guarded-client.ts',
  IDKIT_DAMAGED: '~backupset/faults.ts, for all files of `src/backupset/`',
  IDKIT_DATABASE_DAMAGED: '~store/sqlite/file.ts',
  IDKIT_VERSION:
    '~store/sqlite/schema-state.ts, ~store/postgres/schema-state.ts and ~backupset/set/manifest.ts',
  IDKIT_UNREACHABLE: '~client/admin/call-service.ts, ~postgres/faults.ts and ~procedures/smoke/call.ts',
  IDKIT_RESTORE_UNDONE: '~procedures/restore/failure.ts',
  IDKIT_RESTORE_BROKEN: '~procedures/restore/failure.ts and ~procedures/restore/leftovers.ts',
  IDKIT_NO_SPACE: '~procedures/restore/disk-space.ts and ~files/system-errors.ts',
  IDKIT_CHANGED: '~core/until-applied.ts',
  IDKIT_INTERRUPTED: '~cli/main.ts',
  IDKIT_TERMINATED: '~cli/main.ts',
  IDKIT_DRILL_LIVE: '~procedures/drill/live.ts',
  IDKIT_UNSEALED: '~procedures/restore/verified-set.ts',
  IDKIT_BUG: '~cli/exit.ts',
};

/** Returns the file that defines an error, and the files that report it. */
export function filesOfError(name: string): Decisions {
  return [
    ['the meaning, the exit code and the advice', '~core/catalogue.ts'],
    ['when the error is reported', found(ERRORS, 'error', name)],
  ];
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
      ['http/browser/preview-routes.ts', previewRoutes],
      ['http/themes/theme-routes.ts', themeRoutes],
      ['http/console/console-routes.ts', consoleRoutes],
      ['http/admin/not-implemented.ts', [...serverInfoRoutes, ...restRows]],
      ['http/admin/outside-routes.ts', outsideRoutes],
      ['http/admin/realm-routes.ts', realmRows],
      ['http/admin/user-routes.ts', userRows],
      ['http/admin/client-routes.ts', clientRows],
      ['http/admin/role-routes.ts', roleRows],
      ['http/admin/group-routes.ts', groupRows],
      ['http/admin/event-routes.ts', eventRows],
      ['http/admin/component-routes.ts', componentRows],
      ['http/admin/trash-routes.ts', [...trashRows, ...deletedRealmRoutes]],
    ] satisfies readonly (readonly [string, readonly Named[]])[]
  ).flatMap(([file, routes]) =>
    routes.map((route): [string, string] => [nameOf(route), code(`src/${file}`)]),
  ),
);

/** Returns the files that define these routes. */
export function filesOfRoutes(routes: readonly Named[]): string {
  const files = routes.map((route) => found(Object.fromEntries(ROUTE_FILES), 'route', nameOf(route)));
  return [...new Set(files)].join(', ');
}
