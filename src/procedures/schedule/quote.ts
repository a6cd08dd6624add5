const PLAIN = /^[A-Za-z0-9_./@:+,=-]+$/;

/** Quotes a word for /bin/sh. */
export function quoteForShell(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Escapes a command of a crontab. cron turns a percent sign without a backslash into a line end, and passes the rest of
 * the line to the command as input (crontab(5)).
 */
export function escapeForCron(command: string): string {
  return command.replaceAll('%', '\\%');
}

/** Quotes an argument of `ExecStart=`: double quotes, C escapes, `%%` and `$$` (systemd.service(5)). */
export function quoteForExec(word: string): string {
  return PLAIN.test(word) ? word : quoteForUnit(word).replaceAll('$', '$$$$');
}

/** Quotes one word of a list such as `ReadWritePaths=` or `Environment=` (systemd.syntax(7)). */
export function quoteForUnit(word: string): string {
  return PLAIN.test(word) ? word : `"${escapeForUnit(word.replace(/[\\"]/g, '\\$&'))}"`;
}

/** Escapes a value that takes up the rest of its line, such as `Description=`. */
export function escapeForUnit(text: string): string {
  return text.replaceAll('%', '%%');
}
