/**
 * The URL of a worker thread's module. In a checkout it lies beside the calling one; the build of the package joins
 * modules into few files and puts the threads' beside them, by their names alone.
 *
 * @param from the caller's `import.meta.url`
 * @param name the module's path relative to the caller without extension, for example `./writer-thread`
 */
export function threadModule(from: string, name: string): URL {
  if (from.endsWith('.ts')) return new URL(`${name}.ts`, from);
  return new URL(`./${name.split('/').at(-1)}.js`, from);
}
