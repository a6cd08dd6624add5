import { parentPort, workerData } from 'node:worker_threads';
import { deriveArchiveKeys, readArchiveState } from '../../archive/index.ts';
import { Secret } from '../../core/index.ts';
import { fileIdentity, LogTail } from '../../store/open.ts';
import { openTarget } from '../../target/index.ts';
import { continuesLog } from './continuity.ts';
import type { FromThread, ThreadData, ToThread } from './messages.ts';
import { Shipper } from './shipper.ts';

// The thread that ships the log of the database. It reads, compresses and encrypts, so the threads that answer requests
// do not.

/** Time in milliseconds between two checks of the size of the log. */
const LOOK_MS = 200;
/** Part of the interval after which the log is read, so that the transfer ends within it. */
const EARLY = 0.7;
/** The longest time in milliseconds for the rest at the end of the service. */
const DRAIN_MS = 10_000;
/** Time in milliseconds without a byte after which a transfer fails. */
const STALL_MS = 20_000;

const data = workerData as ThreadData;
const port = parentPort!;
const send = (message: FromThread) => port.postMessage(message);

const tail = new LogTail(data.file, data.gate);
const target = await openTarget(data.location, { stallMilliseconds: STALL_MS });
const known = await readArchiveState(data.state);
const { found } = data;
const continues = known !== undefined && continuesLog(known, found);
const shipper = new Shipper(
  tail,
  target,
  deriveArchiveKeys(new Secret(data.masterKey)),
  { ...data, now: Date.now, onFault: (warning) => send({ warning }) },
  { state: continues ? known : undefined, known },
);

const maintenance = setInterval(() => shipper.maintain(), LOOK_MS);
let running: Promise<void> = Promise.resolve();
let next: NodeJS.Timeout | undefined;
let ending = false;
const plan = () => {
  if (!ending) next = setTimeout(run, data.seconds * 1000 * EARLY);
};
const run = () => {
  running = shipper.round().then(() => {
    send({ state: shipper.state, logBytes: tail.logBytes });
    plan();
  });
};
run();

port.on('message', async (message: ToThread) => {
  if (message === 'drain') {
    ending = true;
    clearTimeout(next);
    const limit = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), DRAIN_MS).unref());
    const drained = await Promise.race([running.then(() => shipper.drain()), limit]);
    clearInterval(maintenance);
    tail.endCheckpoints();
    if (drained) tail.release();
    send({ drained });
  } else {
    tail.close();
    await shipper.finish(shipper.drained ? fileIdentity(data.file) : undefined);
    await target.close();
    send({ closed: true });
    port.close();
  }
});
