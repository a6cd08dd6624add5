import type { Settings } from '../../config/index.ts';
import type { ServiceLog } from '../../http/index.ts';
import { drainMilliseconds } from '../listener/drain.ts';
import {
  findManagementPlace,
  type Purpose,
  type ReservedPort,
  reservePort,
  type SharedPort,
  takeUnlessTaken,
} from '../listener/listen.ts';
import { recordService } from '../lock.ts';
import type { RunningService } from '../start.ts';
import type { WorkerPorts } from './messages.ts';
import { Workers } from './workers.ts';

const SILENT: ServiceLog = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * Starts processes that listen on the same socket, and replaces processes that end. Each of them runs this program with
 * the same command line.
 *
 * @throws the errors of `startService`
 */
export async function startWorkers(
  settings: Settings,
  count: number,
  log: ServiceLog = SILENT,
): Promise<RunningService> {
  const began = performance.now();
  const { ports, notes, release } = await reservePorts(settings);
  const lock = await recordService(settings);
  const workers = new Workers(ports, log);
  try {
    // The first worker starts before the others, because it may have to create realm `master`.
    const first = await workers.start();
    await Promise.all(Array.from({ length: count - 1 }, () => workers.start()));
    await lock.note(first.listening);
    const startedInMilliseconds = Math.round(performance.now() - began);
    const { address, managementUrl } = first;
    log.info(
      { address, managementUrl, workers: count, milliseconds: startedInMilliseconds },
      'all workers ready',
    );
    let closing: Promise<void> | undefined;
    const close = async () => {
      await workers.stop(drainMilliseconds(settings), release);
      await lock.release();
      log.info({}, 'stopped');
    };
    return {
      ...first,
      notes: [...notes, ...first.notes],
      startedInMilliseconds,
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    await workers.stop(0, release);
    await lock.release();
    throw error;
  }
}

/** Reserves the ports that the workers share, and holds them until `release`. */
async function reservePorts({ listen }: Settings) {
  const reserved: ReservedPort[] = [];
  const release = () => {
    for (const one of reserved.splice(0)) one.release();
  };
  const reserve = async (host: string, number: number, purpose: Purpose): Promise<SharedPort> => {
    const { port, fd } = await reservePort(host, number, purpose);
    return fd === undefined ? { port } : { port, fd };
  };
  const notes: string[] = [];
  const ports: WorkerPorts = { public: await reserve(listen.host, listen.port, 'public') };
  const wanted = findManagementPlace({ listen });
  const found =
    wanted && (await takeUnlessTaken(wanted, notes, () => reserve(wanted.host, wanted.port, 'management')));
  if (wanted !== undefined && found !== undefined) ports.management = { ...wanted, ...found };
  return { ports, notes, release };
}
