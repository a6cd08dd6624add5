/**
 * Returns the URL of a worker thread's module. In a checkout, the path is relative to the caller. The build of the package
 * bundles modules into few files and puts the thread modules next to them, so there only the file name counts.
 *
 * @param from the caller's `import.meta.url`
 * @param name the module's path relative to the caller, without the extension: `./writer-thread`
 */
export function threadModule(from: string, name: string): URL {
  if (from.endsWith('.ts')) return new URL(`${name}.ts`, from);
  return new URL(`./${name.split('/').at(-1)}.js`, from);
}
