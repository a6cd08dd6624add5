import { getPriority, setPriority } from 'node:os';
import { Option } from 'commander';
import { IdkitError } from '../../core/index.ts';
import type { BackupPart } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { baseUrlFlag, given, textFlag } from '../flags.ts';
import { renderBytes, renderMilliseconds } from '../output/render-units.ts';

/** `idkit backup` */
export function addBackup(program: CliCommand, run: Runner): void {
  program
    .command('backup')
    .description(
      "back up the platform into a new set, and print the set's directory as the last line on stdout",
    )
    .settingFlags('backup')
    .addOption(
      new Option(
        '--only <parts>',
        'back up only these parts, for example config,env; known parts: database, realms, config, env',
      ),
    )
    .option('--base-url <url>', 'the address of the service')
    .option('--accept-shrink', 'accept that the set lost realms, users, keys or much of its size')
    .examples([
      ['idkit backup', 'a complete set below backups/; prompts for the passphrase'],
      ['IDKIT_BACKUP_PASSPHRASE_FILE=/etc/idkit/pass idkit backup --quiet', 'in cron'],
      ['idkit backup --only config,env', 'only the parts that rarely change'],
    ])
    .action(run(backUp));
}

/** Niceness of the backup, so that the service has priority over it. Range: 0 to 19. Threads inherit the value. */
const NICENESS = 5;

async function backUp(context: CommandContext, flags: Flags): Promise<Outcome> {
  setPriority(Math.max(NICENESS, getPriority()));
  const { backup, BACKUP_PARTS } = await import('../../procedures/index.ts');
  const only = parseParts(textFlag(flags, 'only'), BACKUP_PARTS);
  const { settingsFromFlags } = await import('../../config/index.ts');
  const settings = await context.loadPlatform(settingsFromFlags('backup', flags));
  const baseUrl = baseUrlFlag(flags);
  const { encrypt, encryptTo } = settings.backup;
  const isEncrypted = encrypt === 'all' || encryptTo.length > 0;
  const needsPassphrase = isEncrypted || only === undefined || only.includes('env');
  const passphrase = await (needsPassphrase ? readPassphrase(context) : findPassphrase(context));
  const result = await backup(settings, {
    ...context.procedure,
    ...given('passphrase', passphrase),
    ...given('only', only),
    ...given('baseUrl', baseUrl),
    ...given('acceptShrink', flags['acceptShrink'] === true ? true : undefined),
  });
  const { findings, failure, ...data } = result;
  if (result.realmSource === 'snapshot') {
    context.reporter.note(
      'the service is stopped, so idkit read the realm files from a snapshot of the database',
    );
  }
  context.reporter.note(
    `${renderBytes(result.bytes)} in ${renderMilliseconds(result.milliseconds)}: ${result.parts.join(', ')}`,
  );
  return { data, text: result.dir, verbatim: true, findings, ...given('failure', failure) };
}

async function readPassphrase(context: CommandContext): Promise<import('../../core/index.ts').Secret> {
  const config = await import('../../config/index.ts');
  return config.readPassphrase({
    env: context.env,
    prompt: context.promptPassphrase,
    signal: context.signal,
  });
}

/** Returns the passphrase that seals the set, or undefined if none is set: a set without `.env` does not need one. */
async function findPassphrase(context: CommandContext) {
  const config = await import('../../config/index.ts');
  return config.findPassphrase({ env: context.env, signal: context.signal });
}

/** @throws IDKIT_USAGE for an unknown part, and for a duplicate part */
function parseParts(
  text: string | undefined,
  known: readonly BackupPart[],
): readonly BackupPart[] | undefined {
  if (text === undefined) return undefined;
  const parts = text.split(',').map((part) => part.trim());
  for (const part of parts) {
    if (!(known as readonly string[]).includes(part)) {
      throw new IdkitError(
        'IDKIT_USAGE',
        `--only accepts ${known.join(', ')}, but not ${JSON.stringify(part)}`,
      );
    }
  }
  if (new Set(parts).size !== parts.length) {
    throw new IdkitError('IDKIT_USAGE', '--only contains a part twice');
  }
  return parts as BackupPart[];
}
