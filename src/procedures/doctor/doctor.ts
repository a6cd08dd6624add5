import { existsSync, readFileSync } from 'node:fs';
import { arch, availableParallelism, release, type as systemType, totalmem, userInfo } from 'node:os';
import { ownVersion, type Settings, showSettings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { openPlatform } from '../../platform/open.ts';
import { checkPlatform } from '../platform.ts';
import { isResponsive } from '../responsive.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import { writeBundle } from './bundle.ts';
import { checkDatabase } from './check-database.ts';
import { checkMachine } from './check-machine.ts';
import { checkService } from './check-service.ts';
import type { DoctorOptions, DoctorResult, MachineFacts } from './options.ts';
import { openPatient } from './patient.ts';

/**
 * Examines a platform and the machine that it runs on. Needs no running service. Changes nothing, except for small files
 * that it removes again and one login of the administrator. A failed check is a finding.
 *
 * @throws IDKIT_DIRECTORY_MISSING; with `bundle` also IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export async function doctor(settings: Settings, options: DoctorOptions): Promise<DoctorResult> {
  await checkPlatform(settings);
  const platform = await openPlatform(settings);
  const serviceUrl = await platform.service.baseUrl().catch((error) => {
    if (!(error instanceof IdkitError)) throw error;
    options.reporter.note(`the address of the service is unknown: ${error.message}`);
    return undefined;
  });
  const rootResponds = await isResponsive(settings.backup.root);
  const patient = openPatient(settings, options, { platform, serviceUrl, rootResponds });
  const machine = await checkMachine(patient);
  const database = await checkDatabase(patient);
  const service = await checkService(patient);
  const result = conclude(settings, [...machine, ...database.checks, ...service]);
  if (options.bundle === undefined) return result;
  return { ...result, bundle: await writeBundle(patient, result, options.bundle) };
}

function conclude(settings: Settings, checks: readonly SmokeCheck[]): DoctorResult {
  const count = (outcome: SmokeCheck['outcome']) =>
    checks.filter((check) => check.outcome === outcome).length;
  return {
    dir: settings.dir,
    machine: describeMachine(),
    settings: showSettings(settings).map(({ name, value, source }) => ({ name, value, source })),
    checks,
    passed: count('passed'),
    failed: count('failed'),
    notApplicable: count('not-applicable'),
    findings: checks
      .filter(({ outcome }) => outcome === 'failed')
      .map(({ id, subject, detail }) => ({
        code: id.toUpperCase().replaceAll('-', '_'),
        message: subject === undefined ? detail : `${subject}: ${detail}`,
      })),
  };
}

function describeMachine(): MachineFacts {
  const { node, openssl = '', sqlite = '' } = process.versions as Record<string, string>;
  return {
    idkit: ownVersion(),
    node: node ?? '',
    openssl,
    sqlite,
    system: [readSystemName(), `${systemType()} ${release()}`, arch()].join(', '),
    processors: availableParallelism(),
    memoryBytes: totalmem(),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    user: userInfo().username,
  };
}

function readSystemName(): string {
  const file = '/etc/os-release';
  if (!existsSync(file)) return 'unknown';
  return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 'unknown';
}
