import { recoverAdministrator } from '../../admin/index.ts';
import { checkMasterKey, type Settings } from '../../config/index.ts';
import { type Secret, systemClock, systemRandom } from '../../core/index.ts';
import { openPasswords } from '../../crypto/index.ts';
import { openStore } from '../../store/open.ts';

/** Opens the store for one administrator's sake. The caller holds the database's lock. */
export async function recoverInStore(
  settings: Settings,
  file: string,
  username: string,
): Promise<{ password: Secret }> {
  const masterKey = checkMasterKey(settings.masterKey);
  const { masterKeyOld } = settings;
  const store = await openStore({ file, masterKey, masterKeyOld, create: false });
  const passwords = openPasswords({ threads: 1 });
  try {
    const context = { store, clock: systemClock, random: systemRandom, passwords, baseUrl: '' };
    const { password } = await recoverAdministrator(context, username);
    return { password };
  } finally {
    await passwords.close();
    await store.close();
  }
}
