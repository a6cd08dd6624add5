/**
 * Returns the URL of a worker thread's module. In a checkout, the path is relative to the calling module. In the built
 * package, modules are bundled into a few files with the thread modules next to them, so only the file name is used.
 *
 * @param from the caller's `import.meta.url`
 * @param name path relative to the caller, without the extension, for example `./writer-thread`
 */
export function threadModule(from: string, name: string): URL {
  if (from.endsWith('.ts')) return new URL(`${name}.ts`, from);
  return new URL(`./${name.split('/').at(-1)}.js`, from);
}
