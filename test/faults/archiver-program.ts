// Runs an archiver until the process is killed. Standard input contains its options, and each line of standard output is
// a state.
import { text } from 'node:stream/consumers';
import { deriveArchiveKeys } from '../../src/archive/index.ts';
import { parsePostgresUrl } from '../../src/config/index.ts';
import { Secret, systemClock, systemRandom } from '../../src/core/index.ts';
import { runArchiver } from '../../src/platform/postgres/archive/archiver.ts';
import { openTarget } from '../../src/target/index.ts';

const { url, password, location, masterKey } = JSON.parse(await text(process.stdin)) as Record<
  'url' | 'password' | 'location' | 'masterKey',
  string
>;
const ending = new AbortController();
process.on('SIGTERM', () => ending.abort());
await runArchiver({
  address: parsePostgresUrl(url),
  password: new Secret(password),
  target: await openTarget(location),
  keys: deriveArchiveKeys(new Secret(masterKey)),
  // The default of backup.archiveSeconds.
  everySeconds: 1,
  spoolBytes: 1024 ** 3,
  keepMilliseconds: 7 * 86_400_000,
  clock: systemClock,
  random: systemRandom,
  onState: ({ fault, ...state }) =>
    process.stdout.write(`${JSON.stringify({ ...state, fault: fault?.message })}\n`),
  signal: ending.signal,
});
