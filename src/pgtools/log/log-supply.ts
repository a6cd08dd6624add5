import { execFile } from 'node:child_process';
import { openSync } from 'node:fs';
import { chown, constants, mkdir, open, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Owner } from '../scratch-server.ts';

/**
 * Writes the WAL or history file `name` to `path`. Returns false if the archive does not have it, which ends the
 * recovery.
 */
export type SupplyFile = (name: string, path: string) => Promise<boolean>;

/** Gives a server the files of the WAL that its `restore_command` requests. */
export interface LogSupply {
  /** The value of `restore_command`. */
  command: string;
  /** The number of files that were requested so far. */
  readonly requests: number;
  /** The first error of `supply`. The server then stops. */
  readonly fault: unknown;
  close(): Promise<void>;
}

/** An exit code above 125 makes the server stop instead of ending its recovery early. */
const SCRIPT = `# Requests the file $1 from idkit and moves it to the path $2.
cd "$IDKIT_SCRATCH" || exit 255
printf '%s\\n' "$1" >requests || exit 255
read -r answer <answers || exit 255
cd - >/dev/null || exit 255
case $answer in
found) mv "$IDKIT_SCRATCH/supply/$1" "$2" || exit 255 ;;
missing) exit 1 ;;
*) exit 255 ;;
esac
`;
/** The names that Postgres requests: WAL files, and the histories of timelines. */
const NAME = /^([0-9A-F]{24}|[0-9A-F]{8}\.history)$/;

/**
 * Opens a supply in `home`. The server reads from named pipes there, so no other program takes part, and the server
 * receives one file after the other without a copy.
 */
export async function openLogSupply(home: string, owner: Owner, supply: SupplyFile): Promise<LogSupply> {
  const [requests, answers] = [join(home, 'requests'), join(home, 'answers')];
  await promisify(execFile)('mkfifo', ['-m', '600', requests, answers]);
  const script = join(home, 'fetch.sh');
  await writeFile(script, SCRIPT, { mode: 0o600 });
  await mkdir(join(home, 'supply'), { mode: 0o700 });
  if (owner !== 'this user')
    for (const path of [requests, answers, script, join(home, 'supply')])
      await chown(path, owner.uid, owner.gid);
  // Opened for both directions, so that opening does not wait for the other side.
  const flags = constants.O_RDWR | constants.O_NONBLOCK;
  const answered = await open(answers, flags);
  // The socket owns the descriptor of the requests.
  const input = new Socket({ fd: openSync(requests, flags), readable: true, writable: false });
  let count = 0;
  let fault: unknown;
  const answer = async (name: string): Promise<string> => {
    count++;
    if (!NAME.test(name)) return 'missing';
    try {
      const path = join(home, 'supply', name);
      if (!(await supply(name, path))) return 'missing';
      if (owner !== 'this user') await chown(path, owner.uid, owner.gid);
      return 'found';
    } catch (error) {
      fault ??= error;
      return 'fault';
    }
  };
  let text = '';
  let last = Promise.resolve();
  input.setEncoding('latin1');
  input.on('error', () => undefined);
  input.on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const name = text.slice(0, end);
      text = text.slice(end + 1);
      last = last.then(async () => {
        await answered.write(`${await answer(name)}\n`);
      });
    }
  });
  return {
    command: `sh ${quoteShell(script)} %f %p`,
    get requests() {
      return count;
    },
    get fault() {
      return fault;
    },
    async close() {
      await last.catch(() => undefined);
      input.destroy();
      await answered.close();
    },
  };
}

function quoteShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''").replaceAll('%', '%%')}'`;
}
