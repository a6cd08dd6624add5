import type { Settings } from '../../config/index.ts';
import { IdkitError, renderCount } from '../../core/index.ts';
import { openPlatform } from '../../platform/open.ts';
import type { Finding, ProcedureOptions } from '../run.ts';
import { call } from '../smoke/call.ts';
import type { StatusReport } from './report.ts';

type Renewals = NonNullable<StatusReport['realms'][number]['renewals']>;

/** Maximum share of the renewals in the last 5 minutes that may have failed. */
const ALERT_SHARE = 0.05;

const SERIES = /^idkit_renewals_recent\{realm="((?:[^"\\]|\\.)*)",outcome="(good|failed)"\} (\d+)$/gm;

/**
 * Reads the refreshes of the last five minutes per realm from the metrics. Returns none and adds a note if the metrics
 * are unavailable.
 */
export async function findRenewals(
  settings: Settings,
  baseUrl: string,
  options: ProcedureOptions,
  timeoutMilliseconds: number,
): Promise<ReadonlyMap<string, Renewals>> {
  if (settings.service === 'keycloak') return new Map();
  const unknown = (why: string): ReadonlyMap<string, Renewals> => {
    options.reporter.note(`the rate of failed renewals is unknown: ${why}`);
    return new Map();
  };
  const management = await (await openPlatform(settings)).service.managementUrl();
  const url = management ?? (settings.metrics.public ? baseUrl : undefined);
  if (url === undefined) return unknown('the service has no management listener for this machine');
  try {
    const { status, text } = await call(`${url}/metrics`, { signal: options.signal, timeoutMilliseconds });
    return status === 200 ? parseRenewals(text) : unknown(`${url}/metrics responded with ${status}`);
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    return unknown(error.message);
  }
}

/** Parses the gauge `idkit_renewals_recent` of a Prometheus text. */
export function parseRenewals(text: string): ReadonlyMap<string, Renewals> {
  const byRealm = new Map<string, { good: number; failed: number }>();
  for (const [, label, outcome, count] of text.matchAll(SERIES)) {
    const realm = label!.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
    const figures = byRealm.get(realm) ?? { good: 0, failed: 0 };
    figures[outcome as 'good' | 'failed'] = Number(count);
    byRealm.set(realm, figures);
  }
  return byRealm;
}

/** Returns a finding for each realm above the limit. */
export function judgeRenewals(realms: StatusReport['realms']): readonly Finding[] {
  return realms.flatMap(({ realm, renewals }) => {
    const { good, failed } = renewals ?? { good: 0, failed: 0 };
    const all = good + failed;
    if (all === 0 || failed / all <= ALERT_SHARE) return [];
    const share = Math.round((100 * failed) / all);
    const message = `realm ${realm}: ${failed} of ${renderCount(all, 'renewal')} failed in the last 5 minutes (${share} %, the limit is 5 %)`;
    return [{ code: 'RENEWALS_FAILING', message }];
  });
}
