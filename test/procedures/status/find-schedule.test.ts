import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/index.ts';
import { renderSchedule, scheduleOptions } from '../../../src/procedures/index.ts';
import {
  findSchedule,
  judgeSchedule,
  type ScheduleSources,
} from '../../../src/procedures/status/find-schedule.ts';
import { makeDirectory } from '../platform.ts';

const NOW = Date.parse('2026-11-25T10:00:00Z');
const NOTHING: ScheduleSources = { cronFiles: [], run: async () => undefined };

test('finds the lines that idkit schedule prints in the files of cron, and ignores those of other platforms', async (t) => {
  const dir = await makeDirectory(t, 'timers');
  const settings = await loadSettings({ dir, env: {} });
  const cron = join(dir, 'cron.d');
  mkdirSync(cron);
  writeFileSync(join(cron, 'idkit'), renderSchedule(settings, 'cron', scheduleOptions(settings, {})));
  const other = { ...settings, dir: await makeDirectory(t, 'timers') };
  writeFileSync(join(cron, 'other'), renderSchedule(other, 'cron', scheduleOptions(other, {})));
  writeFileSync(
    join(cron, 'text'),
    'MAILTO=root\n0 1 * * * root /usr/sbin/backup --all\n# 0 1 * * * idkit backup\n',
  );
  const { source, runs } = await findSchedule(settings, NOW, { ...NOTHING, cronFiles: [cron] });
  assert.equal(source, 'installed');
  assert.deepEqual(
    runs.map(({ procedure, next }) => `${procedure} ${next}`),
    [
      'backup 2026-11-26T02:00:00.000Z',
      'backup 2026-11-26T02:30:00.000Z',
      'backup 2026-11-29T03:00:00.000Z',
      'backup 2026-11-29T03:15:00.000Z',
      'verify 2026-11-26T04:00:00.000Z',
      'retention 2026-11-26T03:45:00.000Z',
      'drill 2026-12-01T05:00:00.000Z',
    ],
  );
  assert.deepEqual(judgeSchedule({ source, runs }), []);
});

test('reads the timers of systemd, with their next run and the result of the last one', async (t) => {
  const dir = await makeDirectory(t, 'timers');
  const units: Record<string, string> = {
    'idkit*.timer': `Id=idkit-backup-database.timer
Unit=idkit-backup-database.service
ActiveState=active
NextElapseUSecRealtime=@1764122400

Id=idkit-drill.timer
Unit=idkit-drill.service
ActiveState=inactive
NextElapseUSecRealtime=@0
`,
    'idkit-backup-database.service': `Id=idkit-backup-database.service
ExecStart={ path=/usr/bin/idkit ; argv[]=/usr/bin/idkit --dir ${dir} backup --only database,env --quiet ; ignore_errors=no }
Result=exit-code
ExecMainStatus=19
`,
    'idkit-drill.service': `Id=idkit-drill.service
ExecStart={ path=/usr/bin/idkit ; argv[]=/usr/bin/idkit --dir ${dir} verify --latest --drill --quiet ; ignore_errors=no }
Result=success
ExecMainStatus=0
`,
  };
  const run: ScheduleSources['run'] = async (program, args) =>
    program === 'systemctl' && args[0] === '--system' ? units[args.at(-1)!] : undefined;
  const found = await findSchedule(await loadSettings({ dir, env: {} }), NOW, { cronFiles: [], run });
  assert.deepEqual(found, {
    source: 'installed',
    runs: [
      {
        procedure: 'backup',
        place: 'idkit-backup-database.timer',
        next: '2025-11-26T02:00:00.000Z',
        failed: 'exit-code, exit code 19',
      },
      { procedure: 'drill', place: 'idkit-drill.timer' },
    ],
  });
  const [judgement] = judgeSchedule(found);
  assert.equal(judgement?.code, 'SCHEDULE_FAILED');
  assert.match(judgement.message, /journalctl -u idkit-backup-database\.service/);
});

test('shows the times of the table and warns if no timer is installed', async (t) => {
  const settings = await loadSettings({ dir: await makeDirectory(t, 'timers'), env: {} });
  const found = await findSchedule(settings, NOW, NOTHING);
  assert.equal(found.source, 'none');
  assert.equal(found.runs[0]?.next, '2026-11-26T02:00:00.000Z');
  assert.deepEqual(
    judgeSchedule(found).map(({ level, code }) => `${level} ${code}`),
    ['warning SCHEDULE_MISSING'],
  );
});
