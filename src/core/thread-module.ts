/**
 * Returns the URL of a worker thread's module. In a checkout, the path is relative to the caller. The package build
 * bundles modules into a few files and puts the thread modules next to them, so only the file name counts there.
 *
 * @param from the caller's `import.meta.url`
 * @param name the module's path relative to the caller, without the extension: `./writer-thread`
 */
export function threadModule(from: string, name: string): URL {
  if (from.endsWith('.ts')) return new URL(`${name}.ts`, from);
  return new URL(`./${name.split('/').at(-1)}.js`, from);
}
