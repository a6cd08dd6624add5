import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectAdmin } from '../../../src/client/index.ts';
import { backup, drill } from '../../../src/procedures/index.ts';
import { makePlatform, PASSPHRASE, procedureOptions } from '../platform.ts';

describe('backup under load', () => {
  it('takes a consistent snapshot while users are being created, and does not delay these requests', async (t) => {
    const platform = await makePlatform(t, ['acme']);
    const { address } = await platform.serve();
    const settings = await platform.load();
    const admin = await connectAdmin({
      baseUrl: address,
      username: settings.administrator.username,
      password: settings.administrator.password!,
    });
    let made = 0;
    let stop = false;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let user = 0; !stop; user++) {
        await admin.call('POST', '/acme/users', { username: `load-${writer}-${user}`, enabled: true });
        made += 1;
      }
    });
    const before = made;
    const set = await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE });
    const during = made - before;
    stop = true;
    await Promise.all(writers);
    await admin.logout();
    assert.ok(during > 0, 'writers were not delayed');
    assert.deepEqual(set.findings, []);
    // The drill loads the dump and compares it with the counts of the manifest and of the API.
    const result = await drill(settings, { ...procedureOptions(), passphrase: PASSPHRASE, env: {} });
    assert.deepEqual([result.outcome, result.failure], ['passed', undefined]);
  });
});
