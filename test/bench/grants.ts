import type { LoadOrder } from './load.ts';
import { baseline, firstLine, load, median, SERVER_CORE, startPinned, stop } from './measure.ts';
import { type Entry, logIn, makeDirectory, makeRealms, removeDirectory, startService } from './service.ts';

/** One measured ratio. */
export interface Measured {
  row: string;
  ratio: number;
  /** The two values behind the ratio, as text. */
  detail: string;
}

/** How long and how often to measure. */
export interface Effort {
  rounds: number;
  /** Length of a measured window in seconds. */
  seconds: number;
  /**
   * Length in seconds of the first window of each kind of load, which does not count: Node.js optimizes a function only
   * after thousands of calls, whereas a service runs all day.
   */
  warmUp: number;
}

const TOKEN = (realm: string) => `/realms/${realm}/protocol/openid-connect/token`;

function clientCredentials(port: number, realm: string, seconds: number): LoadOrder {
  const form = 'grant_type=client_credentials&client_id=job&client_secret=job-secret';
  return { port, method: 'POST', path: TOKEN(realm), form, connections: 32, seconds };
}

function refresh(port: number, realm: string, tokens: string[], seconds: number): LoadOrder {
  const form = 'grant_type=refresh_token&client_id=web';
  return { port, method: 'POST', path: TOKEN(realm), form, tokens, connections: 32, seconds };
}

function password(port: number, realm: string, seconds: number): LoadOrder {
  const form = 'grant_type=password&client_id=web&username=ada&password=Correct-Horse-1';
  return { port, method: 'POST', path: TOKEN(realm), form, connections: 16, seconds };
}

/**
 * Measures the grants on one core relative to bare signing, bare Argon2 and node-oidc-provider, which are measured in
 * the same rounds.
 */
export async function measureGrants(entry: Entry, effort: Effort): Promise<Measured[]> {
  const dir = makeDirectory();
  const service = await startService(entry, dir);
  const peer = startPinned(SERVER_CORE, process.execPath, [
    new URL('baseline-oidc-provider.ts', import.meta.url).pathname,
    '400',
  ]);
  peer.stderr?.resume();
  try {
    const peerSeed = await firstLine<{ port: number; tokens: string[] }>(peer);
    await makeRealms(service.port);
    let tokens = await logIn(service.port, 'rs', 128);
    let peerTokens = peerSeed.tokens;
    const ratios = new Map<string, number[]>();
    const rates = new Map<string, number[]>();
    const note = (into: Map<string, number[]>, name: string, value: number) =>
      into.set(name, [...(into.get(name) ?? []), value]);
    for (let round = 0; round <= effort.rounds; round += 1) {
      const seconds = round === 0 ? effort.warmUp : effort.seconds;
      const rs = await baseline('sign', 'RS256', String(seconds / 2));
      const cc = (await load(clientCredentials(service.port, 'rs', seconds))).perSecond;
      const peerForm = 'client_id=job&client_secret=job-secret';
      const peerCc = await load({
        ...clientCredentials(peerSeed.port, 'rs', seconds),
        path: '/token',
        form: `grant_type=client_credentials&scope=read&${peerForm}`,
      });
      const refreshed = await load(refresh(service.port, 'rs', tokens, seconds));
      tokens = refreshed.tokens ?? [];
      const peerRefreshed = await load({
        ...refresh(peerSeed.port, 'rs', peerTokens, seconds),
        path: '/token',
        form: `grant_type=refresh_token&${peerForm}`,
      });
      peerTokens = peerRefreshed.tokens ?? [];
      const es = await baseline('sign', 'ES256', String(seconds / 2));
      const esCc = (await load(clientCredentials(service.port, 'es', seconds))).perSecond;
      const argon2 = await baseline('argon2', String(seconds / 2));
      const logins = (await load(password(service.port, 'rs', seconds))).perSecond;
      if (round === 0) continue;
      note(ratios, 'client credentials RS256 / bare signing', cc / rs);
      note(ratios, 'refresh RS256, durable / bare signing', refreshed.perSecond / rs);
      note(ratios, 'client credentials ES256 / bare signing', esCc / es);
      note(ratios, 'password grant / bare Argon2', logins / argon2);
      note(ratios, 'client credentials RS256 / node-oidc-provider', cc / peerCc.perSecond);
      note(ratios, 'refresh RS256 / node-oidc-provider', refreshed.perSecond / peerRefreshed.perSecond);
      note(rates, 'client credentials RS256 / bare signing', cc);
      note(rates, 'refresh RS256, durable / bare signing', refreshed.perSecond);
      note(rates, 'client credentials ES256 / bare signing', esCc);
      note(rates, 'password grant / bare Argon2', logins);
      note(rates, 'client credentials RS256 / node-oidc-provider', cc);
      note(rates, 'refresh RS256 / node-oidc-provider', refreshed.perSecond);
    }
    return [...ratios].map(([row, values]) => ({
      row,
      ratio: median(values),
      detail: `${Math.round(median(rates.get(row) ?? []))}/s, ${values.length} rounds`,
    }));
  } finally {
    await stop(peer);
    await service.stop();
    removeDirectory(dir);
  }
}

/**
 * Measures the median latency of `/health/ready` while logins saturate the core, relative to that of an idle service.
 */
export async function measureReadiness(entry: Entry, effort: Effort): Promise<Measured> {
  const dir = makeDirectory();
  const service = await startService(entry, dir);
  try {
    await makeRealms(service.port);
    const probe: LoadOrder = {
      port: service.port,
      method: 'GET',
      path: '/health/ready',
      connections: 1,
      seconds: effort.seconds,
      rate: 50,
    };
    await load(password(service.port, 'rs', 1));
    const ratios: number[] = [];
    let detail = '';
    for (let round = 0; round < effort.rounds; round += 1) {
      const idle = await load(probe);
      const saturating = load(password(service.port, 'rs', effort.seconds + 1.5));
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const busy = await load(probe);
      await saturating;
      ratios.push(busy.p50 / idle.p50);
      detail = `${idle.p50.toFixed(2)} ms idle, ${busy.p50.toFixed(2)} ms saturated`;
    }
    return { row: '/health/ready under password logins / idle', ratio: median(ratios), detail };
  } finally {
    await service.stop();
    removeDirectory(dir);
  }
}
