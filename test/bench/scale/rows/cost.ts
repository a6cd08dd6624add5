import type { BrowserOrder, BrowserResult } from '../../browser-load.ts';
import { LOAD_CORE, load, runPinned } from '../../measure.ts';
import { inRounds, type Row, refresh, withServices } from '../bench.ts';
import type { Cluster } from '../cluster.ts';
import { processorSeconds } from '../processes.ts';

/** Processor time of the service and of Postgres for each request of a kind. */
export const costRow: Row = {
  name: 'cost',
  measure: (bench) =>
    withServices(
      bench,
      ({ small }) => [small],
      (running) =>
        inRounds(bench, bench.rounds, async ({ small, cluster }) => {
          const { port, pid } = running(small);
          const seconds = Math.max(3, bench.seconds * 2);
          const password = {
            port,
            method: 'POST' as const,
            path: '/realms/rs/protocol/openid-connect/token',
            form: 'grant_type=password&client_id=web&username=user1&password=Correct-Horse-1',
            connections: 2,
            seconds,
          };
          const job = {
            ...password,
            form: 'grant_type=client_credentials&client_id=job&client_secret=job-secret',
          };
          const kinds: Record<string, () => Promise<number>> = {
            'a refresh': async () => (await refresh(small, port, seconds)).requests,
            'a refresh at 100/s': async () => (await refresh(small, port, seconds, 100)).requests,
            'client credentials': async () => (await load(job)).requests,
            'a login by password grant': async () => (await load(password)).requests,
            'a complete login in a browser': () =>
              browse({ port, realm: 'rs', does: 'login', connections: 2, seconds }),
            'a login with an existing session': () =>
              browse({ port, realm: 'rs', does: 'sso', connections: 2, seconds }),
          };
          const figures: Record<string, { value: number; detail: string }> = {};
          for (const [kind, run] of Object.entries(kinds)) {
            await run();
            const [service, database] = [processorSeconds(pid), cluster ? processorSeconds(cluster.pid) : 0];
            const logged = await walBytes(cluster);
            const requests = await run();
            const written = ((await walBytes(cluster)) - logged) / requests;
            const cost = (since: number, root: number) =>
              ((processorSeconds(root) - since) * 1000) / requests;
            const detail = `${requests} in ${seconds} s`;
            figures[`${kind}: processor ms of the service`] = { value: cost(service, pid), detail };
            if (cluster)
              figures[`${kind}: processor ms of Postgres`] = {
                value: cost(database, cluster.pid),
                detail: `${Math.round(written)} bytes of write-ahead log`,
              };
          }
          return figures;
        }),
    ),
};

/** Returns how many bytes of write-ahead log the server has written. */
async function walBytes(cluster: Cluster | undefined): Promise<number> {
  if (cluster === undefined) return 0;
  const [row] = await cluster.sql<{ bytes: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS bytes`,
  );
  return Number(row!.bytes);
}

async function browse(order: BrowserOrder): Promise<number> {
  const program = new URL('../../browser-load.ts', import.meta.url).pathname;
  const output = await runPinned(LOAD_CORE, process.execPath, [program], JSON.stringify(order));
  const { done, fault } = JSON.parse(output) as BrowserResult;
  if (fault !== undefined) throw new Error(fault);
  return done;
}
