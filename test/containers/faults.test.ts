import { after, before, describe, type TestContext } from 'node:test';
import { missingEngine, startEngine } from './engines.ts';
import { partFaults } from './part-faults.ts';
import type { Place } from './place.ts';
import { makePlatform } from './platform.ts';
import { restoreFaults } from './restore-faults.ts';

// Each engine has one platform, which is tested with one fault after another. With IDKIT_TEST_EVERY=1, Podman runs
// every test; otherwise it runs only the tests whose results may differ from Docker.

for (const kind of ['docker', 'podman'] as const) {
  describe(`containers with ${kind}`, { skip: missingEngine(kind) ?? false }, () => {
    const ends: (() => unknown)[] = [];
    const own = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext;
    const place = {} as Place;
    const every = kind === 'docker' || process.env['IDKIT_TEST_EVERY'] === '1';
    before(async () => {
      place.engine = await startEngine(own, kind);
      place.platform = await makePlatform(own, place.engine);
    });
    after(async () => {
      for (const end of ends.reverse()) await end();
    });
    describe('faults of containers', () => partFaults(kind, place, every));
    describe('an interrupted restore', () => restoreFaults(place, every));
  });
}
