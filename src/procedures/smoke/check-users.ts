import { DoesNotApply, runCheck } from './check.ts';
import type { SmokeCheck } from './contract.ts';
import type { ServiceUnderTest } from './service.ts';

/** User counts per realm match expectations (spec "Post-restore checklist"). */
export async function checkUsers(service: ServiceUnderTest): Promise<SmokeCheck[]> {
  const { expectation, signal } = service.options;
  const row = { id: 'user-count', title: 'the realm has as many users as expected', signal };
  if (expectation === undefined) {
    return [await runCheck(row, async () => Promise.reject(new DoesNotApply('no expectation')))];
  }
  return Promise.all(
    expectation.map(({ realm, users }) =>
      runCheck({ ...row, subject: realm }, async () => {
        if (service.admin === undefined) throw new DoesNotApply(service.adminFault);
        const found = await service.admin.countUsers(realm);
        if (found !== users) throw new Error(`${found} users, and ${users} were expected`);
        return `${found} users`;
      }),
    ),
  );
}
