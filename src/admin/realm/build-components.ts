import { Secret, uuid } from '../../core/index.ts';
import { freshKeyComponents, KEY_PROVIDER_TYPE, newKeyComponent } from '../../crypto/index.ts';
import type { Component } from '../../model/index.ts';
import type { AdminContext } from '../call/context.ts';
import { RepresentationFault } from '../representation/fault.ts';
import { defined, type Json, objects, text } from '../representation/json.ts';
import { COMPONENT_SECRETS } from '../representation/secrets.ts';

type Config = Record<string, readonly string[]>;

/**
 * Builds the components of a realm's representation. Generates the keys of a new realm if the representation has none.
 *
 * @throws RepresentationFault for an invalid key component
 */
export async function buildComponents(
  representation: Json,
  realm: { id: string; name: string },
  context: AdminContext,
): Promise<Component[]> {
  const given: { component: Component; path: string }[] = [];
  const add = (byType: unknown, parentId: string, path: string): void => {
    for (const [providerType, list] of Object.entries((byType ?? {}) as Json))
      for (const [index, one] of objects(list).entries()) {
        const at = `${path}["${providerType}"][${index}]`;
        const component = buildComponent({ ...one, providerType, parentId }, realm.id, context, at);
        given.push({ component, path: at });
        add(one['subComponents'], component.id, `${at}.subComponents`);
      }
  };
  add(representation['components'], realm.id, '$.components');
  const components = await Promise.all(
    given.map(({ component, path }) => completeKey(component, realm, context, path)),
  );
  if (components.some((component) => component.providerType === KEY_PROVIDER_TYPE)) return components;
  return [...components, ...(await freshKeyComponents({ realm, ...context }))];
}

/** Generates the missing key material of a component. A component with key material stays unchanged. */
async function completeKey(
  component: Component,
  realm: { id: string; name: string },
  { clock, random }: AdminContext,
  path: string,
): Promise<Component> {
  const isKey = component.providerType === KEY_PROVIDER_TYPE;
  if (!isKey || Object.keys(component.secrets).length > 0) return component;
  const made = await newKeyComponent({ ...component, realm, clock, random });
  if (made.outcome === 'invalid') throw new RepresentationFault(path, made.message);
  return made.component;
}

/** Builds a component and separates its secrets. @throws RepresentationFault for a missing provider */
export function buildComponent(given: Json, realmId: string, context: AdminContext, path: string): Component {
  const providerId = text(given['providerId']);
  if (providerId === undefined)
    throw new RepresentationFault(`${path}.providerId`, 'a component needs a providerId');
  const { config, secrets } = splitConfig((given['config'] ?? {}) as Config);
  return {
    id: text(given['id']) ?? uuid(context.random),
    realmId,
    name: text(given['name']) ?? '',
    providerId,
    providerType: text(given['providerType']) ?? '',
    parentId: text(given['parentId']) ?? realmId,
    ...defined({ subType: text(given['subType']) }),
    config,
    secrets,
  };
}

/** Separates the secrets from the configuration of a component. */
function splitConfig(given: Config): { config: Config; secrets: Record<string, Secret> } {
  const secrets: Record<string, Secret> = {};
  const config: [string, readonly string[]][] = [];
  for (const [name, values] of Object.entries(given)) {
    if (!COMPONENT_SECRETS.has(name)) config.push([name, values]);
    else
      for (const [index, value] of values.entries()) secrets[`/config/${name}/${index}`] = new Secret(value);
  }
  return { config: Object.fromEntries(config), secrets };
}
