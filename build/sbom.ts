import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Writes dist/sbom.cdx.json, a CycloneDX bill of materials of what a user gets: the packages that npm installs as
// dependencies, and the packages whose code is bundled into dist. `npm sbom` lists every package of the lock file, and
// this program keeps those that are shipped.

interface Component {
  'bom-ref': string;
  type: string;
  name: string;
  version: string;
  scope: string;
  purl: string;
  properties: readonly { name: string; value: string }[];
  externalReferences: readonly unknown[];
  hashes: readonly { alg: string; content: string }[];
  licenses: readonly { license: { id: string } }[];
}

interface Sbom {
  serialNumber?: string;
  metadata: { timestamp?: string; lifecycles: { phase: string }[]; component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  name: string;
  dependencies: Record<string, string>;
};

const { npm_execpath: npm = 'npm' } = process.env;
const [program, ...first] = /\.c?js$/.test(npm) ? [process.execPath, npm] : [npm];
const command = [
  'sbom',
  '--sbom-format=cyclonedx',
  '--sbom-type=application',
  '--package-lock-only',
  '--no-workspaces',
];
const sbom = JSON.parse(
  execFileSync(program!, [...first, ...command], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 }),
) as Sbom;

const bundled = new Set(
  ['dist/LICENSES.txt', 'dist/console/LICENSES.txt'].flatMap((file) =>
    [...readFileSync(root + file, 'utf8').matchAll(/^(\S+) (\d+\.\d+\.\d+\S*) \(/gm)].map(
      ([, name, version]) => `${name}@${version}`,
    ),
  ),
);
const installed = findInstalled();
const shipped = new Set([...bundled, ...installed]);

const { component } = sbom.metadata;
// The file contains no time and no random number, so that two builds of one commit are identical.
delete sbom.serialNumber;
delete sbom.metadata.timestamp;
sbom.metadata.lifecycles = [{ phase: 'build' }];
component.name = manifest.name;
sbom.components = sbom.components
  .filter((entry) => shipped.has(entry['bom-ref']))
  .map((entry) => ({ ...entry, properties: deliveryOf(entry['bom-ref']) }));
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => shipped.has(ref) || ref === component['bom-ref'])
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => shipped.has(other)) }));

const known = new Set(sbom.components.map((entry) => entry['bom-ref']));
const missing = [...shipped].filter((ref) => !known.has(ref));
if (missing.length > 0) throw new Error(`package-lock.json does not hold ${missing.join(', ')}`);
writeFileSync(`${root}dist/sbom.cdx.json`, `${JSON.stringify(sbom)}\n`);

/** Returns the direct and indirect dependencies of the package as `name@version`. */
function findInstalled(): ReadonlySet<string> {
  const edges = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const direct = edges.get(sbom.metadata.component['bom-ref']) ?? [];
  const reached = new Set(
    direct.filter((ref) => ref.slice(0, ref.lastIndexOf('@')) in manifest.dependencies),
  );
  for (const ref of reached) for (const next of edges.get(ref) ?? []) reached.add(next);
  return reached;
}

/**
 * Describes how the package gets to the user. npm's own `devDependency` property would be misleading: it is also set
 * for packages whose code is in dist.
 */
function deliveryOf(ref: string): Component['properties'] {
  return [
    ...(bundled.has(ref) ? [{ name: 'idkit:delivery', value: 'bundled into dist' }] : []),
    ...(installed.has(ref) ? [{ name: 'idkit:delivery', value: 'installed as a dependency' }] : []),
  ];
}
