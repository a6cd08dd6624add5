import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { databaseFile } from '../../seed.ts';
import { inRounds, ms, type Row, refresh, withServices } from '../bench.ts';
import type { Side } from '../side.ts';

/** The longest time in seconds that the sweeper gets to start, and to remove expired sessions. */
const START_SECONDS = 100;
const SWEEP_SECONDS = 60;

/** Removes expired sessions, among them one that is due but lives, while refreshes arrive at 100/s. */
export const sweepRow: Row = {
  name: 'sweep',
  async measure(bench) {
    for (const { large } of bench.sides) {
      const expired = Math.min(500_000, Math.max(5000, Math.floor(large.plan.sessions / 10)));
      const left = await countDue(large);
      if (left < expired / 2)
        await large.addSessions({
          from: 1e9 + Math.floor(Date.now() / 1000) * 1000,
          count: expired,
          users: large.plan.users,
          expired: true,
        });
      await makeOneDue(large);
    }
    return inRounds(bench, 1, (sides) =>
      withServices(
        { ...bench, sides: [sides] },
        ({ large }) => [large],
        async (running) => {
          const { large } = sides;
          const { port } = running(large);
          const before = await countDue(large);
          await refresh(large, port, 3, 100);
          const without = await refresh(large, port, bench.seconds * 3, 100);
          const since = performance.now();
          while ((await countDue(large)) >= before && performance.now() - since < START_SECONDS * 1000)
            await pause(20);
          const began = performance.now();
          const start = await countDue(large);
          const loaded = refresh(large, port, bench.seconds * 3, 100);
          let left = start;
          let ended = began;
          while (left > 1 && performance.now() - began < SWEEP_SECONDS * 1000) {
            await pause(200);
            left = await countDue(large);
            ended = performance.now();
          }
          const during = await loaded;
          return {
            'expired sessions swept per second': {
              value: ((start - left) * 1000) / (ended - began),
              detail: `${start - left} of ${before} in ${((ended - began) / 1000).toFixed(1)} s`,
            },
            'refresh p99 while sweeping / without': {
              value: during.p99 / without.p99,
              detail: `${ms(during.p99)} over ${ms(without.p99)} at 100/s`,
            },
          };
        },
      ),
    );
  },
};

const due = () => `look_again <= ${Math.floor(Date.now() / 3_600_000)}`;

async function countDue(side: Side): Promise<number> {
  const query = `SELECT count(*) AS due FROM user_session WHERE ${due()}`;
  if (side.cluster) return Number((await side.cluster.sql<{ due: string }>(query, side.database))[0]!.due);
  return onFile(side, (database) => Number(database.prepare(query).get()!['due']));
}

/** Marks one living session as due, so that each batch contains a session that stays. */
async function makeOneDue(side: Side): Promise<void> {
  const update = `UPDATE user_session SET look_again = 0 WHERE id IN (SELECT id FROM user_session WHERE NOT (${due()}) LIMIT 1)`;
  if (side.cluster) await side.cluster.sql(update, side.database);
  else onFile(side, (database) => database.exec(update));
}

function onFile<T>(side: Side, run: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(databaseFile(side.dir), { timeout: 10_000 });
  try {
    return run(database);
  } finally {
    database.close();
  }
}
