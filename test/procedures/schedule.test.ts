import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadSettings } from '../../src/config/index.ts';
import { renderSchedule } from '../../src/procedures/index.ts';
import { makeDirectory } from './platform.ts';

describe('schedule', () => {
  it('prints cron lines for the database, realms, configuration, environment, verify and drill', async (t) => {
    const settings = await loadSettings({ dir: await makeDirectory(t, 'schedule'), env: {} });
    const text = renderSchedule(settings, { format: 'cron', command: '/usr/bin/idkit' });
    const jobs = text.split('\n').filter((line) => /^[\d*]/.test(line));
    assert.deepEqual(
      jobs.map((line) => line.replace(/^((?:\S+ ){5}).*?--dir \S+ /, '$1')),
      [
        '0 2 * * * backup --only database,env --quiet',
        '30 2 * * * backup --only realms --quiet',
        '0 3 * * 0 backup --only config --quiet',
        '15 3 * * 0 backup --only env --quiet',
        '0 4 * * * verify --latest --max-age 26h --quiet',
        '0 5 1 * * verify --latest --drill --quiet',
      ],
    );
    assert.match(text, /^CRON_TZ=UTC$/m);
  });

  it('prints a service and a timer for each procedure; the timers use UTC and catch up after a missed run', async (t) => {
    const settings = await loadSettings({ dir: await makeDirectory(t, 'schedule'), env: {} });
    const text = renderSchedule(settings, { format: 'systemd', command: '/usr/bin/idkit' });
    const calendars = [...text.matchAll(/^OnCalendar=(.*)$/gm)].map(([, calendar]) => calendar);
    assert.equal(calendars.length, 6);
    assert.ok(calendars.every((calendar) => calendar?.endsWith(' UTC')));
    assert.equal(calendars[0], '*-*-* 02:00:00 UTC');
    assert.equal([...text.matchAll(/^Persistent=true$/gm)].length, 6);
  });

  it('orders the services, so that services that systemd starts together run one after the other', async (t) => {
    const settings = await loadSettings({ dir: await makeDirectory(t, 'schedule'), env: {} });
    const text = renderSchedule(settings, { format: 'systemd', command: '/usr/bin/idkit' });
    const names = [...text.matchAll(/^# \S+\/(idkit-\S+\.service)$/gm)].map(([, name]) => name);
    const orders = [...text.matchAll(/^After=(.*)$/gm)].map(([, order]) => order);
    assert.deepEqual(
      orders,
      names.slice(1).map((_, index) => names.slice(0, index + 1).join(' ')),
    );
  });

  it('quotes a directory with spaces and special characters for each format', async (t) => {
    const dir = `${await makeDirectory(t, 'schedule')}/it's 100% $x`;
    const settings = await loadSettings({ dir, env: {} });
    const cron = renderSchedule(settings, { format: 'cron', command: 'idkit' });
    assert.ok(cron.includes(`it'\\''s 100\\% $x' backup`), cron);
    const systemd = renderSchedule(settings, { format: 'systemd', command: 'idkit' });
    assert.ok(systemd.includes(`it's 100%% $$x" backup`), systemd);
  });
});
