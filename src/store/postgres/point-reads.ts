import type { Row } from '../rows.ts';
import { Batches } from './batches.ts';
import type { Connections } from './connections.ts';
import { readAgain } from './read-again.ts';
import { prepared } from './run-query.ts';

/** Ids of one statement at most. */
const LARGEST = 256;

/** Reads rows by id, those of many callers by one statement: a round trip costs more than the row. */
export function openPointReads(connections: Connections, query: string): Batches<string, Row | undefined> {
  return new Batches<string, Row | undefined>({
    largest: LARGEST,
    run: async (ids) => {
      const { rows } = await readAgain(connections, (client) =>
        client.query<Row>(prepared(query, { ids: [...new Set(ids)] })),
      );
      const byId = new Map(rows.map((row) => [row['id'], row]));
      return ids.map((id) => Promise.resolve(byId.get(id)));
    },
  });
}
