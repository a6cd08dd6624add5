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
    .description('the ordered backup procedure; the last line on stdout is the new directory')
    .settingFlags('backup')
    .addOption(new Option('--only <parts>', 'just these parts: database,realms,config,env'))
    .option('--base-url <url>', 'where the service is found')
    .examples([
      ['idkit backup', 'a whole set below backups/; the passphrase is asked for'],
      ['IDKIT_BACKUP_PASSPHRASE_FILE=/etc/idkit/pass idkit backup --quiet', 'for cron'],
      ['idkit backup --only config,env', 'the parts that change seldom'],
    ])
    .action(run(backUp));
}

/** Behind the service that it copies, which answers people; threads that start later inherit it (nice, 0 to 19). */
const NICENESS = 5;

async function backUp(context: CommandContext, flags: Flags): Promise<Outcome> {
  setPriority(Math.max(NICENESS, getPriority()));
  const { backup, BACKUP_PARTS } = await import('../../procedures/index.ts');
  const only = parseParts(textFlag(flags, 'only'), BACKUP_PARTS);
  const { settingsFromFlags } = await import('../../config/index.ts');
  const settings = await context.loadPlatform(settingsFromFlags('backup', flags));
  const baseUrl = baseUrlFlag(flags);
  const needsPassphrase = only === undefined || only.includes('env');
  const passphrase = await (needsPassphrase ? readPassphrase(context) : findPassphrase(context));
  const result = await backup(settings, {
    ...context.procedure,
    ...given('passphrase', passphrase),
    ...given('only', only),
    ...given('baseUrl', baseUrl),
  });
  const { findings, failure, ...data } = result;
  if (result.realmSource === 'snapshot') {
    context.reporter.note('the service is stopped: the realm files are from the snapshot of the database');
  }
  context.reporter.note(
    `${renderBytes(result.bytes)} in ${renderMilliseconds(result.milliseconds)}: ${result.parts.join(', ')}`,
  );
  return { data, text: result.dir, findings, ...given('failure', failure) };
}

async function readPassphrase(context: CommandContext): Promise<import('../../core/index.ts').Secret> {
  const config = await import('../../config/index.ts');
  return config.readPassphrase({
    env: context.env,
    prompt: context.promptPassphrase,
    signal: context.signal,
  });
}

/** A set of other parts is sealed if a passphrase is at hand. */
async function findPassphrase(context: CommandContext) {
  const config = await import('../../config/index.ts');
  return config.findPassphrase({ env: context.env, signal: context.signal });
}

/** @throws IDKIT_USAGE naming the part that is none, or is named twice */
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
        `--only must be parts of ${known.join(', ')}, not ${JSON.stringify(part)}`,
      );
    }
  }
  if (new Set(parts).size !== parts.length) {
    throw new IdkitError('IDKIT_USAGE', '--only names a part twice');
  }
  return parts as BackupPart[];
}
