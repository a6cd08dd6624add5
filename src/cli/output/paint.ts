/** Colours, named by their meaning. */
export interface Paint {
  good(text: string): string;
  bad(text: string): string;
  warning(text: string): string;
  faint(text: string): string;
  strong(text: string): string;
}

const plain: Paint = {
  good: (text) => text,
  bad: (text) => text,
  warning: (text) => text,
  faint: (text) => text,
  strong: (text) => text,
};

/** Returns functions that colour text, or functions that return it unchanged. */
export async function openPaint(colored: boolean): Promise<Paint> {
  if (!colored) return plain;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return {
    good: (text) => chalk.green(text),
    bad: (text) => chalk.red(text),
    warning: (text) => chalk.yellow(text),
    faint: (text) => chalk.dim(text),
    strong: (text) => chalk.bold(text),
  };
}
