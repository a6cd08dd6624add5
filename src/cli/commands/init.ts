import { Option } from 'commander';
import { IdkitError } from '../../core/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Runner } from '../command.ts';

/** The proxies whose configuration idkit writes. */
const PROXIES = ['caddy', 'nginx'] as const;

/** `idkit init` */
export function addInit(program: CliCommand, run: Runner): void {
  program
    .command('init')
    .description('write a platform directory; files only, and never over one that exists')
    .addOption(
      new Option('--runtime <kind>', 'what runs the platform: one process, or containers')
        .choices(['embedded', 'compose'])
        .default('embedded'),
    )
    .addOption(
      new Option('--service <kind>', 'which token service').choices(['idkit', 'keycloak']).default('idkit'),
    )
    .examples([
      ['idkit init', 'a platform directory ./idkit with generated secrets in .env'],
      ['idkit init --dir /srv/idkit', 'the same in another place'],
      ['idkit init --runtime compose', 'for Docker or Podman: compose.yaml, a proxy, an application too'],
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
        for (const file of made.kept) context.reporter.note(`${file} is there already and stays as it is`);
        return {
          data: { dir, created: made.created, kept: made.kept, generated: made.generated },
          text: [...made.created.map((file) => `wrote ${file}`), dir].join('\n'),
        };
      }),
    );
}

/** Caddy, unless an idkit.yaml that is there already says otherwise. @throws IDKIT_SETTING for one idkit cannot write */
async function findProxy(context: CommandContext): Promise<(typeof PROXIES)[number]> {
  const { compose } = await context.loadSettings();
  const proxy = PROXIES.find((name) => name === compose.proxy);
  if (proxy !== undefined) return proxy;
  throw new IdkitError(
    'IDKIT_SETTING',
    `compose.proxy is ${compose.proxy}, and idkit writes the configuration of ${PROXIES.join(' and ')} alone`,
  );
}
