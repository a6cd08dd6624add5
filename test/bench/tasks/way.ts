import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Locator, Page } from 'playwright-core';
import type { TaskName } from './tasks.ts';

/** What the operator does for a task. Returns what the operator sees at the end. */
export type Doing = () => Promise<string>;

/** One of the four ways to do the tasks. A text says why it cannot do a task. */
export type Doings = Readonly<Record<TaskName, Doing | string>>;

/** A hand that counts its steps. */
export interface Hand {
  steps: number;
}

/** A hand in a browser. A step is a click, a filled field, a key, a chosen file, or waiting for something to read. */
export class BrowserHand implements Hand {
  readonly page: Page;
  steps = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async click(target: Locator): Promise<void> {
    this.steps += 1;
    await target.first().click();
  }

  async fill(target: Locator, text: string): Promise<void> {
    this.steps += 1;
    await target.first().fill(text);
  }

  async press(key: string): Promise<void> {
    this.steps += 1;
    await this.page.keyboard.press(key);
  }

  /** Chooses a file in the dialog of the browser. */
  async upload(target: Locator, file: string): Promise<void> {
    this.steps += 1;
    await target.first().setInputFiles(file);
  }

  /** Saves what a click downloads. */
  async download(target: Locator, file: string): Promise<void> {
    const download = this.page.waitForEvent('download');
    await this.click(target);
    await (await download).saveAs(file);
  }

  /** Waits for something that the operator reads before the next step, and returns its text. */
  async read(target: Locator): Promise<string> {
    this.steps += 1;
    await target.first().waitFor();
    return target.first().innerText();
  }
}

/** Programs that count as a step each time a command line names them. */
const PROGRAMS = /(?<=^|[\s(|;&])(?:idkit|kcadm\.sh|jq|curl)(?=\s)/g;

/** A hand in a shell. A step is a program in a command line. A loop counts its programs once. */
export class ShellHand implements Hand {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  steps = 0;

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.cwd = cwd;
    this.env = env;
  }

  /** Runs a command line and returns its output. @throws Error with the output if the exit code is not 0 */
  async run(line: string, stdin = ''): Promise<string> {
    this.steps += line.match(PROGRAMS)?.length ?? 1;
    const child = spawn('sh', ['-c', line], { cwd: this.cwd, env: this.env });
    const text = { out: '', all: '' };
    child.stdout.on('data', (chunk) => {
      text.out += chunk;
      text.all += chunk;
    });
    child.stderr.on('data', (chunk) => {
      text.all += chunk;
    });
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${line}: exit code ${code}: ${text.all}`);
    return text.out.trim();
  }
}
