import { Screen } from '../../components/frame.tsx';
import { RoleTable } from './role-table.tsx';

/** The roles of a realm. The roles of a client are on the client's screen. */
export function RolesScreen({ realm }: { realm: string }) {
  return (
    <Screen title="Realm roles" realm={realm}>
      <RoleTable realm={realm} label="Realm roles" inAddress />
    </Screen>
  );
}
