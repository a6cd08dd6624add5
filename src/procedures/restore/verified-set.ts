import {
  pinSet,
  readableSet,
  type SetEncryptionState,
  SetKeys,
  type Verdict,
  verifySet,
} from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import { judgeEnvironment } from '../verify/judge-set.ts';
import { type Effect, listEffects, renderEffect } from './effects.ts';
import { missingPassphrase, type RestoreOptions } from './options.ts';
import type { Restore } from './work.ts';

/**
 * Verifies the whole set. From then on, the restore reads only verified content.
 *
 * @throws IDKIT_DAMAGED, IDKIT_CREDENTIALS or IDKIT_VERSION from the verdict; IDKIT_UNSEALED for an untrusted set
 */
export async function verifyForRestore(restore: Restore): Promise<undefined> {
  const { settings, options, run, sealed, earlier } = restore;
  const { passphrase, privateKeys, keepEnv, signal, reporter } = options;
  const keys = new SetKeys({ passphrase, privateKeys });
  let environment: Uint8Array | undefined;
  const set = readableSet(pinSet(restore.set, sealed.list?.entries ?? []), keys);
  const verdict = await verifySet(restore.set, {
    sealed,
    signal,
    onProgress: run.progress('verify', 'bytes'),
    ...(passphrase === undefined || keepEnv === true ? {} : { passphrase }),
    keys,
    judgeEnvironment: (plain) => {
      if (keepEnv !== true) environment = plain;
      return judgeEnvironment(plain);
    },
  });
  for (const note of verdict.notes) reporter.note(note);
  if (verdict.code !== undefined) {
    const problems = verdict.problems.map(({ file, message }) => `${file}: ${message}`).join('; ');
    throw new IdkitError(verdict.code, `${set.name} cannot be restored: ${problems}`, {
      hints: [
        'nothing was touched',
        ...new Set(verdict.problems.flatMap(({ hints }) => hints)),
        'idkit backups list shows the other sets',
      ],
    });
  }
  if (
    keepEnv !== true &&
    environment === undefined &&
    passphrase === undefined &&
    verdict.encryption === undefined
  )
    throw missingPassphrase();
  if (verdict.encryption?.isRead === false) throw missingKey(set.name, verdict.encryption);
  const verified = { verdict, ...(environment === undefined ? {} : { environment }) };
  if (!isTrusted(verdict, options, earlier?.accepted))
    throw untrustedSet(
      set.name,
      verdict.seal,
      'restore',
      await listEffects(set, settings, verified, options),
    );
  restore.verified = verified;
  restore.set = set;
}

/** Explains that a restore reads every file, so it needs the key of an encrypted set. */
export function missingKey(name: string, { to, fingerprints }: SetEncryptionState): IdkitError {
  return to === 'keys'
    ? new IdkitError(
        'IDKIT_CREDENTIALS',
        `${name} is encrypted to ${fingerprints.length === 1 ? 'the public key' : 'the public keys'} ${fingerprints.join(', ')}, so it needs the private key`,
        { hints: ['--key FILE names a file that gpg --export-secret-keys wrote', 'nothing was touched'] },
      )
    : new IdkitError('IDKIT_CREDENTIALS', `${name} is encrypted, and its passphrase is missing`, {
        hints: ['provide the passphrase of the set', 'nothing was touched'],
      });
}

/**
 * True if the seal of the set holds or the operator vouches for the set (`--trust-unsealed`). A resumed restore also
 * trusts the checksums that the interrupted restore accepted.
 */
export function isTrusted(
  { seal, checksumsSha256 }: Pick<Verdict, 'seal' | 'checksumsSha256'>,
  { trustUnsealed }: Pick<RestoreOptions, 'trustUnsealed'>,
  accepted: string | undefined,
): boolean {
  if (seal === 'holds' || trustUnsealed === true) return true;
  return accepted !== undefined && accepted === checksumsSha256;
}

/** Explains why an untrusted set is rejected and what it would run, contact and load. */
export function untrustedSet(
  name: string,
  seal: Verdict['seal'],
  command: 'restore' | 'drill',
  effects: readonly Effect[] = [],
): IdkitError {
  const why =
    seal === 'unsealed'
      ? `${name} is unsealed, so nothing proves that it is the original backup`
      : `${name} is sealed, but its seal was not checked because no passphrase was given`;
  const risk =
    effects.length === 0
      ? `a ${command} would load and run the content of the set`
      : `a ${command} would take over ${effects.map(renderEffect).join('; ')}`;
  return new IdkitError('IDKIT_UNSEALED', `${why}; ${risk}`, {
    hints: [
      'nothing was run, contacted or loaded',
      ...(seal === 'unsealed' ? [] : ['provide the passphrase of the set, which opens the seal']),
      '--trust-unsealed accepts the set without a verified seal',
    ],
  });
}
