import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { openPlatform } from '../../platform/open.ts';
import type { ProcedureOptions } from '../run.ts';
import { call } from '../smoke/call.ts';
import type { StatusReport } from './report.ts';

type Renewals = NonNullable<StatusReport['realms'][number]['renewals']>;

/** What `status` reads from the metrics. */
export interface FoundMetrics {
  /** The refreshes of the last five minutes by realm. */
  renewals: ReadonlyMap<string, Renewals>;
  /** Time in seconds for which the oldest expired record has been due, by kind. */
  overdue: ReadonlyMap<string, number>;
}

const NOTHING: FoundMetrics = { renewals: new Map(), overdue: new Map() };

const SERIES = /^idkit_renewals_recent\{realm="((?:[^"\\]|\\.)*)",outcome="(good|failed)"\} (\d+)$/gm;
const OVERDUE = /^idkit_sweep_overdue_seconds\{kind="(\w+)"\} ([\d.e+]+)$/gm;

/** Reads the metrics of the service. Returns none and adds a note if the metrics are unavailable. */
export async function findMetrics(
  settings: Settings,
  baseUrl: string,
  options: ProcedureOptions,
  timeoutMilliseconds: number,
): Promise<FoundMetrics> {
  if (settings.service === 'keycloak') return NOTHING;
  const unknown = (why: string): FoundMetrics => {
    options.reporter.note(`the rate of failed renewals is unknown: ${why}`);
    return NOTHING;
  };
  const management = await (await openPlatform(settings)).service.managementUrl();
  const url = management ?? (settings.metrics.public ? baseUrl : undefined);
  if (url === undefined) return unknown('the service has no management listener for this machine');
  try {
    const { status, text } = await call(`${url}/metrics`, { signal: options.signal, timeoutMilliseconds });
    if (status !== 200) return unknown(`${url}/metrics responded with ${status}`);
    return { renewals: parseRenewals(text), overdue: parseOverdue(text) };
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

/** Parses the gauge `idkit_sweep_overdue_seconds` of a Prometheus text. */
export function parseOverdue(text: string): ReadonlyMap<string, number> {
  return new Map([...text.matchAll(OVERDUE)].map(([, kind, seconds]) => [kind!, Number(seconds)]));
}
