import { spawn } from 'node:child_process';
import type { CommandContext } from '../../command.ts';
import { ask, withoutOwnVariables } from '../../terminal.ts';

/**
 * Prints the address of the login page, and opens it in a browser if this machine has one. Never fails: the person can
 * open the address in another way.
 */
export function openBrowser(context: CommandContext, url: string, { open }: { open: boolean }): void {
  context.terminal.stderr.write(`Log in at this address in your browser:\n\n  ${url}\n\n`);
  const command = open ? browserCommand(context.env) : undefined;
  if (command === undefined) return;
  const [program = '', ...argv] = command;
  const env = withoutOwnVariables(context.env);
  const child = spawn(program, [...argv, url], { detached: true, stdio: 'ignore', env });
  child.on('error', () => context.reporter.note(`${program} did not start, so open the address yourself`));
  child.unref();
}

/** Returns the program that opens an address, or undefined if there is no screen. */
function browserCommand(env: NodeJS.ProcessEnv): readonly string[] | undefined {
  const chosen = env['BROWSER'];
  if (chosen) return [chosen];
  if (process.platform === 'darwin') return ['open'];
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : undefined;
}

/** Prompts for the address at which a browser on another machine stopped, until it is an address of this login. */
export async function pasteRedirect(
  { reporter, terminal }: CommandContext,
  redirectUri: string,
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    const question =
      'Waiting for the browser. If it runs on another machine, paste the address of its last page here: ';
    const text = (await ask(terminal, question, { hidden: true, signal })).trim();
    if (text.startsWith(`${redirectUri}?`) && URL.canParse(text)) return text;
    if (text !== '') reporter.note(`the address must begin with ${redirectUri}?`);
  }
}
