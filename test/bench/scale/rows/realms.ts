import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../../measure.ts';
import { inRounds, longestWait, type Row, withServices } from '../bench.ts';
import type { AdminCalls } from '../calls.ts';

/** Number of creations of which the median counts. One creation generates an RSA key, whose time varies. */
const SAMPLE = 20;

/** The creation of realms, and the list of all of them. */
export const realmsRow: Row = {
  name: 'realms',
  async measure(bench) {
    await withServices(
      bench,
      ({ realms }) => [realms],
      async (running) => {
        for (const { realms } of bench.sides)
          await createRealms(running(realms).calls, realms.dir, bench.realms);
      },
    );
    return withServices(
      bench,
      ({ realms }) => [realms],
      (running) =>
        inRounds(bench, 1, async ({ realms }) => {
          const { calls, port } = running(realms);
          let cold = 0;
          const wait = await longestWait(port, async () => {
            cold = (await calls.send('GET', '/admin/realms')).ms;
          });
          const warm = await calls.median('/admin/realms', 3);
          const brief = await calls.median('/admin/realms?briefRepresentation=true', 3);
          const { first, last } = JSON.parse(
            readFileSync(join(realms.dir, 'created.json'), 'utf8'),
          ) as Created;
          return {
            'list of all realms after a start, ms': { value: cold, detail: `${bench.realms} realms` },
            'list of all realms again, ms': { value: warm, detail: `brief ${Math.round(brief)} ms` },
            'list of all realms: longest wait of others, ms': { value: wait },
            'creation of the last realms / the first': {
              value: last / first,
              detail: `${Math.round(last)} ms over ${Math.round(first)} ms, medians of ${SAMPLE}`,
            },
          };
        }),
    );
  },
};

interface Created {
  first: number;
  last: number;
}

async function createRealms(calls: AdminCalls, dir: string, count: number): Promise<void> {
  const file = join(dir, 'created.json');
  if (existsSync(file)) return;
  const times: number[] = [];
  for (let index = 0; index < count; index += 1)
    times.push((await calls.send('POST', '/admin/realms', { realm: `realm-${index}`, enabled: true })).ms);
  const sample = Math.min(SAMPLE, Math.floor(count / 2));
  const created: Created = { first: median(times.slice(0, sample)), last: median(times.slice(-sample)) };
  writeFileSync(file, JSON.stringify(created));
}
