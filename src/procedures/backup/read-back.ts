import { FOREIGN_STATEMENT, SET_FILES, type Verdict } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import { judgeEnvironment } from '../environment-content.ts';
import type { BackupWork } from './work.ts';

/** Judges the set by its bytes on the disk, as `verify` will. @throws IDKIT_DAMAGED with what does not hold */
export async function readBack(work: BackupWork): Promise<Verdict> {
  const { writer, options, run } = work;
  const { passphrase, signal } = options;
  const verdict = await writer.readBack({
    signal,
    onProgress: run.progress('read-back', 'bytes'),
    ...(passphrase === undefined ? {} : { passphrase }),
    judgeEnvironment,
  });
  if (verdict.verdict === 'good') return verdict;
  const problems = verdict.problems.map(({ file, message }) => `${file}: ${message}`).join('; ');
  throw new IdkitError(
    'IDKIT_DAMAGED',
    `what was written does not read back, so nothing is published: ${problems}`,
    {
      hints: [
        'check the disk of the backup root, then run the backup again',
        ...(verdict.problems.some(
          ({ file, message }) => file === SET_FILES.dump && message.includes(FOREIGN_STATEMENT),
        )
          ? ['drop what somebody else made in the service’s database, or keep it in a database of its own']
          : []),
      ],
    },
  );
}
