import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IdkitError } from '../../../../core/index.ts';
import type { CommandContext } from '../../../command.ts';
import { withoutOwnVariables } from '../../../terminal.ts';
import type { ApiRecord } from '../lookup.ts';
import { parseRecord } from './input-file.ts';

/**
 * Opens a record in the editor of the user as YAML, and saves what the user wrote. If the text cannot be parsed or the
 * service rejects it, the editor opens again with the error in a comment.
 *
 * @param save sends the edited record. IDKIT_FAILED and IDKIT_USAGE open the editor again
 * @returns false if the user changed nothing
 * @throws IDKIT_USAGE without a terminal, and if the user gives up
 */
export async function editRecord(
  context: CommandContext,
  { record, title, save }: { record: ApiRecord; title: string; save(edited: ApiRecord): Promise<void> },
): Promise<boolean> {
  if (!context.terminal.canAsk) {
    throw new IdkitError('IDKIT_USAGE', '--edit needs a terminal', {
      hints: ['use --set path=value or --file FILE in scripts'],
    });
  }
  const { stringify } = await import('yaml');
  // mkdtemp creates a directory that only this user can read.
  const dir = await mkdtemp(join(tmpdir(), 'idkit-edit-'));
  const file = join(dir, 'record.yaml');
  let text = `# ${title}. Save and close the editor to apply the changes.\n${stringify(record, { lineWidth: 0 })}`;
  let isEdited = false;
  const done = async (changed: boolean): Promise<boolean> => {
    await rm(dir, { recursive: true, force: true });
    return changed;
  };
  try {
    while (true) {
      await writeFile(file, text, { mode: 0o600 });
      await runEditor(context, file);
      const edited = await readFile(file, 'utf8');
      if (withoutComments(edited) === withoutComments(text)) {
        if (!isEdited) return await done(false);
        throw new IdkitError('IDKIT_USAGE', 'the text was not changed after the error, so nothing was saved');
      }
      isEdited = true;
      try {
        await save(await parseRecord(edited, 'the edited text'));
        return await done(true);
      } catch (error) {
        if (!isCorrectable(error)) throw error;
        text = `# error: ${error.message.replaceAll('\n', '\n# ')}\n${withoutErrors(edited)}`;
      }
    }
  } catch (error) {
    if (isEdited) context.reporter.note(`the edited text is in ${file}`);
    else await done(false);
    throw error;
  }
}

function isCorrectable(error: unknown): error is IdkitError {
  return error instanceof IdkitError && (error.code === 'IDKIT_FAILED' || error.code === 'IDKIT_USAGE');
}

function withoutErrors(text: string): string {
  return text.replace(/^# error: .*\n(# (?!error).*\n)*/, '');
}

function withoutComments(text: string): string {
  return text.replace(/^#.*\n/gm, '').trim();
}

/** Runs `$VISUAL`, else `$EDITOR`, else vi, in the terminal of this process. The variable may contain arguments. */
async function runEditor({ env, signal }: CommandContext, file: string): Promise<void> {
  const editor = env['VISUAL'] || env['EDITOR'] || 'vi';
  const restore = ignoreInterrupts();
  await new Promise<void>((resolve, reject) => {
    const fail = (what: string): void =>
      reject(
        new IdkitError('IDKIT_FAILED', `the editor ${editor} ${what}`, {
          hints: ['set VISUAL or EDITOR to the command of your editor'],
        }),
      );
    const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], {
      stdio: 'inherit',
      env: withoutOwnVariables(env),
      signal,
    });
    child.once('error', (error) => {
      if (signal.aborted) reject(signal.reason);
      else fail(`did not start: ${error.message}`);
    });
    child.once('close', (code) => (code === 0 ? resolve() : fail(`ended with exit code ${code}`)));
  }).finally(restore);
}

/**
 * Ignores Ctrl-C, because the terminal sends it to all its programs, and in an editor such as vim it is a key. Returns a
 * function that ends this.
 */
function ignoreInterrupts(): () => void {
  const listeners = process.listeners('SIGINT');
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  for (const listener of listeners) process.off('SIGINT', listener);
  return () => {
    for (const listener of listeners) process.on('SIGINT', listener);
    process.off('SIGINT', ignore);
  };
}
