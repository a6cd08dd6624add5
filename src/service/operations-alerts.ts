import type { Operations, OperationsAlert } from '../http/index.ts';

/** Share of failed refreshes above which an alert fires. */
const FAILED_SHARE = 0.05;
/** Time in seconds for which expired records may be due. */
const OVERDUE_SECONDS = 30 * 60;
/** A restore writes the database a second time, and some working files. */
const ROOM_FACTOR = 1.2;

/** Lists what needs an operator, the worst first. */
export function findAlerts(known: Omit<Operations, 'alerts'>): readonly OperationsAlert[] {
  const alerts = [...backupAlerts(known), ...databaseAlerts(known), ...renewalAlerts(known)];
  return alerts.toSorted(
    (one, other) => Number(other.severity === 'critical') - Number(one.severity === 'critical'),
  );
}

function* backupAlerts({ backups, schedule }: Omit<Operations, 'alerts'>): Generator<OperationsAlert> {
  const { overview, problem, root } = backups;
  if (overview === undefined) {
    yield {
      name: 'BackupsUnreadable',
      severity: 'critical',
      summary: `the service cannot read the backup root ${root}: ${problem ?? 'unknown reason'}`,
      advice: 'let the user of the service read the backup root',
    };
    return;
  }
  const whole = overview.sets.filter((set) => set.whole && !set.future);
  const [newest] = whole;
  if (newest === undefined) {
    yield {
      name: 'BackupMissing',
      severity: 'critical',
      summary: `the backup root ${root} has no set with the database`,
      advice: 'run idkit backup, and install its timers: idkit schedule',
    };
    return;
  }
  if (newest.state === 'bad')
    yield {
      name: 'BackupDamaged',
      severity: 'critical',
      summary: `the newest set ${newest.name} is damaged`,
      advice: 'run idkit backup, and find out what changed the files of the set',
    };
  const late = new Map(schedule.map((row) => [row.id, row]));
  if (late.get('backup-database')?.late === true)
    yield {
      name: 'BackupOld',
      severity: 'critical',
      summary: `the newest set ${newest.name} is older than 26 hours`,
      advice: 'check the timer of idkit backup',
    };
  for (const row of schedule) {
    if (row.last?.outcome === 'failed')
      yield {
        name: failureName(row.id),
        severity: 'critical',
        summary: `${row.title} failed: ${row.last.messages[0] ?? 'no reason was recorded'}`,
        advice: 'run it in a terminal, and read its findings',
      };
    else if (row.late && (row.id === 'verify' || row.id === 'drill'))
      yield {
        name: row.id === 'verify' ? 'VerifyLate' : 'DrillLate',
        severity: 'warning',
        summary:
          row.last === undefined
            ? `${row.title} has never run`
            : `${row.title} ran last on ${row.last.at.slice(0, 10)}`,
        advice: row.id === 'verify' ? 'run idkit verify' : 'run idkit drill',
      };
    else if (row.late && row.next !== undefined && row.id !== 'backup-database')
      yield {
        name: 'JobOverdue',
        severity: 'warning',
        summary: `${row.title} had no good run in time`,
        advice: `run idkit schedule run --job ${row.id}, and check what runs the schedule`,
      };
  }
}

function failureName(id: string): string {
  if (id.startsWith('backup-')) return 'BackupFailed';
  return id === 'drill' ? 'DrillFailed' : id === 'verify' ? 'VerifyFailed' : 'JobFailed';
}

function* databaseAlerts({ database }: Omit<Operations, 'alerts'>): Generator<OperationsAlert> {
  const { figures, freeBytes, due } = database;
  if (figures === undefined)
    yield {
      name: 'DatabaseUnavailable',
      severity: 'critical',
      summary: 'the database does not respond',
      advice: 'check the database server, and the log of the service',
    };
  else if (freeBytes !== undefined && freeBytes < figures.bytes * ROOM_FACTOR)
    yield {
      name: 'DiskLow',
      severity: 'warning',
      summary: 'the file system of the database has less free space than a restore needs',
      advice: 'free some space, or move the platform directory',
    };
  const overdue = due.filter(({ overdueSeconds }) => overdueSeconds > OVERDUE_SECONDS);
  if (overdue.length > 0)
    yield {
      name: 'SweepBehind',
      severity: 'warning',
      summary: `expired records have been due for more than half an hour: ${overdue.map(({ kind }) => kind).join(', ')}`,
      advice: 'check whether the database is overloaded',
    };
}

function* renewalAlerts({ renewals }: Omit<Operations, 'alerts'>): Generator<OperationsAlert> {
  for (const { realm, good, failed } of renewals) {
    const all = good + failed;
    if (all === 0 || failed / all <= FAILED_SHARE) continue;
    yield {
      name: 'RenewalsFailing',
      severity: 'critical',
      summary: `realm ${realm}: ${failed} of ${all} refreshes in the last 5 minutes failed`,
      advice: 'read the events REFRESH_TOKEN_ERROR of the realm',
    };
  }
}
