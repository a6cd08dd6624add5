/**
 * The package that contains only the library, for applications. The build writes it into dist/packages, and the pages
 * in docs/applications/ name it; a test compares them with this file.
 */
export const LIBRARY_PACKAGE = 'idkit-client';

/** The entries of that package: what an application imports, and the source that it gets. */
export const LIBRARY_ENTRIES = [
  { path: '.', file: 'client', source: 'src/client/application/index.ts', types: 'application/index.d.ts' },
  {
    path: './resource-server',
    file: 'resource-server',
    source: 'src/client/resource-server/index.ts',
    types: 'resource-server/index.d.ts',
  },
] as const;

/** The only dependencies of the library. */
export const LIBRARY_DEPENDENCIES = ['jose', 'oauth4webapi'] as const;
