import { join } from 'node:path';
import { Option } from 'commander';
import { IdkitError } from '../../core/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Runner } from '../command.ts';

/** The proxies for which idkit can write a configuration. */
const PROXIES = ['caddy', 'nginx'] as const;

/** `idkit init` */
export function addInit(program: CliCommand, run: Runner): void {
  program
    .command('init')
    .description('create a platform directory, without overwriting existing files')
    .addOption(
      new Option('--runtime <kind>', 'what runs the platform: one process or containers')
        .choices(['embedded', 'compose'])
        .default('embedded'),
    )
    .addOption(
      new Option('--service <kind>', 'the token service').choices(['idkit', 'keycloak']).default('idkit'),
    )
    .examples([
      ['idkit init', 'creates ./idkit with generated secrets in .env'],
      ['idkit init --dir /srv/idkit', 'creates another directory'],
      [
        'idkit init --runtime compose',
        'for Docker or Podman; also writes compose.yaml, a proxy configuration and a sample application',
      ],
    ])
    .action(
      run(async (context, flags) => {
        const { initPlatform, resolvePlatformDirectory } = await import('../../config/index.ts');
        const runtime = flags['runtime'] as 'embedded' | 'compose';
        const dir = resolvePlatformDirectory({
          flag: context.globals.dir,
          env: context.env,
          cwd: context.cwd,
        });
        const made = initPlatform(dir, {
          runtime,
          service: flags['service'] as 'idkit' | 'keycloak',
          ...(runtime === 'compose' ? { proxy: await findProxy(context) } : {}),
          env: context.env,
        });
        if (made.generated.includes('IDKIT_ADMIN_PASSWORD'))
          context.reporter.note(`the generated password of the administrator is in ${join(dir, '.env')}`);
        for (const file of made.kept) context.reporter.note(`${file} exists already and is unchanged`);
        return {
          data: { dir, created: made.created, kept: made.kept, generated: made.generated },
          text: [...made.created.map((file) => `wrote ${file}`), dir].join('\n'),
        };
      }),
    );
}

/**
 * Returns the proxy that an existing idkit.yaml names. Default: Caddy.
 *
 * @throws IDKIT_SETTING for a proxy that idkit cannot configure
 */
async function findProxy(context: CommandContext): Promise<(typeof PROXIES)[number]> {
  const { compose } = await context.loadSettings();
  const proxy = PROXIES.find((name) => name === compose.proxy);
  if (proxy !== undefined) return proxy;
  throw new IdkitError(
    'IDKIT_SETTING',
    `compose.proxy is ${compose.proxy}, but idkit writes configurations only for ${PROXIES.join(' and ')}`,
  );
}
