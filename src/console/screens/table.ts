import type { ComponentType } from 'react';

/** The parameters of an address pattern. `:tab?` may be missing. */
type Params<Pattern extends string> = Pattern extends `${infer First}/${infer Rest}`
  ? Params<First> & Params<Rest>
  : Pattern extends `:${infer Name}?`
    ? { readonly [Key in Name]?: string }
    : Pattern extends `:${infer Name}`
      ? { readonly [Key in Name]: string }
      : unknown;

/** A screen of the console: one row of the table. */
export interface ScreenRow {
  /** The pattern of its address. `:realm` is a realm's name. */
  address: string;
  /** The title in the navigation, and in the window while the screen is loading. */
  title: string;
  /** The list of the navigation that shows the screen. Absent: only other screens link to it. */
  group?: 'service' | 'realm' | 'configure';
  /**
   * The administrative roles of the realm of which the user needs one, or `all-realms` for administrators of all realms.
   * Absent: every administrator may see it.
   */
  needs?: readonly string[] | 'all-realms';
  /** Loads the code of the screen, when it is opened for the first time. Its props are the parameters of the address. */
  load(): Promise<ComponentType<Readonly<Record<string, string>>>>;
}

function screen<Pattern extends string>(
  address: Pattern,
  row: Omit<ScreenRow, 'address' | 'load'> & { load(): Promise<ComponentType<Params<Pattern>>> },
): ScreenRow {
  // A match of the pattern has all parameters that the component requires.
  return { address, ...row, load: row.load as ScreenRow['load'] };
}

const VIEW_REALM = ['view-realm', 'manage-realm'];
const VIEW_USERS = ['view-users', 'manage-users', 'query-users'];
const VIEW_GROUPS = ['view-users', 'manage-users', 'query-groups'];
const VIEW_CLIENTS = ['view-clients', 'manage-clients', 'query-clients'];
const VIEW_EVENTS = ['view-events', 'manage-events'];

/** All screens, in the order of the navigation. The first row whose address fits is shown. */
export const SCREENS: readonly ScreenRow[] = [
  screen('/', {
    title: 'Realms',
    group: 'service',
    load: async () => (await import('./realms/realms.tsx')).RealmsScreen,
  }),

  screen('/operations', {
    title: 'Operations',
    group: 'service',
    needs: 'all-realms',
    load: async () => (await import('./operations/operations.tsx')).OperationsScreen,
  }),

  // Users
  screen('/:realm/users', {
    title: 'Users',
    group: 'realm',
    needs: VIEW_USERS,
    load: async () => (await import('./users/users-screen.tsx')).UsersScreen,
  }),
  screen('/:realm/users/:id/:tab?', {
    title: 'User',
    load: async () => (await import('./users/user-screen.tsx')).UserScreen,
  }),

  // Groups
  screen('/:realm/groups', {
    title: 'Groups',
    group: 'realm',
    needs: VIEW_GROUPS,
    load: async () => (await import('./groups/groups-screen.tsx')).GroupsScreen,
  }),
  screen('/:realm/groups/:id/:tab?', {
    title: 'Group',
    load: async () => (await import('./groups/group-screen.tsx')).GroupScreen,
  }),

  // Roles of the realm and of clients
  screen('/:realm/roles', {
    title: 'Realm roles',
    group: 'realm',
    needs: VIEW_REALM,
    load: async () => (await import('./roles/roles-screen.tsx')).RolesScreen,
  }),
  screen('/:realm/roles/:id/:tab?', {
    title: 'Role',
    load: async () => (await import('./roles/role-screen.tsx')).RoleScreen,
  }),

  // Clients
  screen('/:realm/clients', {
    title: 'Clients',
    group: 'realm',
    needs: VIEW_CLIENTS,
    load: async () => (await import('./clients/clients-screen.tsx')).ClientsScreen,
  }),
  screen('/:realm/clients/:id/:tab?', {
    title: 'Client',
    load: async () => (await import('./clients/client-screen.tsx')).ClientScreen,
  }),
  screen('/:realm/client-scopes', {
    title: 'Client scopes',
    group: 'realm',
    needs: ['view-clients', 'manage-clients'],
    load: async () => (await import('./client-scopes/client-scopes-screen.tsx')).ClientScopesScreen,
  }),
  screen('/:realm/client-scopes/:id/:tab?', {
    title: 'Client scope',
    load: async () => (await import('./client-scopes/client-scope-screen.tsx')).ClientScopeScreen,
  }),

  // Sessions and events
  screen('/:realm/sessions', {
    title: 'Sessions',
    group: 'realm',
    needs: VIEW_REALM,
    load: async () => (await import('./sessions/sessions-screen.tsx')).SessionsScreen,
  }),
  screen('/:realm/events/:tab?', {
    title: 'Events',
    group: 'realm',
    needs: VIEW_EVENTS,
    load: async () => (await import('./events/events-screen.tsx')).EventsScreen,
  }),

  // Deleted records
  screen('/deleted-realms', {
    title: 'Deleted realms',
    group: 'service',
    needs: 'all-realms',
    load: async () => (await import('./trash/deleted-records.tsx')).DeletedRealmsScreen,
  }),
  screen('/:realm/deleted', {
    title: 'Deleted records',
    group: 'configure',
    needs: ['manage-users', 'manage-clients'],
    load: async () => (await import('./trash/deleted-records.tsx')).DeletedRecordsScreen,
  }),

  // The realm itself
  screen('/:realm/settings/:tab?', {
    title: 'Realm settings',
    group: 'configure',
    needs: VIEW_REALM,
    load: async () => (await import('./realm-settings/realm-settings.tsx')).RealmSettingsScreen,
  }),
  screen('/:realm/keys', {
    title: 'Keys',
    group: 'configure',
    needs: VIEW_REALM,
    load: async () => (await import('./keys/keys.tsx')).KeysScreen,
  }),
];
