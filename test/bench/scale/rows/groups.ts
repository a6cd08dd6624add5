import { type Figure, measureLarge, ms, type Row } from '../bench.ts';
import type { RunningSide } from '../side.ts';

/** Number of members of the group. */
const MEMBERS = 100_000;

/** The members of a group of 100,000. */
export const groupsRow: Row = {
  name: 'groups',
  async measure(bench) {
    const groups = new Map<string, string>();
    for (const { program, large } of bench.sides) {
      const service = await large.start();
      const id = await makeGroup(service).finally(() => service.stop());
      groups.set(program.name, id);
      await large.fill((into) => into.members(id, MEMBERS));
    }
    return measureLarge(bench, 1, async ({ calls }, large) => {
      const path = `/admin/realms/rs/groups/${groups.get(large.program.name)}/members`;
      const figures: Record<string, Figure> = {};
      for (const [line, query] of [
        ['first page', '?max=100'],
        ['page at offset 90 %', `?first=${MEMBERS * 0.9}&max=100`],
      ] as const) {
        const first = await calls.time('GET', path + query);
        figures[`members of a group of 100,000: ${line}, ms`] = {
          value: await calls.median(path + query, 5),
          detail: `first time ${ms(first.ms)}`,
        };
      }
      return figures;
    });
  },
};

/** Returns the id of the group, which an earlier run may have made. */
async function makeGroup({ calls }: RunningSide): Promise<string> {
  const known = await calls.get<{ id: string }[]>('/admin/realms/rs/groups?search=crowd');
  if (known[0] !== undefined) return known[0].id;
  await calls.send('POST', '/admin/realms/rs/groups', { name: 'crowd' });
  return (await calls.get<{ id: string }[]>('/admin/realms/rs/groups?search=crowd'))[0]!.id;
}
