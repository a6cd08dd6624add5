import type { Effort, Measured } from './grants.ts';
import { load, median, residentMegabytes } from './measure.ts';
import { seedFamilies } from './seed.ts';
import { type Entry, logIn, makeDirectory, makeRealms, removeDirectory, startService } from './service.ts';

const USABLE = 20_000;

async function makePlatform(entry: Entry, families: number): Promise<{ dir: string; tokens: string[] }> {
  const dir = makeDirectory();
  const service = await startService(entry, dir);
  await makeRealms(service.port);
  const [token] = await logIn(service.port, 'rs', 1);
  await service.stop();
  return { dir, tokens: await seedFamilies(dir, token ?? '', families, Math.min(USABLE, families / 2)) };
}

/**
 * Measures refreshes in a database with many token families, relative to a database with few, and the resident memory
 * of the service with the large database.
 */
export async function measureScale(
  entry: Entry,
  effort: Effort,
  few: number,
  many: number,
): Promise<Measured[]> {
  const small = await makePlatform(entry, few);
  const large = await makePlatform(entry, many);
  const smallService = await startService(entry, small.dir);
  const largeService = await startService(entry, large.dir);
  const run = async (port: number, side: { tokens: string[] }, seconds: number) => {
    const result = await load({
      port,
      method: 'POST',
      path: '/realms/rs/protocol/openid-connect/token',
      form: 'grant_type=refresh_token&client_id=web',
      tokens: side.tokens,
      connections: 32,
      seconds,
    });
    side.tokens = result.tokens ?? [];
    return result.perSecond;
  };
  try {
    const ratios: number[] = [];
    let resident = 0;
    for (let round = 0; round <= effort.rounds; round += 1) {
      const seconds = round === 0 ? effort.warmUp : effort.seconds;
      const atFew = await run(smallService.port, small, seconds);
      const atMany = await run(largeService.port, large, seconds);
      resident = Math.max(resident, residentMegabytes(largeService.pid));
      if (round > 0) ratios.push(atMany / atFew);
    }
    const detail = `${many.toLocaleString('en')} over ${few.toLocaleString('en')} families`;
    return [
      { row: 'refresh at many families / at few', ratio: median(ratios), detail },
      {
        row: 'resident MB at many families under load',
        ratio: resident,
        detail: `${many.toLocaleString('en')} families`,
      },
    ];
  } finally {
    await smallService.stop();
    await largeService.stop();
    removeDirectory(small.dir);
    removeDirectory(large.dir);
  }
}
