/**
 * `npm run bench [-- --quick] [-- --only TEXT] [-- --json FILE]`: ratios against baselines of the same run, on
 * one core with the load on another. `--quick` ends within two minutes with smaller data, marked as such.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { type Measured, measureGrants, measureReadiness } from './grants.ts';
import { buildPackage } from './package.ts';
import { measureStart } from './start.ts';
import { TARGETS } from './targets.ts';

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, json: { type: 'string' } },
});
const quick = values.quick === true;
const effort = quick ? { rounds: 2, seconds: 1 } : { rounds: 5, seconds: 3 };
const entry = await buildPackage();

const scenarios: Record<string, () => Promise<Measured | Measured[]>> = {
  grants: () => measureGrants(entry, effort),
  readiness: () => measureReadiness(entry, effort),
  start: () => measureStart(entry, effort),
};

const rows: Measured[] = [];
for (const [name, run] of Object.entries(scenarios)) {
  if (values.only !== undefined && !name.includes(values.only)) continue;
  process.stderr.write(`${name} …\n`);
  rows.push(...[await run()].flat());
}

const machine = `${cpus()[0]?.model ?? 'unknown processor'}, Node.js ${process.versions.node}`;
console.log(`${quick ? 'Quick run (smaller data, fewer rounds). ' : ''}${machine}\n`);
console.log('| | measured | must | aim | |\n|---|---|---|---|---|');
for (const { row, ratio, detail } of rows) {
  const target = TARGETS[row];
  console.log(
    `| ${row} | ${ratio.toPrecision(3)} | ${target?.must ?? ''} | ${target?.aim ?? ''} | ${detail} |`,
  );
}
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ machine, quick, rows }, null, 2)}\n`);
await entry.remove();
