import { KEY_PROVIDER_TYPE, newKeyComponent } from '../../crypto/index.ts';
import { type Component, REVISION } from '../../model/index.ts';
import { checkMayChooseKeys } from '../access/administrators.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { AdminRefusal, badRequest, notFound } from '../call/refusal.ts';
import { type Json, text } from '../representation/json.ts';
import { MASK, putSecretsBack } from '../representation/secrets.ts';
import { buildComponent } from './build-components.ts';

/** Lists the components that match, with masked secrets. See docs/keycloak/keys.md#key-components. */
export function listComponents(
  call: RealmCall,
  query: { parent?: string; type?: string; name?: string },
): Json[] {
  return call.configuration.components
    .filter(
      (component) =>
        (query.parent === undefined || component.parentId === query.parent) &&
        (query.type === undefined || component.providerType === query.type) &&
        (query.name === undefined || component.name === query.name),
    )
    .map((component) => componentRepresentation(component, 'masked'));
}

function getComponent(call: RealmCall, id: string): Component {
  const component = call.configuration.components.find((one) => one.id === id);
  if (component === undefined) throw notFound('Could not find component');
  return component;
}

/** Returns a component with masked secrets. @throws AdminRefusal 404 */
export function showComponent(call: RealmCall, id: string): Json {
  return componentRepresentation(getComponent(call, id), 'masked');
}

/**
 * Creates a key provider with its key, and returns the id of the component.
 *
 * @throws AdminRefusal for other providers
 */
export async function createComponent(call: RealmCall, given: Json): Promise<string> {
  const { context, configuration } = call;
  const { realm } = configuration;
  if (given['providerId'] === undefined) throw badRequest('Invalid provider type or no such provider');
  const built = buildComponent({ providerType: KEY_PROVIDER_TYPE, ...given }, realm.id, context, '$');
  if (Object.keys(built.secrets).length > 0) checkMayChooseKeys(call);
  const component = await completed(call, built);
  await applyChanges(call, [{ do: 'create', component }], {
    operation: 'CREATE',
    resource: 'COMPONENT',
    path: `components/${component.id}`,
    representation: componentRepresentation(component, 'masked'),
  });
  return component.id;
}

async function completed(call: RealmCall, component: Component): Promise<Component> {
  if (component.providerType !== KEY_PROVIDER_TYPE)
    throw new AdminRefusal('not-built', {
      errorMessage: `idkit does not support components of type ${component.providerType} yet`,
    });
  const { clock, random } = call.context;
  const { realm } = call.configuration;
  const made = await newKeyComponent({
    ...component,
    realm: { id: realm.id, name: realm.name },
    clock,
    random,
  });
  if (made.outcome === 'invalid') throw badRequest(made.message);
  return { ...made.component, parentId: component.parentId };
}

/** Changes the given fields of a component. A masked secret leaves the stored secret unchanged. */
export async function updateComponent(call: RealmCall, id: string, given: Json): Promise<void> {
  const before = getComponent(call, id);
  const built = buildComponent(
    {
      ...(componentRepresentation(before, 'masked') as Json),
      ...given,
      id,
      config: { ...before.config, ...((given['config'] ?? {}) as Json) },
    },
    before.realmId,
    call.context,
    '$',
  );
  const changed = Object.entries(built.secrets).filter(([, secret]) => secret.reveal() !== MASK);
  if (changed.length > 0) checkMayChooseKeys(call);
  const secrets = { ...before.secrets, ...Object.fromEntries(changed) };
  const name = text(given['name']) ?? before.name;
  const made = await completed(call, { ...built, name, secrets });
  const component = { ...made, [REVISION]: before[REVISION]! };
  await applyChanges(call, [{ do: 'put', component }], {
    operation: 'UPDATE',
    resource: 'COMPONENT',
    path: `components/${id}`,
    representation: componentRepresentation(component, 'masked'),
  });
}

/** Removes a component. If it is a key provider, its key is removed too. @throws AdminRefusal 404 */
export async function deleteComponent(call: RealmCall, id: string): Promise<void> {
  const component = getComponent(call, id);
  await applyChanges(call, [{ do: 'remove', what: 'component', id: component.id }], {
    operation: 'DELETE',
    resource: 'COMPONENT',
    path: `components/${id}`,
  });
}

/** Returns a component with its secrets in the clear or masked, see docs/keycloak/admin-api.md#masking. */
export function componentRepresentation(component: Component, secrets: 'clear' | 'masked'): Json {
  const lists: Record<string, unknown> = { ...component.config };
  for (const pointer of Object.keys(component.secrets)) {
    const name = /^\/config\/(.+)\/\d+$/.exec(pointer)?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
    if (name !== undefined) lists[name] ??= [];
  }
  const representation: Json = {
    id: component.id,
    ...(component.name === '' ? {} : { name: component.name }),
    providerId: component.providerId,
    providerType: component.providerType,
    parentId: component.parentId,
    ...(component.subType === undefined ? {} : { subType: component.subType }),
    config: lists,
  };
  return putSecretsBack(representation, component.secrets, secrets);
}
