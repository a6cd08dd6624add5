import type { DatabaseInspection, StoreStatus } from '../../platform/index.ts';
import { newestSchemaVersion } from '../../platform/open.ts';
import { DoesNotApply } from '../smoke/check.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import { fault, type Patient } from './patient.ts';

/** Difference of two clocks in milliseconds from which tokens may count as expired, or as issued in the future. */
export const MOST_DRIFT = 5_000;

/** Checks the settings, the clock and the schema of the database. */
export async function checkDatabase(
  patient: Patient,
): Promise<{ checks: readonly SmokeCheck[]; settings: DatabaseInspection['settings'] }> {
  const { platform, settings } = patient;
  let inspection: DatabaseInspection | undefined;
  const checks = [
    await patient.check('database-settings', async () => {
      inspection = await platform.database.inspect();
      if (inspection.faults.length > 0) throw fault(inspection.faults.join('; '));
      if (inspection.settings.length === 0) throw new DoesNotApply('the database does not exist yet');
      return inspection.settings.map(({ name, value }) => `${name}: ${value}`).join(', ');
    }),
    await patient.check('database-clock', async () => {
      const offset = inspection?.clockOffsetMilliseconds;
      if (offset === undefined)
        throw new DoesNotApply('the database has no clock of its own, or does not respond');
      return describeDrift(offset, 'database');
    }),
    await patient.check('database-schema', async () => {
      if (settings.service === 'keycloak') throw new DoesNotApply('Keycloak migrates its own database');
      const { figures, migrations }: StoreStatus = await platform.database.readStatus();
      if (figures === undefined) throw new DoesNotApply('the database does not exist yet');
      const newest = await newestSchemaVersion();
      if (figures.schemaVersion > newest)
        throw fault(
          `the database has schema ${figures.schemaVersion}, but this idkit knows schemas up to ${newest}; use the idkit that migrated it`,
        );
      const running =
        migrations.length === 0 ? '' : `, ${migrations.length} background migrations are running`;
      return `schema ${figures.schemaVersion} of ${newest}${running}`;
    }),
  ];
  return { checks, settings: inspection?.settings ?? [] };
}

/** @param offset the other clock minus this machine's clock, in milliseconds. @throws if the clocks differ too much */
export function describeDrift(offset: number, what: string): string {
  const text = `the clock of the ${what} is ${(Math.abs(offset) / 1000).toFixed(1)} s ${offset < 0 ? 'behind' : 'ahead of'} this machine`;
  if (Math.abs(offset) > MOST_DRIFT)
    throw fault(`${text}, so tokens may count as expired; synchronize both clocks with a time server`);
  return text;
}
