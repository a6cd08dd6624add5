import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { readEnvFile, type Settings } from '../../../src/config/index.ts';
import { IdkitError, Secret } from '../../../src/core/index.ts';
import { lockPostgres } from '../../../src/postgres/index.ts';
import { backup, recoverAdmin, restore, rotateMasterKey, status } from '../../../src/procedures/index.ts';
import { startService } from '../../../src/service/index.ts';
import { runIdkit } from '../../journey/idkit.ts';
import { runSql } from '../../store/databases.ts';
import { CLEARTEXT, startHostile } from '../../store/hostile-postgres.ts';
import { procedureOptions, restoreOptions } from '../platform.ts';
import { describeOnPostgres } from '../postgres-platform.ts';
import { NEW } from '../restored-state.ts';

describeOnPostgres('programs that are kept out of a postgres:// database', (platforms) => {
  for (const inPlace of [false, true])
    it(`rejects a service that starts during a restore${inPlace ? ' in place' : ''} (exit code 11), and the restore succeeds`, async (t) => {
      const platform = await platforms.fresh(t);
      // A role whose password the restore does not change.
      const replica = 'CREATE ROLE replica LOGIN PASSWORD $$Replica-Role-1$$ IN ROLE idkit';
      await runSql(platforms.server, `DROP ROLE IF EXISTS replica; ${replica}`);
      const url = `postgres://replica@127.0.0.1:${platforms.server.port}/idkit`;
      const elsewhere: Settings = {
        ...(await (await platforms.fresh(t)).load()),
        database: { kind: 'postgres', url },
        databasePassword: new Secret('Replica-Role-1'),
      };
      const refused = new Map<string, unknown>();
      let step = '';
      let isOver = false;
      const serve = async () => {
        while (!isOver) {
          const during = step;
          await startService(elsewhere).then(
            async (service) => {
              await service.close();
              if (!isOver) refused.set(during, 'let in');
            },
            (error: unknown) => refused.set(during, error),
          );
        }
      };
      let serving: Promise<void> | undefined;
      const { reporter: recording } = procedureOptions();
      const reporter = {
        ...recording,
        stepStarted: ({ id }: { id: string }) => {
          step = id;
          if (id === 'stage') serving = serve();
        },
      };
      const result = await restore(
        await platform.load(),
        restoreOptions({ from: platform.set, reporter, ...(inPlace ? { inPlace: 'idkit' } : {}) }),
      ).finally(() => {
        isOver = true;
      });
      await serving;
      assert.deepEqual(result.findings, []);
      assert.deepEqual(await platform.readState(), NEW);
      assert.ok(refused.size > 0);
      for (const [during, error] of refused) {
        assert.ok(error instanceof IdkitError, `${during}: ${error}`);
        assert.deepEqual([error.code, error.exitCode], ['IDKIT_LOCKED', 11], `${during}: ${error.message}`);
        assert.match(
          error.message,
          /held by (idkit restore|another process)|accepts no connections|is being restored/,
          during,
        );
      }
      await (await startService(elsewhere)).close();
    });

  it('serve with workers is rejected like a single process (exit code 11)', async (t) => {
    const { dir } = await platforms.fresh(t);
    const { port, user, password } = platforms.server;
    const url = `postgres://${user}@127.0.0.1:${port}/idkit`;
    const lock = await lockPostgres({ url, password: new Secret(password) }, 'exclusive');
    try {
      const ended = await runIdkit(['serve', '--workers', '2', '--port', '0', '--dir', dir], { cwd: dir });
      assert.equal(ended.code, 11, ended.stderr);
      assert.match(ended.stderr, /IDKIT_LOCKED: .* is held by idkit/);
    } finally {
      await lock.release();
    }
  });

  it('rejects a container platform before any change if neither the platform nor the set has a compose.yaml (exit code 2)', async (t) => {
    const platform = await platforms.fresh(t);
    await writeFile(
      join(platform.dir, 'idkit.yaml'),
      'runtime: compose\ndatabase: postgres://idkit@db/idkit\n',
    );
    await assert.rejects(restore(await platform.load(), restoreOptions({ from: platform.set })), {
      code: 'IDKIT_SETTING',
      message: /has a compose\.yaml/,
    });
    assert.deepEqual((await platform.readState()).database, 'old');
  });

  it('no command sends the password to a server that requests it in plain text (exit code 12)', async (t) => {
    const platform = await platforms.fresh(t);
    const { dir, set } = platform;
    const server = await startHostile(t, ({ say }) => say('R', CLEARTEXT));
    const url = `postgres://idkit@127.0.0.1:${server.port}/idkit`;
    await writeFile(join(dir, 'idkit.yaml'), `database: ${url}\n`);
    const settings = await platform.load();
    const own = restoreOptions();
    const commands: Record<string, () => Promise<unknown>> = {
      serve: () => startService(settings),
      backup: () => backup(settings, own),
      restore: () => restore(settings, { ...own, from: set }),
      'restore --in-place': () => restore(settings, { ...own, from: set, inPlace: 'idkit' }),
      'master-key rotate': () => rotateMasterKey(settings, own),
      'recover-admin': () => recoverAdmin(settings, { ...own, username: 'third' }),
    };
    for (const [name, run] of Object.entries(commands)) {
      const before = server.connections();
      await assert.rejects(run(), { code: 'IDKIT_PASSWORD_METHOD', exitCode: 12 }, name);
      assert.ok(server.connections() > before, name);
    }
    const { findings } = await status(settings, own);
    assert.ok(!JSON.stringify(findings).includes('Role-Before-1'));
    const { IDKIT_DATABASE_PASSWORD: password } = Object.fromEntries(readEnvFile(join(dir, '.env')));
    assert.ok(password !== undefined && !server.received().includes(password));
  });
});
