// Writes to a database with an archive until it is killed. Arguments: the directory, and settings as JSON. Each line of
// the ledger is one fact: `S n t` before the write n, `A n t` after it, with the time in milliseconds.
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Secret, systemRandom } from '../../src/core/index.ts';
import { ArchiveKeeper } from '../../src/service/archive/keeper.ts';
import { openKeyring } from '../../src/store/sealing/keyring.ts';
import { proofRow } from '../../src/store/sealing/proofs.ts';
import { Writer } from '../../src/store/sqlite/writer/writer.ts';

const [dir = '', options = '{}'] = process.argv.slice(2);
const {
  from,
  lanes = 8,
  archive,
  spoolBytes = 2 ** 30,
  restartBytes = 2 ** 20,
  padding = 600,
  pause = 10,
  keepMilliseconds = 86_400_000,
  writes,
} = JSON.parse(options);
const masterKey = new Secret(Buffer.alloc(32, 7).toString('base64'));
const file = join(dir, 'idkit.db');
const location = archive ?? join(dir, 'archive');
const state = join(dir, 'archive.json');
const silent = { info: () => {}, warn: () => {}, error: (facts: object) => console.error(facts) };
const keeper = new ArchiveKeeper(
  { file, location, masterKey, state, seconds: 1, spoolBytes, restartBytes, keepMilliseconds },
  silent,
);
const writer = await Writer.open(file, location === 'none' ? undefined : keeper);
await writer.call('run', { query: 'meta.put', values: proofRow(openKeyring(masterKey), systemRandom) });
const ledger = openSync(join(dir, 'ledger'), 'a');
let next = from;
let ending = false;
const write = async () => {
  while (!ending && (writes === undefined || next < from + writes)) {
    const n = next++;
    writeSync(ledger, `S ${n} ${Date.now()}\n`);
    await writer.call('run', {
      query: 'meta.put',
      values: { name: `n-${n}`, value: systemRandom.bytes(padding / 2).toString('hex') },
    });
    writeSync(ledger, `A ${n} ${Date.now()}\n`);
    if (pause > 0) await sleep(Math.random() * pause);
  }
};
const lane = Array.from({ length: lanes }, write);
process.stdout.write('ready\n');
process.once('SIGTERM', () => {
  ending = true;
});
await Promise.all(lane);
await writer.close();
