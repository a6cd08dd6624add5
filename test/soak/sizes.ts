import type { Side } from '../bench/scale/side.ts';

/** The sizes of the tables that the soak watches, in MB, and the sessions that are due and not yet removed. */
export interface Sizes {
  sessionsMB: number;
  eventsMB: number;
  othersMB: number;
  due: number;
  deadRows: number;
}

/** Reads the sizes of the tables with their partitions and indexes. */
export async function readSizes(side: Side): Promise<Sizes> {
  const cluster = side.cluster!;
  const rows = await cluster.sql<{ of: string; bytes: string; dead: string }>(
    `SELECT CASE WHEN c.relname ~ '^(user_session|token_family)' THEN 'sessions' WHEN c.relname ~ '^event' THEN 'events' ELSE 'others' END AS of,
       sum(pg_total_relation_size(c.oid)) AS bytes, sum(coalesce(n_dead_tup, 0)) AS dead
     FROM pg_class c LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace GROUP BY 1`,
    side.database,
  );
  const of = (name: string) => rows.find((row) => row.of === name);
  const megabytes = (name: string) => Math.round(Number(of(name)?.bytes ?? 0) / 1e6);
  const [due] = await cluster.sql<{ due: string }>(
    `SELECT count(*) AS due FROM user_session WHERE look_again < ${Math.floor(Date.now() / 3_600_000)}`,
    side.database,
  );
  return {
    sessionsMB: megabytes('sessions'),
    eventsMB: megabytes('events'),
    othersMB: megabytes('others'),
    due: Number(due!.due),
    deadRows: rows.reduce((sum, { dead }) => sum + Number(dead), 0),
  };
}
