import { NEW_PASSWORD, REALM, REDIRECT_URI } from './tasks.ts';
import type { Doings, ShellHand } from './way.ts';

const ID = '--fields id --format csv --noquotes';
const NOTHING = 'Keycloak has no backup';

/** The tasks with Keycloak's kcadm.sh, which is logged in. */
export function doInKcadm(hand: ShellHand): Doings {
  const kcadm = (words: string) => hand.run(`kcadm.sh ${words}`);
  const idOfUser = (username: string) =>
    kcadm(`get users -r ${REALM} -q exact=true -q username=${username} ${ID}`);
  const idOfClient = (clientId: string) => kcadm(`get clients -r ${REALM} -q clientId=${clientId} ${ID}`);
  return {
    async unlock() {
      const id = await kcadm(`get users -r ${REALM} -q email=linda@example.org ${ID}`);
      return kcadm(`delete attack-detection/brute-force/users/${id} -r ${REALM}`);
    },
    password: () =>
      kcadm(`set-password -r ${REALM} --username petra --new-password ${NEW_PASSWORD} --temporary`),
    async sessions() {
      const id = await idOfUser('omar');
      return kcadm(`create users/${id}/logout -r ${REALM} -s realm=${REALM} -s user=${id}`);
    },
    bulk: () =>
      hand.run(
        `tail -n +2 users.csv | while read -r user; do kcadm.sh add-roles -r ${REALM} --uusername "$user" --rolename auditor </dev/null || exit 1; done`,
      ),
    async group() {
      const user = await idOfUser('petra');
      const group = await kcadm(`get group-by-path/staff/berlin -r ${REALM} ${ID}`);
      return kcadm(
        `update users/${user}/groups/${group} -r ${REALM} -s realm=${REALM} -s userId=${user} -s groupId=${group} -n`,
      );
    },
    logins: () => kcadm(`get events -r ${REALM} -q type=LOGIN -q dateFrom="$(date +%F)"`),
    async client() {
      const id = await kcadm(
        `create clients -r ${REALM} -s clientId=orders -s publicClient=false -s 'redirectUris=["https://orders.example.org/callback"]' -s 'attributes={"pkce.code.challenge.method":"S256"}' -i`,
      );
      return kcadm(`get clients/${id}/client-secret -r ${REALM}`);
    },
    async redirect() {
      const id = await idOfClient('shop');
      return kcadm(`update clients/${id} -r ${REALM} -s redirectUris+=${REDIRECT_URI}`);
    },
    async disable() {
      const id = await idOfClient('legacy');
      return kcadm(`update clients/${id} -r ${REALM} -s enabled=false`);
    },
    lifetime: () => kcadm(`update realms/${REALM} -s accessTokenLifespan=600`),
    async key() {
      const parent = await kcadm(`get realms/${REALM} ${ID}`);
      await kcadm(`get components -r ${REALM} -q type=org.keycloak.keys.KeyProvider`);
      return kcadm(
        `create components -r ${REALM} -s name=rsa-generated-2 -s providerId=rsa-generated -s providerType=org.keycloak.keys.KeyProvider -s parentId=${parent} -s 'config.priority=["200"]' -s 'config.enabled=["true"]' -s 'config.active=["true"]' -s 'config.keySize=["2048"]' -s 'config.algorithm=["RS256"]'`,
      );
    },
    async export() {
      await kcadm(
        `create realms/${REALM}/partial-export -q exportClients=true -q exportGroupsAndRoles=true -o > kcadm-export.json`,
      );
      await hand.run(REMOVE_IDS);
      return kcadm(`create realms -s realm=${REALM}-copy -f kcadm-copy.json`);
    },
    backup: NOTHING,
    restore: NOTHING,
  };
}

/** Keycloak refuses the ids of a realm that exists. An editor or a script has to remove them. */
const REMOVE_IDS =
  'jq "walk(if type == \\"object\\" then del(.id, .containerId, ._id) else . end)" kcadm-export.json > kcadm-copy.json';
