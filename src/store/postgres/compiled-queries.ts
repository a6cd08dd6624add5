// Written by `node src/store/sqlite/compile-queries.ts` from ../queries/; a test compares the two.
import type { CompiledQuery } from '../queries/define.ts';

// biome-ignore format: generated
export const COMPILED_QUERIES: Readonly<Record<string, CompiledQuery>> = {
 "realm.insert": {
  "sql": "insert into \"realm\" (\"id\", \"name\", \"doc\", \"sealed\") values ($1, $2, $3, $4)",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "name"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "sealed"
   }
  ]
 },
 "realm.update": {
  "sql": "update \"realm\" set \"name\" = $1, \"doc\" = $2, \"sealed\" = $3 where \"id\" = $4",
  "bind": [
   {
    "slot": "name"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "sealed"
   },
   {
    "slot": "id"
   }
  ]
 },
 "realm.delete": {
  "sql": "delete from \"realm\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "realm.byId": {
  "sql": "select * from \"realm\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "client.insert": {
  "sql": "insert into \"client\" (\"id\", \"realm_id\", \"client_id\", \"doc\", \"sealed\") values ($1, $2, $3, $4, $5)",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "client_id"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "sealed"
   }
  ]
 },
 "client.update": {
  "sql": "update \"client\" set \"realm_id\" = $1, \"client_id\" = $2, \"doc\" = $3, \"sealed\" = $4 where \"id\" = $5",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "client_id"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "sealed"
   },
   {
    "slot": "id"
   }
  ]
 },
 "client.delete": {
  "sql": "delete from \"client\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "client.byId": {
  "sql": "select * from \"client\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "client.byRealm": {
  "sql": "select * from \"client\" where \"realm_id\" = $1 order by \"id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "client_scope.insert": {
  "sql": "insert into \"client_scope\" (\"id\", \"realm_id\", \"name\", \"doc\") values ($1, $2, $3, $4)",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "name"
   },
   {
    "slot": "doc"
   }
  ]
 },
 "client_scope.update": {
  "sql": "update \"client_scope\" set \"realm_id\" = $1, \"name\" = $2, \"doc\" = $3 where \"id\" = $4",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "name"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "id"
   }
  ]
 },
 "client_scope.delete": {
  "sql": "delete from \"client_scope\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "client_scope.byId": {
  "sql": "select * from \"client_scope\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "client_scope.byRealm": {
  "sql": "select * from \"client_scope\" where \"realm_id\" = $1 order by \"id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "role.insert": {
  "sql": "insert into \"role\" (\"id\", \"realm_id\", \"client_uuid\", \"name\", \"doc\") values ($1, $2, $3, $4, $5)",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "client_uuid"
   },
   {
    "slot": "name"
   },
   {
    "slot": "doc"
   }
  ]
 },
 "role.update": {
  "sql": "update \"role\" set \"realm_id\" = $1, \"client_uuid\" = $2, \"name\" = $3, \"doc\" = $4 where \"id\" = $5",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "client_uuid"
   },
   {
    "slot": "name"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "id"
   }
  ]
 },
 "role.delete": {
  "sql": "delete from \"role\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "role.byId": {
  "sql": "select * from \"role\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "role.byRealm": {
  "sql": "select * from \"role\" where \"realm_id\" = $1 order by \"id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "realm_group.insert": {
  "sql": "insert into \"realm_group\" (\"id\", \"realm_id\", \"parent_id\", \"name\", \"doc\") values ($1, $2, $3, $4, $5)",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "parent_id"
   },
   {
    "slot": "name"
   },
   {
    "slot": "doc"
   }
  ]
 },
 "realm_group.update": {
  "sql": "update \"realm_group\" set \"realm_id\" = $1, \"parent_id\" = $2, \"name\" = $3, \"doc\" = $4 where \"id\" = $5",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "parent_id"
   },
   {
    "slot": "name"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "id"
   }
  ]
 },
 "realm_group.delete": {
  "sql": "delete from \"realm_group\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "realm_group.byId": {
  "sql": "select * from \"realm_group\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "realm_group.byRealm": {
  "sql": "select * from \"realm_group\" where \"realm_id\" = $1 order by \"id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "component.insert": {
  "sql": "insert into \"component\" (\"id\", \"realm_id\", \"doc\", \"sealed\") values ($1, $2, $3, $4)",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "sealed"
   }
  ]
 },
 "component.update": {
  "sql": "update \"component\" set \"realm_id\" = $1, \"doc\" = $2, \"sealed\" = $3 where \"id\" = $4",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "sealed"
   },
   {
    "slot": "id"
   }
  ]
 },
 "component.delete": {
  "sql": "delete from \"component\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "component.byId": {
  "sql": "select * from \"component\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "component.byRealm": {
  "sql": "select * from \"component\" where \"realm_id\" = $1 order by \"id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "account.insert": {
  "sql": "insert into \"account\" (\"id\", \"realm_id\", \"username\", \"email\", \"first_name\", \"last_name\", \"enabled\", \"email_verified\", \"service_account_client\", \"doc\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "username"
   },
   {
    "slot": "email"
   },
   {
    "slot": "first_name"
   },
   {
    "slot": "last_name"
   },
   {
    "slot": "enabled"
   },
   {
    "slot": "email_verified"
   },
   {
    "slot": "service_account_client"
   },
   {
    "slot": "doc"
   }
  ]
 },
 "account.update": {
  "sql": "update \"account\" set \"realm_id\" = $1, \"username\" = $2, \"email\" = $3, \"first_name\" = $4, \"last_name\" = $5, \"enabled\" = $6, \"email_verified\" = $7, \"service_account_client\" = $8, \"doc\" = $9 where \"id\" = $10",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "username"
   },
   {
    "slot": "email"
   },
   {
    "slot": "first_name"
   },
   {
    "slot": "last_name"
   },
   {
    "slot": "enabled"
   },
   {
    "slot": "email_verified"
   },
   {
    "slot": "service_account_client"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "id"
   }
  ]
 },
 "account.delete": {
  "sql": "delete from \"account\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "account.byId": {
  "sql": "select * from \"account\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "credential.insert": {
  "sql": "insert into \"credential\" (\"id\", \"user_id\", \"priority\", \"secret_data\", \"doc\", \"sealed\") values ($1, $2, $3, $4, $5, $6)",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "user_id"
   },
   {
    "slot": "priority"
   },
   {
    "slot": "secret_data"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "sealed"
   }
  ]
 },
 "credential.update": {
  "sql": "update \"credential\" set \"user_id\" = $1, \"priority\" = $2, \"secret_data\" = $3, \"doc\" = $4, \"sealed\" = $5 where \"id\" = $6",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "slot": "priority"
   },
   {
    "slot": "secret_data"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "sealed"
   },
   {
    "slot": "id"
   }
  ]
 },
 "credential.delete": {
  "sql": "delete from \"credential\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "credential.byId": {
  "sql": "select * from \"credential\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "realm.names": {
  "sql": "select \"name\" from \"realm\" order by \"name\"",
  "bind": []
 },
 "realm.byName": {
  "sql": "select * from \"realm\" where \"name\" = $1",
  "bind": [
   {
    "slot": "name"
   }
  ]
 },
 "client.byName": {
  "sql": "select * from \"client\" where \"realm_id\" = $1 and \"client_id\" = $2",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "client_id"
   }
  ]
 },
 "client.ids": {
  "sql": "select \"id\", \"client_id\" from \"client\" where \"realm_id\" = $1 order by \"client_id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "client_scope.byName": {
  "sql": "select \"id\" from \"client_scope\" where \"realm_id\" = $1 and \"name\" = $2",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "name"
   }
  ]
 },
 "role.byName": {
  "sql": "select \"id\" from \"role\" where \"realm_id\" = $1 and coalesce(client_uuid, '') = $2 and \"name\" = $3",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "owner"
   },
   {
    "slot": "name"
   }
  ]
 },
 "role.ofClient": {
  "sql": "select \"id\" from \"role\" where \"client_uuid\" = $1",
  "bind": [
   {
    "slot": "client_uuid"
   }
  ]
 },
 "realm_group.byName": {
  "sql": "select \"id\" from \"realm_group\" where \"realm_id\" = $1 and coalesce(parent_id, '') = $2 and \"name\" = $3",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "owner"
   },
   {
    "slot": "name"
   }
  ]
 },
 "realm_group.children": {
  "sql": "select \"id\" from \"realm_group\" where \"parent_id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "role.naming": {
  "sql": "select \"id\", \"doc\" from \"role\" where \"realm_id\" = $1 and \"doc\" like $2",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "pattern"
   }
  ]
 },
 "realm_group.naming": {
  "sql": "select \"id\", \"doc\" from \"realm_group\" where \"realm_id\" = $1 and \"doc\" like $2",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "pattern"
   }
  ]
 },
 "client.naming": {
  "sql": "select \"id\", \"doc\" from \"client\" where \"realm_id\" = $1 and \"doc\" like $2",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "pattern"
   }
  ]
 },
 "client_scope.naming": {
  "sql": "select \"id\", \"doc\" from \"client_scope\" where \"realm_id\" = $1 and \"doc\" like $2",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "pattern"
   }
  ]
 },
 "role.setDoc": {
  "sql": "update \"role\" set \"doc\" = $1 where \"id\" = $2",
  "bind": [
   {
    "slot": "doc"
   },
   {
    "slot": "id"
   }
  ]
 },
 "realm_group.setDoc": {
  "sql": "update \"realm_group\" set \"doc\" = $1 where \"id\" = $2",
  "bind": [
   {
    "slot": "doc"
   },
   {
    "slot": "id"
   }
  ]
 },
 "client.setDoc": {
  "sql": "update \"client\" set \"doc\" = $1 where \"id\" = $2",
  "bind": [
   {
    "slot": "doc"
   },
   {
    "slot": "id"
   }
  ]
 },
 "client_scope.setDoc": {
  "sql": "update \"client_scope\" set \"doc\" = $1 where \"id\" = $2",
  "bind": [
   {
    "slot": "doc"
   },
   {
    "slot": "id"
   }
  ]
 },
 "meta.list": {
  "sql": "select * from \"meta\" order by \"name\"",
  "bind": []
 },
 "meta.put": {
  "sql": "insert into \"meta\" (\"name\", \"value\") values ($1, $2) on conflict (\"name\") do update set \"value\" = $3",
  "bind": [
   {
    "slot": "name"
   },
   {
    "slot": "value"
   },
   {
    "slot": "value"
   }
  ]
 },
 "meta.delete": {
  "sql": "delete from \"meta\" where \"name\" = $1",
  "bind": [
   {
    "slot": "name"
   }
  ]
 },
 "user.find": {
  "sql": "select \"account\".*, (select coalesce(json_agg(\"role_id\" order by \"role_id\"), '[]') as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select coalesce(json_agg(\"group_id\" order by \"group_id\"), '[]') as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"id\" = $1 and \"account\".\"realm_id\" = $2",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "realm_id"
   }
  ]
 },
 "user.byUsername": {
  "sql": "select \"account\".*, (select coalesce(json_agg(\"role_id\" order by \"role_id\"), '[]') as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select coalesce(json_agg(\"group_id\" order by \"group_id\"), '[]') as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"realm_id\" = $1 and \"account\".\"username\" = $2",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "username"
   }
  ]
 },
 "user.byEmail": {
  "sql": "select \"account\".*, (select coalesce(json_agg(\"role_id\" order by \"role_id\"), '[]') as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select coalesce(json_agg(\"group_id\" order by \"group_id\"), '[]') as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"realm_id\" = $1 and \"account\".\"email\" = $2 order by \"account\".\"id\" limit $3",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "email"
   },
   {
    "value": 1
   }
  ]
 },
 "user.ofClient": {
  "sql": "select \"account\".*, (select coalesce(json_agg(\"role_id\" order by \"role_id\"), '[]') as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select coalesce(json_agg(\"group_id\" order by \"group_id\"), '[]') as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"service_account_client\" = $1 limit $2",
  "bind": [
   {
    "slot": "client_uuid"
   },
   {
    "value": 1
   }
  ]
 },
 "user.withRole": {
  "sql": "select \"account\".*, (select coalesce(json_agg(\"role_id\" order by \"role_id\"), '[]') as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select coalesce(json_agg(\"group_id\" order by \"group_id\"), '[]') as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"username\" > $1 and account.id in (select user_id from \"user_role\" where \"role_id\" = $2) order by \"account\".\"username\" limit $3 offset $4",
  "bind": [
   {
    "slot": "after"
   },
   {
    "slot": "id"
   },
   {
    "slot": "max"
   },
   {
    "slot": "first"
   }
  ]
 },
 "user.withRole.inOrder": {
  "sql": "select \"account\".*, (select coalesce(json_agg(\"role_id\" order by \"role_id\"), '[]') as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select coalesce(json_agg(\"group_id\" order by \"group_id\"), '[]') as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"username\" > $1 and account.realm_id = (select realm_id from \"role\" where id = $2)\n        and exists (select 1 from \"user_role\" where user_id = account.id and \"role_id\" = $3) order by \"account\".\"username\" limit $4 offset $5",
  "bind": [
   {
    "slot": "after"
   },
   {
    "slot": "id"
   },
   {
    "slot": "id"
   },
   {
    "slot": "max"
   },
   {
    "slot": "first"
   }
  ]
 },
 "user.withRole.isCommon": {
  "sql": "select case when count(*) >= 10000 then 1 else 0 end as common\nfrom (select 1 from \"user_role\" where \"role_id\" = $1 limit 10000) as some_of_them",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "user.inGroup": {
  "sql": "select \"account\".*, (select coalesce(json_agg(\"role_id\" order by \"role_id\"), '[]') as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select coalesce(json_agg(\"group_id\" order by \"group_id\"), '[]') as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"username\" > $1 and account.id in (select user_id from \"user_group\" where \"group_id\" = $2) order by \"account\".\"username\" limit $3 offset $4",
  "bind": [
   {
    "slot": "after"
   },
   {
    "slot": "id"
   },
   {
    "slot": "max"
   },
   {
    "slot": "first"
   }
  ]
 },
 "user.inGroup.inOrder": {
  "sql": "select \"account\".*, (select coalesce(json_agg(\"role_id\" order by \"role_id\"), '[]') as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select coalesce(json_agg(\"group_id\" order by \"group_id\"), '[]') as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"username\" > $1 and account.realm_id = (select realm_id from \"realm_group\" where id = $2)\n        and exists (select 1 from \"user_group\" where user_id = account.id and \"group_id\" = $3) order by \"account\".\"username\" limit $4 offset $5",
  "bind": [
   {
    "slot": "after"
   },
   {
    "slot": "id"
   },
   {
    "slot": "id"
   },
   {
    "slot": "max"
   },
   {
    "slot": "first"
   }
  ]
 },
 "user.inGroup.isCommon": {
  "sql": "select case when count(*) >= 10000 then 1 else 0 end as common\nfrom (select 1 from \"user_group\" where \"group_id\" = $1 limit 10000) as some_of_them",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "user.requiredActions": {
  "sql": "select doc::jsonb ->> 'requiredActions' as \"actions\", count(*) as \"users\" from \"account\" where \"realm_id\" = $1 and \"enabled\" = $2 and \"doc\" like $3 group by doc::jsonb ->> 'requiredActions'",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "value": 1
   },
   {
    "value": "%\"requiredActions\":[\"%"
   }
  ]
 },
 "account.byUsername": {
  "sql": "select \"id\" from \"account\" where \"realm_id\" = $1 and \"username\" = $2",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "username"
   }
  ]
 },
 "account.byEmail": {
  "sql": "select \"id\" from \"account\" where \"realm_id\" = $1 and \"email\" = $2 and \"id\" <> $3 limit $4",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "email"
   },
   {
    "slot": "id"
   },
   {
    "value": 1
   }
  ]
 },
 "account.deleteOfClient": {
  "sql": "delete from \"account\" where \"service_account_client\" = $1",
  "bind": [
   {
    "slot": "client_uuid"
   }
  ]
 },
 "user_role.add": {
  "sql": "insert into \"user_role\" (\"user_id\", \"role_id\") values ($1, $2) on conflict do nothing",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "slot": "role_id"
   }
  ]
 },
 "user_role.delete": {
  "sql": "delete from \"user_role\" where \"user_id\" = $1 and \"role_id\" = $2",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "slot": "role_id"
   }
  ]
 },
 "user_role.clear": {
  "sql": "delete from \"user_role\" where \"user_id\" = $1",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "user_role.deleteRole": {
  "sql": "delete from \"user_role\" where \"role_id\" = $1",
  "bind": [
   {
    "slot": "role_id"
   }
  ]
 },
 "user_group.add": {
  "sql": "insert into \"user_group\" (\"user_id\", \"group_id\") values ($1, $2) on conflict do nothing",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "slot": "group_id"
   }
  ]
 },
 "user_group.delete": {
  "sql": "delete from \"user_group\" where \"user_id\" = $1 and \"group_id\" = $2",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "slot": "group_id"
   }
  ]
 },
 "user_group.clear": {
  "sql": "delete from \"user_group\" where \"user_id\" = $1",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "user_group.deleteGroup": {
  "sql": "delete from \"user_group\" where \"group_id\" = $1",
  "bind": [
   {
    "slot": "group_id"
   }
  ]
 },
 "credential.ofUser": {
  "sql": "select * from \"credential\" where \"user_id\" = $1 order by \"priority\", \"id\"",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "credential.ofSome": {
  "sql": "select \"credential\".* from (select \"next\".\"id\", 0 as \"part\" from (select \"id\" from \"account\" where \"realm_id\" = $1 and \"id\" >= $2 order by \"id\" limit $3) as \"next\" union all select \"first\".\"id\", 1 as \"part\" from (select \"id\" from \"account\" where \"realm_id\" = $4 order by \"id\" limit $5) as \"first\") as \"some\" inner join lateral (select * from \"credential\" where \"credential\".\"user_id\" = \"some\".\"id\" limit $6) as \"credential\" on true order by \"some\".\"part\", \"some\".\"id\"",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "place"
   },
   {
    "value": 8
   },
   {
    "slot": "realm_id"
   },
   {
    "value": 8
   },
   {
    "value": 64
   }
  ]
 },
 "credential.rehash": {
  "sql": "update \"credential\" set \"priority\" = $1, \"secret_data\" = $2, \"doc\" = $3, \"sealed\" = $4 where \"id\" = $5 and \"secret_data\" = $6",
  "bind": [
   {
    "slot": "priority"
   },
   {
    "slot": "secret_data"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "sealed"
   },
   {
    "slot": "id"
   },
   {
    "slot": "previous"
   }
  ]
 },
 "failures.find": {
  "sql": "select * from \"login_failures\" where \"realm_id\" = $1 and \"user_id\" = $2",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "user_id"
   }
  ]
 },
 "failures.insert": {
  "sql": "insert into \"login_failures\" (\"realm_id\", \"user_id\", \"revision\", \"doc\") values ($1, $2, $3, $4) on conflict do nothing",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "user_id"
   },
   {
    "slot": "next"
   },
   {
    "slot": "doc"
   }
  ]
 },
 "failures.update": {
  "sql": "update \"login_failures\" set \"revision\" = $1, \"doc\" = $2 where \"realm_id\" = $3 and \"user_id\" = $4 and \"revision\" = $5",
  "bind": [
   {
    "slot": "next"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "user_id"
   },
   {
    "slot": "revision"
   }
  ]
 },
 "failures.delete": {
  "sql": "delete from \"login_failures\" where \"realm_id\" = $1 and \"user_id\" = $2",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "user_id"
   }
  ]
 },
 "failures.deleteUser": {
  "sql": "delete from \"login_failures\" where \"user_id\" = $1",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "failures.clear": {
  "sql": "delete from \"login_failures\" where \"realm_id\" = $1",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "session.insert": {
  "sql": "insert into \"user_session\" (\"id\", \"offline\", \"realm_id\", \"user_id\", \"started_at\", \"last_access_at\", \"remember_me\", \"look_again\", \"doc\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "offline"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "user_id"
   },
   {
    "slot": "started_at"
   },
   {
    "slot": "last_access_at"
   },
   {
    "slot": "remember_me"
   },
   {
    "slot": "look_again"
   },
   {
    "slot": "doc"
   }
  ]
 },
 "session.find": {
  "sql": "select \"user_session\".*, (select max(\"last_refresh_at\") as \"at\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\" and \"user_session\".\"last_access_at\" < $1) as \"last_refresh_at\" from \"user_session\" where \"user_session\".\"id\" = $2 and \"user_session\".\"offline\" = $3",
  "bind": [
   {
    "slot": "now"
   },
   {
    "slot": "id"
   },
   {
    "slot": "offline"
   }
  ]
 },
 "session.ofUser": {
  "sql": "select \"user_session\".*, (select max(\"last_refresh_at\") as \"at\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\") as \"last_refresh_at\", \"account\".\"username\", (select coalesce(json_agg(distinct client_uuid), '[]') as \"uuids\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\") as \"client_uuids\" from \"user_session\" inner join \"account\" on \"account\".\"id\" = \"user_session\".\"user_id\" where \"user_session\".\"user_id\" = $1 and \"user_session\".\"offline\" = $2 order by \"user_session\".\"started_at\", \"user_session\".\"id\"",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "slot": "offline"
   }
  ]
 },
 "session.ofClient": {
  "sql": "select \"user_session\".*, (select max(\"last_refresh_at\") as \"at\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\") as \"last_refresh_at\", \"account\".\"username\", (select coalesce(json_agg(distinct client_uuid), '[]') as \"uuids\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\") as \"client_uuids\" from \"user_session\" inner join \"account\" on \"account\".\"id\" = \"user_session\".\"user_id\" where \"user_session\".\"offline\" = $1 and \"user_session\".\"id\" in (select distinct \"session_id\" from \"token_family\" where \"client_uuid\" = $2 and \"offline\" = $3 and \"session_id\" > $4 order by \"session_id\" limit $5 offset $6) order by \"user_session\".\"id\"",
  "bind": [
   {
    "slot": "offline"
   },
   {
    "slot": "client_uuid"
   },
   {
    "slot": "offline"
   },
   {
    "slot": "after"
   },
   {
    "slot": "max"
   },
   {
    "slot": "first"
   }
  ]
 },
 "session.clients": {
  "sql": "select distinct \"client_uuid\" from \"token_family\" where \"session_id\" = $1 and \"offline\" = $2",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "offline"
   }
  ]
 },
 "session.countByClient": {
  "sql": "select \"client_uuid\", \"offline\", count(distinct session_id) as \"sessions\" from \"token_family\" where \"client_uuid\" in (select \"id\" from \"client\" where \"realm_id\" = $1) group by \"client_uuid\", \"offline\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "session.delete": {
  "sql": "delete from \"user_session\" where \"id\" = $1 and \"offline\" = $2",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "offline"
   }
  ]
 },
 "session.deleteOfUser": {
  "sql": "delete from \"user_session\" where \"user_id\" = $1 and \"offline\" <= $2",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "slot": "offline"
   }
  ]
 },
 "session.deleteOfRealm": {
  "sql": "delete from \"user_session\" where \"realm_id\" = $1 and \"offline\" = $2",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "value": 0
   }
  ]
 },
 "session.due": {
  "sql": "select \"user_session\".*, (select max(\"last_refresh_at\") as \"at\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\") as \"last_refresh_at\" from \"user_session\" where \"look_again\" <= $1 order by \"look_again\" limit $2",
  "bind": [
   {
    "slot": "hour"
   },
   {
    "slot": "limit"
   }
  ]
 },
 "session.lookAgain": {
  "sql": "update \"user_session\" set \"look_again\" = $1 where \"id\" = $2 and \"offline\" = $3",
  "bind": [
   {
    "slot": "hour"
   },
   {
    "slot": "id"
   },
   {
    "slot": "offline"
   }
  ]
 },
 "session.touch": {
  "sql": "update \"user_session\" set \"last_access_at\" = greatest(last_access_at, $1) where \"id\" = $2 and \"offline\" = $3",
  "bind": [
   {
    "slot": "at"
   },
   {
    "slot": "id"
   },
   {
    "slot": "offline"
   }
  ]
 },
 "family.insert": {
  "sql": "insert into \"token_family\" (\"id\", \"session_id\", \"offline\", \"client_uuid\", \"user_id\", \"realm_id\", \"current_hash\", \"parent_hash\", \"parent_uses\", \"scope\", \"started_at\", \"last_refresh_at\", \"notes\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "session_id"
   },
   {
    "slot": "offline"
   },
   {
    "slot": "client_uuid"
   },
   {
    "slot": "user_id"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "current_hash"
   },
   {
    "slot": "parent_hash"
   },
   {
    "slot": "parent_uses"
   },
   {
    "slot": "scope"
   },
   {
    "slot": "started_at"
   },
   {
    "slot": "last_refresh_at"
   },
   {
    "slot": "notes"
   }
  ]
 },
 "family.find": {
  "sql": "select \"token_family\".*, \"user_session\".\"started_at\" as \"session_started_at\", \"user_session\".\"last_access_at\", \"user_session\".\"remember_me\", \"user_session\".\"doc\", (select max(\"other\".\"last_refresh_at\") as \"at\" from \"token_family\" as \"other\" where \"other\".\"session_id\" = \"token_family\".\"session_id\" and \"other\".\"offline\" = \"token_family\".\"offline\") as \"session_refresh_at\" from \"token_family\" inner join \"user_session\" on \"user_session\".\"id\" = \"token_family\".\"session_id\" and \"user_session\".\"offline\" = \"token_family\".\"offline\" where \"token_family\".\"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "family.row": {
  "sql": "select * from \"token_family\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "session.touchOfClient": {
  "sql": "update \"user_session\" set \"last_access_at\" = greatest(last_access_at, (select max(\"last_refresh_at\") as \"at\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\" and \"client_uuid\" = $1)) where (id, offline) in (select session_id, offline from token_family where client_uuid = $2)",
  "bind": [
   {
    "slot": "client_uuid"
   },
   {
    "slot": "client_uuid"
   }
  ]
 },
 "family.deleteOfClient": {
  "sql": "delete from \"token_family\" where \"client_uuid\" = $1",
  "bind": [
   {
    "slot": "client_uuid"
   }
  ]
 },
 "family.exists": {
  "sql": "select \"id\" from \"token_family\" where \"client_uuid\" = $1 and \"offline\" = $2 and \"session_id\" = $3 and \"started_at\" <= $4 limit $5",
  "bind": [
   {
    "slot": "client_uuid"
   },
   {
    "slot": "offline"
   },
   {
    "slot": "session_id"
   },
   {
    "slot": "started_by"
   },
   {
    "value": 1
   }
  ]
 },
 "family.delete": {
  "sql": "delete from \"token_family\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "family.deleteIdle": {
  "sql": "delete from \"token_family\" where \"session_id\" = $1 and \"offline\" = $2 and \"last_refresh_at\" < $3",
  "bind": [
   {
    "slot": "session_id"
   },
   {
    "slot": "offline"
   },
   {
    "slot": "before"
   }
  ]
 },
 "family.rotate": {
  "sql": "update \"token_family\" set \"parent_hash\" = $1, \"parent_uses\" = $2, \"current_hash\" = $3, \"last_refresh_at\" = greatest(last_refresh_at, $4) where \"id\" = $5 and \"current_hash\" = $6",
  "bind": [
   {
    "slot": "presented"
   },
   {
    "value": 1
   },
   {
    "slot": "next"
   },
   {
    "slot": "now"
   },
   {
    "slot": "id"
   },
   {
    "slot": "presented"
   }
  ]
 },
 "family.rotateAgain": {
  "sql": "update \"token_family\" set \"parent_uses\" = parent_uses + 1, \"current_hash\" = $1, \"last_refresh_at\" = greatest(last_refresh_at, $2) where \"id\" = $3 and \"parent_hash\" = $4 and \"parent_uses\" <= $5",
  "bind": [
   {
    "slot": "next"
   },
   {
    "slot": "now"
   },
   {
    "slot": "id"
   },
   {
    "slot": "presented"
   },
   {
    "slot": "max_reuse"
   }
  ]
 },
 "family.renew": {
  "sql": "update \"token_family\" set \"current_hash\" = $1, \"last_refresh_at\" = greatest(last_refresh_at, $2) where \"id\" = $3",
  "bind": [
   {
    "slot": "next"
   },
   {
    "slot": "now"
   },
   {
    "slot": "id"
   }
  ]
 },
 "revoked.add": {
  "sql": "insert into \"revoked_token\" (\"jti\", \"expires_at\") values ($1, $2) on conflict (\"jti\") do update set \"expires_at\" = greatest(revoked_token.expires_at, excluded.expires_at)",
  "bind": [
   {
    "slot": "jti"
   },
   {
    "slot": "expires_at"
   }
  ]
 },
 "revoked.find": {
  "sql": "select \"jti\" from \"revoked_token\" where \"jti\" = $1 and \"expires_at\" > $2",
  "bind": [
   {
    "slot": "jti"
   },
   {
    "slot": "now"
   }
  ]
 },
 "revoked.sweep": {
  "sql": "delete from \"revoked_token\" where \"jti\" in (select \"jti\" from \"revoked_token\" where \"expires_at\" <= $1 limit $2)",
  "bind": [
   {
    "slot": "now"
   },
   {
    "slot": "limit"
   }
  ]
 },
 "claim.take": {
  "sql": "insert into \"claim\" (\"name\", \"expires_at\") values ($1, $2) on conflict (\"name\") do update set \"expires_at\" = $3 where \"claim\".\"expires_at\" <= $4",
  "bind": [
   {
    "slot": "name"
   },
   {
    "slot": "expires_at"
   },
   {
    "slot": "expires_at"
   },
   {
    "slot": "now"
   }
  ]
 },
 "claim.find": {
  "sql": "select \"name\" from \"claim\" where \"name\" = $1 and \"expires_at\" > $2",
  "bind": [
   {
    "slot": "name"
   },
   {
    "slot": "now"
   }
  ]
 },
 "claim.sweep": {
  "sql": "delete from \"claim\" where \"name\" in (select \"name\" from \"claim\" where \"expires_at\" <= $1 limit $2)",
  "bind": [
   {
    "slot": "now"
   },
   {
    "slot": "limit"
   }
  ]
 },
 "authentication.find": {
  "sql": "select * from \"authentication_session\" where \"id\" = $1 and \"expires_at\" > $2",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "now"
   }
  ]
 },
 "authentication.insert": {
  "sql": "insert into \"authentication_session\" (\"id\", \"realm_id\", \"client_uuid\", \"user_id\", \"browser_hash\", \"expires_at\", \"doc\", \"revision\") values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "client_uuid"
   },
   {
    "slot": "user_id"
   },
   {
    "slot": "browser_hash"
   },
   {
    "slot": "expires_at"
   },
   {
    "slot": "doc"
   },
   {
    "value": 1
   }
  ]
 },
 "authentication.update": {
  "sql": "update \"authentication_session\" set \"id\" = $1, \"realm_id\" = $2, \"client_uuid\" = $3, \"user_id\" = $4, \"browser_hash\" = $5, \"expires_at\" = $6, \"doc\" = $7, \"revision\" = revision + 1 where \"id\" = $8 and \"revision\" = $9 and \"expires_at\" > $10",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "client_uuid"
   },
   {
    "slot": "user_id"
   },
   {
    "slot": "browser_hash"
   },
   {
    "slot": "expires_at"
   },
   {
    "slot": "doc"
   },
   {
    "slot": "id"
   },
   {
    "slot": "revision"
   },
   {
    "slot": "now"
   }
  ]
 },
 "authentication.delete": {
  "sql": "delete from \"authentication_session\" where \"id\" = $1",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "authentication.take": {
  "sql": "delete from \"authentication_session\" where \"id\" = $1 and \"revision\" = $2 and \"expires_at\" > $3",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "revision"
   },
   {
    "slot": "now"
   }
  ]
 },
 "authentication.deleteOfUser": {
  "sql": "delete from \"authentication_session\" where \"user_id\" = $1",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "authentication.bound": {
  "sql": "delete from \"authentication_session\" where \"id\" in (select \"oldest\".\"id\" from (select \"id\", \"doc\" from \"authentication_session\" where \"realm_id\" = $1 and \"user_id\" is null order by \"expires_at\" desc, \"id\" limit $2 offset $3) as \"oldest\" where \"oldest\".\"doc\" not like $4)",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "value": 2147483647
   },
   {
    "slot": "most"
   },
   {
    "value": "%\"passwordUser\":%"
   }
  ]
 },
 "authentication.deleteUnproved": {
  "sql": "delete from \"authentication_session\" where \"id\" = $1 and \"user_id\" is null and \"doc\" not like $2",
  "bind": [
   {
    "slot": "id"
   },
   {
    "value": "%\"passwordUser\":%"
   }
  ]
 },
 "authentication.sweep": {
  "sql": "delete from \"authentication_session\" where \"id\" in (select \"id\" from \"authentication_session\" where \"expires_at\" <= $1 limit $2)",
  "bind": [
   {
    "slot": "now"
   },
   {
    "slot": "limit"
   }
  ]
 },
 "code.insert": {
  "sql": "insert into \"authorization_code\" (\"hash\", \"realm_id\", \"client_uuid\", \"user_id\", \"session_id\", \"family_id\", \"issued_at\", \"expires_at\", \"doc\", \"state\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
  "bind": [
   {
    "slot": "hash"
   },
   {
    "slot": "realm_id"
   },
   {
    "slot": "client_uuid"
   },
   {
    "slot": "user_id"
   },
   {
    "slot": "session_id"
   },
   {
    "slot": "family_id"
   },
   {
    "slot": "issued_at"
   },
   {
    "slot": "expires_at"
   },
   {
    "slot": "doc"
   },
   {
    "value": 0
   }
  ]
 },
 "code.find": {
  "sql": "select * from \"authorization_code\" where \"hash\" = $1",
  "bind": [
   {
    "slot": "hash"
   }
  ]
 },
 "code.take": {
  "sql": "update \"authorization_code\" set \"state\" = $1, \"doc\" = $2 where \"hash\" = $3",
  "bind": [
   {
    "value": 1
   },
   {
    "value": "{\"notes\":{}}"
   },
   {
    "slot": "hash"
   }
  ]
 },
 "code.deleteUnused": {
  "sql": "delete from \"authorization_code\" where \"user_id\" = $1 and \"state\" = $2",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "value": 0
   }
  ]
 },
 "code.sweep": {
  "sql": "delete from \"authorization_code\" where \"hash\" in (select \"hash\" from \"authorization_code\" where \"expires_at\" <= $1 limit $2)",
  "bind": [
   {
    "slot": "before"
   },
   {
    "slot": "limit"
   }
  ]
 },
 "consent.put": {
  "sql": "insert into \"user_consent\" (\"user_id\", \"client_uuid\", \"scope_ids\", \"created_date\", \"last_updated_date\") values ($1, $2, $3, $4, $5) on conflict (\"user_id\", \"client_uuid\") do update set \"scope_ids\" = $6, \"last_updated_date\" = $7",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "slot": "client_uuid"
   },
   {
    "slot": "scope_ids"
   },
   {
    "slot": "created_date"
   },
   {
    "slot": "last_updated_date"
   },
   {
    "slot": "scope_ids"
   },
   {
    "slot": "last_updated_date"
   }
  ]
 },
 "consent.find": {
  "sql": "select * from \"user_consent\" where \"user_id\" = $1 and \"client_uuid\" = $2",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "slot": "client_uuid"
   }
  ]
 },
 "consent.ofUser": {
  "sql": "select * from \"user_consent\" where \"user_id\" = $1 order by \"created_date\", \"client_uuid\"",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "consent.delete": {
  "sql": "delete from \"user_consent\" where \"user_id\" = $1 and \"client_uuid\" = $2",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "slot": "client_uuid"
   }
  ]
 },
 "family.ofClientInSession": {
  "sql": "select \"id\", \"session_id\", \"offline\", \"last_refresh_at\" from \"token_family\" where \"client_uuid\" = $1 and \"session_id\" = $2",
  "bind": [
   {
    "slot": "client_uuid"
   },
   {
    "slot": "session_id"
   }
  ]
 },
 "family.ofClientAndUser": {
  "sql": "select \"token_family\".\"id\", \"session_id\", \"token_family\".\"offline\", \"last_refresh_at\" from \"token_family\" inner join \"user_session\" on \"user_session\".\"id\" = \"token_family\".\"session_id\" and \"user_session\".\"offline\" = \"token_family\".\"offline\" where \"user_session\".\"user_id\" = $1 and \"token_family\".\"client_uuid\" = $2",
  "bind": [
   {
    "slot": "user_id"
   },
   {
    "slot": "client_uuid"
   }
  ]
 },
 "family.notes": {
  "sql": "select \"notes\" from \"token_family\" where \"client_uuid\" = $1 and \"offline\" = $2 and \"session_id\" = $3 and \"started_at\" <= $4 order by \"started_at\" desc limit $5",
  "bind": [
   {
    "slot": "client_uuid"
   },
   {
    "slot": "offline"
   },
   {
    "slot": "session_id"
   },
   {
    "slot": "started_by"
   },
   {
    "value": 1
   }
  ]
 },
 "family.ofSession": {
  "sql": "select \"id\" from \"token_family\" where \"session_id\" = $1 and \"offline\" = $2 limit $3",
  "bind": [
   {
    "slot": "session_id"
   },
   {
    "slot": "offline"
   },
   {
    "value": 1
   }
  ]
 },
 "session.row": {
  "sql": "select * from \"user_session\" where \"id\" = $1 and \"offline\" = $2",
  "bind": [
   {
    "slot": "id"
   },
   {
    "slot": "offline"
   }
  ]
 },
 "session.setDoc": {
  "sql": "update \"user_session\" set \"doc\" = $1 where \"id\" = $2 and \"offline\" = $3",
  "bind": [
   {
    "slot": "doc"
   },
   {
    "slot": "id"
   },
   {
    "slot": "offline"
   }
  ]
 },
 "event.insert": {
  "sql": "insert into \"event\" (\"realm_id\", \"time\", \"type\", \"client_id\", \"user_id\", \"ip_address\", \"doc\") values ($1, $2, $3, $4, $5, $6, $7)",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "time"
   },
   {
    "slot": "type"
   },
   {
    "slot": "client_id"
   },
   {
    "slot": "user_id"
   },
   {
    "slot": "ip_address"
   },
   {
    "slot": "doc"
   }
  ]
 },
 "event.clear": {
  "sql": "delete from \"event\" where \"realm_id\" = $1",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "event.sweep": {
  "sql": "delete from \"event\" where \"seq\" in (select \"seq\" from \"event\" where \"realm_id\" = $1 and \"time\" < $2 limit $3)",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "before"
   },
   {
    "slot": "limit"
   }
  ]
 },
 "admin_event.insert": {
  "sql": "insert into \"admin_event\" (\"realm_id\", \"time\", \"operation_type\", \"resource_type\", \"resource_path\", \"auth_realm_id\", \"auth_client_id\", \"auth_user_id\", \"auth_ip_address\", \"doc\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "time"
   },
   {
    "slot": "operation_type"
   },
   {
    "slot": "resource_type"
   },
   {
    "slot": "resource_path"
   },
   {
    "slot": "auth_realm_id"
   },
   {
    "slot": "auth_client_id"
   },
   {
    "slot": "auth_user_id"
   },
   {
    "slot": "auth_ip_address"
   },
   {
    "slot": "doc"
   }
  ]
 },
 "admin_event.clear": {
  "sql": "delete from \"admin_event\" where \"realm_id\" = $1",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "admin_event.sweep": {
  "sql": "delete from \"admin_event\" where \"seq\" in (select \"seq\" from \"admin_event\" where \"realm_id\" = $1 and \"time\" < $2 limit $3)",
  "bind": [
   {
    "slot": "realm_id"
   },
   {
    "slot": "before"
   },
   {
    "slot": "limit"
   }
  ]
 },
 "figures": {
  "sql": "select (select count(*) as \"n\" from \"realm\") as \"realms\", (select count(*) as \"n\" from \"account\") - (select count(*) as \"n\" from \"account\" where \"service_account_client\" is not null) as \"users\", (select count(*) as \"n\" from \"user_session\") as \"sessions\", (select count(*) as \"n\" from \"user_session\" where \"offline\" = $1) as \"offlineSessions\", (select count(*) as \"n\" from \"token_family\") as \"tokenFamilies\", (select count(*) as \"n\" from \"authentication_session\") as \"openLogins\"",
  "bind": [
   {
    "value": 1
   }
  ]
 },
 "realm.userCounts": {
  "sql": "select \"realm\".\"name\" as \"realm\", (select count(*) as \"n\" from \"account\" where \"account\".\"realm_id\" = \"realm\".\"id\") - coalesce(\"service\".\"n\", 0) as \"users\" from \"realm\" left join (select coalesce(\"realm_id\", '') as \"realm_id\", count(*) as \"n\" from \"account\" where \"service_account_client\" is not null group by coalesce(\"realm_id\", '')) as \"service\" on \"service\".\"realm_id\" = \"realm\".\"id\" order by \"realm\".\"name\"",
  "bind": []
 },
 "realm.sealedAfter": {
  "sql": "select \"id\", \"sealed\" from \"realm\" where \"sealed\" is not null and \"id\" > $1 order by \"id\" limit $2",
  "bind": [
   {
    "slot": "after"
   },
   {
    "value": 200
   }
  ]
 },
 "realm.reseal": {
  "sql": "update \"realm\" set \"sealed\" = $1 where \"id\" = $2 and \"sealed\" = $3",
  "bind": [
   {
    "slot": "sealed"
   },
   {
    "slot": "id"
   },
   {
    "slot": "previous"
   }
  ]
 },
 "client.sealedAfter": {
  "sql": "select \"id\", \"sealed\" from \"client\" where \"sealed\" is not null and \"id\" > $1 order by \"id\" limit $2",
  "bind": [
   {
    "slot": "after"
   },
   {
    "value": 200
   }
  ]
 },
 "client.reseal": {
  "sql": "update \"client\" set \"sealed\" = $1 where \"id\" = $2 and \"sealed\" = $3",
  "bind": [
   {
    "slot": "sealed"
   },
   {
    "slot": "id"
   },
   {
    "slot": "previous"
   }
  ]
 },
 "component.sealedAfter": {
  "sql": "select \"id\", \"sealed\" from \"component\" where \"sealed\" is not null and \"id\" > $1 order by \"id\" limit $2",
  "bind": [
   {
    "slot": "after"
   },
   {
    "value": 200
   }
  ]
 },
 "component.reseal": {
  "sql": "update \"component\" set \"sealed\" = $1 where \"id\" = $2 and \"sealed\" = $3",
  "bind": [
   {
    "slot": "sealed"
   },
   {
    "slot": "id"
   },
   {
    "slot": "previous"
   }
  ]
 },
 "credential.sealedAfter": {
  "sql": "select \"id\", \"sealed\" from \"credential\" where \"sealed\" is not null and \"id\" > $1 order by \"id\" limit $2",
  "bind": [
   {
    "slot": "after"
   },
   {
    "value": 200
   }
  ]
 },
 "credential.reseal": {
  "sql": "update \"credential\" set \"sealed\" = $1 where \"id\" = $2 and \"sealed\" = $3",
  "bind": [
   {
    "slot": "sealed"
   },
   {
    "slot": "id"
   },
   {
    "slot": "previous"
   }
  ]
 },
 "meta.add": {
  "sql": "insert into \"meta\" (\"name\", \"value\") values ($1, $2) on conflict do nothing",
  "bind": [
   {
    "slot": "name"
   },
   {
    "slot": "value"
   }
  ]
 },
 "meta.deleteOthers": {
  "sql": "delete from \"meta\" where \"name\" like $1 and \"name\" <> $2",
  "bind": [
   {
    "slot": "pattern"
   },
   {
    "slot": "name"
   }
  ]
 },
 "family.findAll": {
  "sql": "select \"token_family\".*, \"user_session\".\"started_at\" as \"session_started_at\", \"user_session\".\"last_access_at\", \"user_session\".\"remember_me\", \"user_session\".\"doc\", (select max(\"other\".\"last_refresh_at\") as \"at\" from \"token_family\" as \"other\" where \"other\".\"session_id\" = \"token_family\".\"session_id\" and \"other\".\"offline\" = \"token_family\".\"offline\") as \"session_refresh_at\" from \"token_family\" inner join \"user_session\" on \"user_session\".\"id\" = \"token_family\".\"session_id\" and \"user_session\".\"offline\" = \"token_family\".\"offline\" where token_family.id = any($1::text[])",
  "bind": [
   {
    "slot": "ids"
   }
  ]
 },
 "user.findAll": {
  "sql": "select \"account\".*, (select coalesce(json_agg(\"role_id\" order by \"role_id\"), '[]') as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select coalesce(json_agg(\"group_id\" order by \"group_id\"), '[]') as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where account.id = any($1::text[])",
  "bind": [
   {
    "slot": "ids"
   }
  ]
 },
 "family.rotateAll": {
  "sql": "\nupdate token_family set\n  parent_hash = case when call.single_use then call.presented else parent_hash end,\n  parent_uses = case when call.single_use then 1 else parent_uses end,\n  current_hash = call.next,\n  last_refresh_at = greatest(last_refresh_at, call.now)\nfrom (\n  select call.* from unnest($1::text[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bool[])\n    as call (id, presented, next, now, single_use)\n  join token_family as free on free.id = call.id collate \"C\" for no key update of free skip locked\n) as call\nwhere token_family.id = call.id collate \"C\" and (not call.single_use or token_family.current_hash = call.presented)\nreturning token_family.id",
  "bind": [
   {
    "slot": "ids"
   },
   {
    "slot": "presented"
   },
   {
    "slot": "next"
   },
   {
    "slot": "now"
   },
   {
    "slot": "single_use"
   }
  ]
 },
 "family.held": {
  "sql": "\nwith free as (select id from token_family where id = any($1::text[]) for no key update skip locked)\nselect id from token_family where id = any($2::text[]) and id not in (select id from free)",
  "bind": [
   {
    "slot": "ids"
   },
   {
    "slot": "ids"
   }
  ]
 },
 "family.takeBackAll": {
  "sql": "\nupdate token_family set\n  current_hash = case when parent_uses = 1 then call.presented else current_hash end,\n  parent_hash = case when parent_uses = 1 then null else parent_hash end,\n  parent_uses = parent_uses - 1\nfrom (\n  select call.* from unnest($1::text[], $2::bytea[], $3::bytea[]) as call (id, presented, next)\n  join token_family as free on free.id = call.id collate \"C\" and free.current_hash = call.next\n  for no key update of free skip locked\n) as call\nwhere token_family.id = call.id collate \"C\"\n  and token_family.current_hash = call.next and token_family.parent_hash = call.presented\nreturning call.next",
  "bind": [
   {
    "slot": "ids"
   },
   {
    "slot": "presented"
   },
   {
    "slot": "next"
   }
  ]
 }
};
