// Runs one procedure on a platform directory in a separate process, for tests that kill it.
//   node run-procedure.ts backup|restore|drill DIR [--from SET] [--after STEP [--signal NAME]] [--in-place NAME]
//     [--flag resume|abort …]
// With --after the process sends itself a signal (default: SIGKILL) after that step, before the next one begins.
// It reads the passphrase from stdin.
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { loadSettings } from '../../src/config/index.ts';
import { IdkitError, Secret, systemClock, systemRandom } from '../../src/core/index.ts';
import { backup, drill, type ProcedureOptions, restore } from '../../src/procedures/index.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    after: { type: 'string' },
    signal: { type: 'string', default: 'SIGKILL' },
    'in-place': { type: 'string' },
    flag: { type: 'string', multiple: true, default: [] },
  },
});
const [procedure, dir] = positionals;
const passphrase = new Secret((await text(process.stdin)).trim());
const settings = await loadSettings({ dir, env: {}, flags: { 'listen.port': '0' } });
const interrupt = new AbortController();
process.on('SIGTERM', () => interrupt.abort(new IdkitError('IDKIT_TERMINATED', 'ended by SIGTERM')));
const nothing = () => undefined;
const options: ProcedureOptions = {
  reporter: {
    stepStarted: ({ id }) => console.error(`step ${id}`),
    stepProgress: nothing,
    stepFinished: nothing,
    stepFailed: nothing,
    note: nothing,
    finding: nothing,
  },
  clock: systemClock,
  random: systemRandom,
  signal: interrupt.signal,
  failpoint: (step) => {
    if (step === values.after) process.kill(process.pid, values.signal);
  },
};
const flags = Object.fromEntries(values.flag.map((name) => [name, true]));
const inPlace = values['in-place'];
const from = {
  ...(values.from === undefined ? {} : { from: values.from }),
  ...(inPlace === undefined ? {} : { inPlace }),
};
try {
  const result =
    procedure === 'backup'
      ? await backup(settings, {
          ...options,
          passphrase,
          ...(values.to === undefined ? {} : { to: values.to }),
        })
      : procedure === 'drill'
        ? await drill(settings, { ...options, passphrase, env: {}, ...flags })
        : await restore(settings, { ...options, passphrase, env: {}, ...from, ...flags });
  console.log(JSON.stringify(result));
} catch (error) {
  console.error(error);
  process.exitCode = error instanceof IdkitError ? error.exitCode : 70;
}
