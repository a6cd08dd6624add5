import { IdkitError, renderCount, type Secret } from '../../core/index.ts';
import type { SetVerdict } from '../../procedures/index.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../command.ts';
import { given, remoteRoot, textFlag } from '../flags.ts';
import { findPrivateKeys, KEY_FLAG } from '../input/private-keys.ts';
import { renderAge, renderBytes, renderMilliseconds } from '../output/render-units.ts';

/** `idkit verify [DIR]` */
export function addVerify(program: CliCommand, run: Runner): void {
  program
    .command('verify')
    .argument(
      '[set]',
      'a set: its directory, its name in the backup root, s3://bucket/prefix/NAME, or latest',
    )
    .description('check every byte of backup sets')
    .settingFlags('verify')
    .option('--latest', 'check only the newest set that can be restored (default)')
    .option('--all', 'check every set of the backup root')
    .option(
      '--max-age <duration>',
      'report a finding if the newest set is older than this, for example 26h or 7d',
    )
    .option(...KEY_FLAG)
    .option('--drill', 'also restore the set in isolation and test it')
    .examples([
      ['idkit verify', 'the newest set of the platform'],
      ['idkit verify --max-age 26h --quiet', 'in cron; exit code 3 if the newest set is too old'],
      ['idkit verify /mnt/backups/20261101_020000', 'one set; no platform directory is needed'],
      ['idkit verify s3://backups/idkit/latest', 'the newest set of a target, which is downloaded first'],
    ])
    .action(run((context, flags, [set]) => verifySets(context, flags, set)));
}

async function verifySets(context: CommandContext, flags: Flags, set: string | undefined): Promise<Outcome> {
  const { findPassphrase, parseDuration, readPassphrase, settingsFromFlags } = await import(
    '../../config/index.ts'
  );
  const { isNoRemoteSet, LATEST, resolveSet, verify, verifyRemoteRoot } = await import(
    '../../procedures/index.ts'
  );
  const { joinLocation } = await import('../../target/index.ts');
  // Only verify can say whether the newest set is good, so it does not skip a set that is known to be damaged.
  checkChoice(flags, set, set === LATEST ? undefined : set);
  const remote = remoteRoot(flags);
  const named =
    remote !== undefined && flags['all'] !== true
      ? joinLocation(remote, LATEST)
      : set === LATEST
        ? undefined
        : set;
  const maxAge = textFlag(flags, 'maxAge');
  const maxAgeSeconds = maxAge === undefined ? undefined : parseDuration(maxAge, '--max-age');
  const rootFlag = settingsFromFlags('verify', remote === undefined ? flags : { ...flags, root: undefined });
  const standalone = remote !== undefined || named !== undefined || rootFlag['backup.root'] !== undefined;
  const settings = await (standalone ? context.loadSettings(rootFlag) : context.loadPlatform(rootFlag));

  const sources = { env: context.env, signal: context.signal };
  const privateKeys = await findPrivateKeys(context, flags);
  const passphrase: Secret | undefined =
    flags['drill'] === true
      ? await readPassphrase({ ...sources, prompt: context.promptPassphrase })
      : await findPassphrase(sources);

  const { cwd, procedure } = context;
  let dir: string | undefined;
  try {
    if (named !== undefined) dir = await resolveSet(settings, named, { ...procedure, cwd });
  } catch (error) {
    // As with a backup root on this machine, a root without sets is a finding, and a named set that is missing is not.
    if (remote === undefined || !isNoRemoteSet(error)) throw error;
    const { message } = error;
    return {
      data: { sets: [], verdict: message },
      text: message,
      findings: [{ code: 'BACKUP_MISSING', message }],
    };
  }
  const options = {
    ...context.procedure,
    env: context.env,
    ...given('set', dir),
    ...given('all', flags['all'] === true ? true : undefined),
    ...given('maxAgeSeconds', maxAgeSeconds),
    ...given('passphrase', passphrase),
    ...given('privateKeys', privateKeys),
    ...given('drill', flags['drill'] === true ? true : undefined),
  };
  const result =
    remote !== undefined && named === undefined
      ? await verifyRemoteRoot(settings, remote, options)
      : await verify(settings, options);
  const { findings, failure, ...data } = result;
  const lines = result.sets.length > 1 || context.globals.verbose ? result.sets.map(renderVerdict) : [];
  const drilled =
    result.drill === undefined
      ? []
      : [`drill ${result.drill.outcome} after ${renderMilliseconds(result.drill.milliseconds)}`];
  return {
    data,
    text: [...lines, result.verdict, ...drilled].join('\n'),
    findings,
    ...given('failure', failure),
  };
}

/** @throws IDKIT_USAGE if more than one of SET, `--latest` and `--all` is given, or a directory together with `--root` */
function checkChoice(flags: Flags, set: string | undefined, dir: string | undefined): void {
  if (set === '') throw new IdkitError('IDKIT_USAGE', 'the directory of the set is an empty string');
  const chosen = [
    ...(set === undefined ? [] : ['SET']),
    ...(flags['latest'] === true ? ['--latest'] : []),
    ...(flags['all'] === true ? ['--all'] : []),
  ];
  if (chosen.length > 1) {
    throw new IdkitError('IDKIT_USAGE', `${chosen.join(' and ')} exclude each other`);
  }
  if (dir !== undefined && flags['root'] !== undefined) {
    throw new IdkitError('IDKIT_USAGE', 'SET and --root exclude each other');
  }
}

function renderVerdict(set: SetVerdict): string {
  const age = set.ageSeconds === undefined ? '' : `, ${renderAge(set.ageSeconds)} old`;
  const problems = set.problems.map((problem) => `\n  ${problem}`).join('');
  const seal =
    set.seal === 'unsealed' ? ', unsealed' : set.seal === 'not checked' ? ', not authenticated' : '';
  const encryption =
    set.encryption === undefined ? '' : set.encryption.isRead ? ', encrypted' : ', encrypted, not decrypted';
  return `${set.verdict.padEnd(10)} ${set.name} (${renderCount(set.files, 'file')}, ${renderBytes(set.bytes)}${age}${seal}${encryption})${problems}`;
}
