import { renderCount } from '../../core/index.ts';
import type { StatusReport } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';
import { given } from '../flags.ts';
import { renderPairs } from '../output/render-table.ts';
import { renderAge, renderBytes } from '../output/render-units.ts';

/** Separates the thousands, for example `1,000,000`. */
const GROUPED = new Intl.NumberFormat('en');

/** `idkit status` */
export function addStatus(program: CliCommand, run: Runner): void {
  program
    .command('status')
    .description('show the components, health, versions, last backup, last verification and key ages')
    .examples([['idkit status --json', 'as JSON for monitoring']])
    .action(
      run(async (context) => {
        const settings = await context.loadPlatform();
        const { status } = await import('../../procedures/index.ts');
        const { findings, failure, ...data } = await status(settings, context.procedure);
        return { data, text: renderStatus({ findings, ...data }), findings, ...given('failure', failure) };
      }),
    );
}

function renderStatus(report: StatusReport): string {
  const { service, database, lastBackup, lastVerify, masterKey } = report;
  const health = service.detail === undefined ? service.health : `${service.health} (${service.detail})`;
  const key = masterKey.set ? `set (${masterKey.source ?? 'unknown'})` : 'not set';
  const masterKeyRow: [string, unknown] = [
    'master key',
    masterKey.rotationUnfinished ? `${key}; a rotation is unfinished` : key,
  ];
  const pairs: [string, unknown][] = [
    ['directory', report.dir],
    ['platform', report.runtime],
    ['service', `${service.kind} ${service.version}`],
    ['address', service.baseUrl],
    ['health', health],
    ['database', `${database.kind} ${database.location}`],
    // Keycloak does not use idkit's master key.
    ...(service.kind === 'keycloak' ? [] : [masterKeyRow]),
    [
      'last backup',
      lastBackup === undefined
        ? 'none'
        : `${lastBackup.name}, ${renderAge(lastBackup.ageSeconds)} old, ${renderBytes(lastBackup.bytes)}${lastBackup.sealed ? '' : ', unsealed'}`,
    ],
    [
      'last verify',
      lastVerify === undefined ? 'never' : `${lastVerify.verdict}, ${lastVerify.name} at ${lastVerify.at}`,
    ],
  ];
  for (const { name, handled, left } of report.migrations)
    pairs.push(['migration', `${name}: ${renderShare(handled, left)}`]);
  for (const { name, state, health, restarts, image } of report.parts ?? [])
    pairs.push([name, `${state}, ${health}, ${renderCount(restarts, 'restart')}, ${image}`]);
  for (const { realm, users, keys, renewals, unenforced } of report.realms) {
    const shownKeys = keys
      .map((shown) => `${shown.algorithm}${shown.ageDays === undefined ? '' : ` ${shown.ageDays} d`}`)
      .join(', ');
    pairs.push([
      `realm ${realm}`,
      [
        users === undefined ? undefined : renderCount(users, 'user'),
        shownKeys === '' ? undefined : `keys ${shownKeys}`,
      ]
        .filter((part) => part !== undefined)
        .join('; '),
    ]);
    if (renewals !== undefined && renewals.good + renewals.failed > 0) {
      const all = renewals.good + renewals.failed;
      pairs.push(['', `${renewals.failed} of ${renderCount(all, 'renewal')} failed in the last 5 minutes`]);
    }
    for (const what of unenforced) pairs.push(['', `not enforced yet: ${what}`]);
  }
  return renderPairs(pairs);
}

/** Renders for example `412,000 of about 1,000,000 records handled`. */
function renderShare(handled: number, left: number | undefined): string {
  const all = left === undefined ? '' : ` of about ${GROUPED.format(handled + left)}`;
  return `${GROUPED.format(handled)}${all} records handled`;
}
