import { NEW_PASSWORD, REALM, REDIRECT_URI } from './tasks.ts';
import type { Doings, ShellHand } from './way.ts';

/** The tasks with the commands of idkit, in the platform directory. `IDKIT_REALM` chooses the realm. */
export function doInIdkitAdmin(hand: ShellHand): Doings {
  return {
    unlock: () => hand.run('idkit admin user unlock linda@example.org'),
    password: () => hand.run('idkit admin user set-password petra --temporary', `${NEW_PASSWORD}\n`),
    sessions: () => hand.run('idkit admin user logout omar'),
    bulk: () => hand.run('idkit admin bulk add-role auditor users.csv'),
    group: () => hand.run('idkit admin user group add petra /staff/berlin'),
    logins: () => hand.run('idkit admin event list user --type LOGIN --from "$(date +%F)"'),
    client: () =>
      hand.run('idkit admin client create orders --redirect-uri https://orders.example.org/callback'),
    redirect: () => hand.run(`idkit admin client update shop --add redirectUris=${REDIRECT_URI}`),
    disable: () => hand.run('idkit admin client disable legacy'),
    lifetime: () => hand.run(`idkit admin realm update ${REALM} --set accessTokenLifespan=600`),
    key: () => hand.run('idkit admin key rotate --yes'),
    async export() {
      await hand.run(`idkit admin realm export ${REALM} > admin-export.json`);
      await hand.run(`idkit admin realm import admin-export.json --as ${REALM}-copy --dry-run`);
      return hand.run(`idkit admin realm import admin-export.json --as ${REALM}-copy`);
    },
    backup: () => hand.run('idkit verify --max-age 26h'),
    async restore() {
      await hand.run('idkit --dir ../copy restore --from idkit/backups/latest --yes');
      await hand.run(
        'idkit --dir ../copy serve --port "$COPY_PORT" >../copy.log 2>&1 & echo $! >../copy.pid',
      );
      const address = 'http://127.0.0.1:$COPY_PORT';
      await hand.run(`curl -s --retry 60 --retry-delay 1 --retry-connrefused "${address}/health/ready"`);
      return hand.run(`idkit --dir ../copy admin user get linda --base-url "${address}"`);
    },
  };
}
