/**
 * `npm run bench [-- PART] [-- --quick] [-- --json FILE]` measures idkit and prints its ratios to baselines that the
 * same run measures. The measured program runs on one core and the load on another. PART (or `--only PART`) selects the
 * scenarios whose names contain it. `--quick` uses smaller data and fewer rounds, and its output says so. `npm run bench
 * -- scale` measures what grows with the size of the tables (scale/run.ts). `npm run bench -- tasks` compares the tasks of
 * an operator with Keycloak (tasks/run.ts). `npm run bench -- recovery` measures backups and restores (recovery-sets.ts).
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureBackup } from './backup.ts';
import { measureScale } from './families.ts';
import { type Measured, measureGrants, measureReadiness } from './grants.ts';
import { measureGroupCommit } from './group-commit.ts';
import { measureLogins, measureOpenLogins, measurePages } from './login.ts';
import { buildPackage } from './package.ts';
import { measurePostgres } from './postgres.ts';
import { measurePostgresBackup } from './postgres-backup.ts';
import { measureSets, renderSets } from './recovery-sets.ts';
import { runScale } from './scale/run.ts';
import { measureStart } from './start.ts';
import { TARGETS } from './targets.ts';
import { runTasks } from './tasks/run.ts';

if (process.argv[2] === 'scale') {
  await runScale(process.argv.slice(3));
  process.exit();
}
if (process.argv[2] === 'tasks') {
  await runTasks(process.argv.slice(3));
  process.exit();
}
if (process.argv[2] === 'recovery') {
  const { values: given } = parseArgs({
    args: process.argv.slice(3),
    options: { bytes: { type: 'string' } },
  });
  console.log(renderSets(await measureSets(await buildPackage(), Number(given.bytes ?? 500e6))));
  process.exit();
}
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, json: { type: 'string' } },
});
const quick = values.quick === true;
const only = values.only ?? positionals[0];
const effort = quick ? { rounds: 2, seconds: 0.6, warmUp: 0.6 } : { rounds: 5, seconds: 3, warmUp: 15 };
const entry = await buildPackage();

const scenarios: Record<string, () => Promise<Measured | Measured[]>> = {
  grants: () => measureGrants(entry, effort),
  login: async () => [
    ...(await measureLogins(entry, effort)),
    await measureOpenLogins(entry, quick ? 5000 : 100_000),
    ...(await measurePages(entry)),
  ],
  readiness: () => measureReadiness(entry, effort),
  start: () => measureStart(entry, effort),
  group: () => measureGroupCommit(entry, effort),
  families: () => measureScale(entry, effort, quick ? 20_000 : 100_000, quick ? 200_000 : 5_000_000),
  postgres: () => measurePostgres(entry, effort, quick ? 20_000 : 100_000, quick ? 200_000 : 5_000_000),
  'postgres-backup': () => measurePostgresBackup(entry, quick ? 1 : 3, quick ? 100e6 : 500e6),
  backup: () =>
    quick
      ? measureBackup(entry, 1, { bytes: 150e6, families: 20_000, seconds: 1.5 })
      : measureBackup(entry, 3, { bytes: 500e6, families: 200_000, seconds: 4 }),
};

const rows: Measured[] = [];
for (const [name, run] of Object.entries(scenarios)) {
  if (only !== undefined && !name.includes(only)) continue;
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
