// A process that opens a store on Postgres, acquires a lock, reports it and holds it until it is killed.
import { Secret } from '../../../src/core/index.ts';
import { openStore } from '../../../src/store/open.ts';

const [, , url, password, key, name] = process.argv;
const store = await openStore({
  postgres: { url: url!, password: new Secret(password!) },
  masterKey: new Secret(key!),
});
const end = await store.takeTurn(name!, 20_000);
console.log(end === undefined ? 'busy' : 'taken');
setInterval(() => {}, 60_000);
