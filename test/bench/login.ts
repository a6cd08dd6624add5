import { gzipSync } from 'node:zlib';
import type { BrowserOrder, BrowserResult } from './browser-load.ts';
import type { Effort, Measured } from './grants.ts';
import { baseline, LOAD_CORE, median, residentMegabytes, runPinned } from './measure.ts';
import { type Entry, makeDirectory, makeRealms, removeDirectory, startService } from './service.ts';

/** Number of signatures of a code exchange with `openid`: one for the access token and one for the ID token. */
const SIGNATURES = 2;

/** Runs browsers on the load's core. @throws Error for any unexpected response */
async function browse(order: BrowserOrder): Promise<BrowserResult> {
  const program = new URL('browser-load.ts', import.meta.url).pathname;
  const output = await runPinned(LOAD_CORE, process.execPath, [program], JSON.stringify(order));
  const result = JSON.parse(output) as BrowserResult;
  if (result.fault !== undefined) throw new Error(result.fault);
  return result;
}

/** Measures logins relative to bare Argon2, and code flows in an existing session relative to bare signing. */
export async function measureLogins(entry: Entry, effort: Effort): Promise<Measured[]> {
  const dir = makeDirectory();
  const service = await startService(entry, dir);
  try {
    await makeRealms(service.port);
    const logins: number[] = [];
    const turns: number[] = [];
    const flows: number[] = [];
    let rates = { logins: 0, turns: 0, flows: 0 };
    for (let round = 0; round <= effort.rounds; round += 1) {
      const seconds = round === 0 ? effort.warmUp : effort.seconds;
      const order = { port: service.port, realm: 'rs', connections: 16, seconds };
      const argon2 = await baseline('argon2', String(effort.seconds / 2));
      const login = await browse({ ...order, does: 'login' });
      const turn = await browse({ ...order, realm: 'guarded', does: 'login' });
      const sign = await baseline('sign', 'RS256', String(effort.seconds / 2));
      const flow = await browse({ ...order, does: 'sso' });
      if (round === 0) continue;
      logins.push(login.perSecond / argon2);
      flows.push(flow.perSecond / (sign / SIGNATURES));
      turns.push(turn.perSecond / argon2);
      rates = { logins: login.perSecond, turns: turn.perSecond, flows: flow.perSecond };
    }
    return [
      {
        row: 'complete login / bare Argon2',
        ratio: median(logins),
        detail: `${Math.round(rates.logins)}/s, ${logins.length} rounds`,
      },
      {
        row: 'complete logins of one user, one at a time / bare Argon2',
        ratio: median(turns),
        detail: `${Math.round(rates.turns)}/s, ${turns.length} rounds`,
      },
      {
        row: 'code flow with a login there / bare signing by its signatures',
        ratio: median(flows),
        detail: `${Math.round(rates.flows)}/s, ${SIGNATURES} signatures each, ${flows.length} rounds`,
      },
    ];
  } finally {
    await service.stop();
    removeDirectory(dir);
  }
}

/** Measures how much resident memory unfinished logins add to a service that is already warm. */
export async function measureOpenLogins(entry: Entry, count: number): Promise<Measured> {
  const dir = makeDirectory();
  const service = await startService(entry, dir);
  const order = { port: service.port, realm: 'rs', does: 'open', connections: 16 } as const;
  try {
    await makeRealms(service.port);
    await browse({ ...order, count: Math.ceil(count / 20) });
    const before = residentMegabytes(service.pid);
    const { perSecond } = await browse({ ...order, count });
    const after = residentMegabytes(service.pid);
    return {
      row: 'MB that open logins add',
      ratio: after - before,
      detail: `${count.toLocaleString('en')} open logins, ${Math.round(before)} MB before, ${Math.round(perSecond)} pages/s`,
    };
  } finally {
    await service.stop();
    removeDirectory(dir);
  }
}

/**
 * Measures the size in bytes of the login page with all its files, and of the console's first load after compression.
 */
export async function measurePages(entry: Entry): Promise<Measured[]> {
  const dir = makeDirectory();
  const service = await startService(entry, dir);
  const origin = `http://127.0.0.1:${service.port}`;
  const read = async (path: string): Promise<string> => {
    const answer = await fetch(`${origin}${path}`);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
    return answer.text();
  };
  try {
    await makeRealms(service.port);
    const query =
      'client_id=web&redirect_uri=http%3A%2F%2Fapp.example.test%2Fcb&response_type=code&scope=openid';
    const login = await read(`/realms/rs/protocol/openid-connect/auth?${query}`);
    const console_ = await read('/admin/master/console/');
    const linked = (page: string) =>
      [...page.matchAll(/(?:href|src)="([^"]+\.(?:css|js|svg|png))"/g)].map((match) => match[1]!);
    const parts = await Promise.all(linked(login).map((path) => read(path)));
    const assets = await Promise.all(linked(console_).map((path) => read(`/admin/master/console/${path}`)));
    const plain = [login, ...parts].reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    const gzipped = [console_, ...assets].reduce((sum, part) => sum + gzipSync(part, { level: 9 }).length, 0);
    return [
      {
        row: 'login page in all, kB',
        ratio: plain / 1000,
        detail: `page and ${parts.length} files, uncompressed`,
      },
      {
        row: 'console, first load, kB',
        ratio: gzipped / 1000,
        detail: `page and ${assets.length} files, gzipped`,
      },
    ];
  } finally {
    await service.stop();
    removeDirectory(dir);
  }
}
