/**
 * The URL of a worker thread's module beside the calling one. Source files are `.ts` in a checkout and `.js`
 * in the package; imports are rewritten by the compiler, and this does the same for `new Worker(…)`.
 *
 * @param from the caller's `import.meta.url`
 * @param name the module's path relative to the caller without extension, for example `./writer-thread`
 */
export function threadModule(from: string, name: string): URL {
  return new URL(`${name}${from.endsWith('.ts') ? '.ts' : '.js'}`, from);
}
