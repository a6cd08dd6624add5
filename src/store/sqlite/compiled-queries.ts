// Written by `node src/store/sqlite/compile-queries.ts` from ../queries/; a test compares the two.
import type { CompiledQuery } from '../queries/define.ts';

// biome-ignore format: generated
export const COMPILED_QUERIES: Readonly<Record<string, CompiledQuery>> = {
 "realm.insert": {
  "sql": "insert into \"realm\" (\"id\", \"name\", \"doc\", \"sealed\") values (?, ?, ?, ?)",
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
  "sql": "update \"realm\" set \"name\" = ?, \"doc\" = ?, \"sealed\" = ? where \"id\" = ?",
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
  "sql": "delete from \"realm\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "realm.byId": {
  "sql": "select * from \"realm\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "client.insert": {
  "sql": "insert into \"client\" (\"id\", \"realm_id\", \"client_id\", \"doc\", \"sealed\") values (?, ?, ?, ?, ?)",
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
  "sql": "update \"client\" set \"realm_id\" = ?, \"client_id\" = ?, \"doc\" = ?, \"sealed\" = ? where \"id\" = ?",
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
  "sql": "delete from \"client\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "client.byId": {
  "sql": "select * from \"client\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "client.byRealm": {
  "sql": "select * from \"client\" where \"realm_id\" = ? order by \"id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "client_scope.insert": {
  "sql": "insert into \"client_scope\" (\"id\", \"realm_id\", \"name\", \"doc\") values (?, ?, ?, ?)",
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
  "sql": "update \"client_scope\" set \"realm_id\" = ?, \"name\" = ?, \"doc\" = ? where \"id\" = ?",
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
  "sql": "delete from \"client_scope\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "client_scope.byId": {
  "sql": "select * from \"client_scope\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "client_scope.byRealm": {
  "sql": "select * from \"client_scope\" where \"realm_id\" = ? order by \"id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "role.insert": {
  "sql": "insert into \"role\" (\"id\", \"realm_id\", \"client_uuid\", \"name\", \"doc\") values (?, ?, ?, ?, ?)",
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
  "sql": "update \"role\" set \"realm_id\" = ?, \"client_uuid\" = ?, \"name\" = ?, \"doc\" = ? where \"id\" = ?",
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
  "sql": "delete from \"role\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "role.byId": {
  "sql": "select * from \"role\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "role.byRealm": {
  "sql": "select * from \"role\" where \"realm_id\" = ? order by \"id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "realm_group.insert": {
  "sql": "insert into \"realm_group\" (\"id\", \"realm_id\", \"parent_id\", \"name\", \"doc\") values (?, ?, ?, ?, ?)",
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
  "sql": "update \"realm_group\" set \"realm_id\" = ?, \"parent_id\" = ?, \"name\" = ?, \"doc\" = ? where \"id\" = ?",
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
  "sql": "delete from \"realm_group\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "realm_group.byId": {
  "sql": "select * from \"realm_group\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "realm_group.byRealm": {
  "sql": "select * from \"realm_group\" where \"realm_id\" = ? order by \"id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "component.insert": {
  "sql": "insert into \"component\" (\"id\", \"realm_id\", \"doc\", \"sealed\") values (?, ?, ?, ?)",
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
  "sql": "update \"component\" set \"realm_id\" = ?, \"doc\" = ?, \"sealed\" = ? where \"id\" = ?",
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
  "sql": "delete from \"component\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "component.byId": {
  "sql": "select * from \"component\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "component.byRealm": {
  "sql": "select * from \"component\" where \"realm_id\" = ? order by \"id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "account.insert": {
  "sql": "insert into \"account\" (\"id\", \"realm_id\", \"username\", \"email\", \"first_name\", \"last_name\", \"enabled\", \"email_verified\", \"service_account_client\", \"doc\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
  "sql": "update \"account\" set \"realm_id\" = ?, \"username\" = ?, \"email\" = ?, \"first_name\" = ?, \"last_name\" = ?, \"enabled\" = ?, \"email_verified\" = ?, \"service_account_client\" = ?, \"doc\" = ? where \"id\" = ?",
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
  "sql": "delete from \"account\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "account.byId": {
  "sql": "select * from \"account\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "credential.insert": {
  "sql": "insert into \"credential\" (\"id\", \"user_id\", \"priority\", \"secret_data\", \"doc\", \"sealed\") values (?, ?, ?, ?, ?, ?)",
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
  "sql": "update \"credential\" set \"user_id\" = ?, \"priority\" = ?, \"secret_data\" = ?, \"doc\" = ?, \"sealed\" = ? where \"id\" = ?",
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
  "sql": "delete from \"credential\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "credential.byId": {
  "sql": "select * from \"credential\" where \"id\" = ?",
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
  "sql": "select * from \"realm\" where \"name\" = ?",
  "bind": [
   {
    "slot": "name"
   }
  ]
 },
 "client.byName": {
  "sql": "select * from \"client\" where \"realm_id\" = ? and \"client_id\" = ?",
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
  "sql": "select \"id\", \"client_id\" from \"client\" where \"realm_id\" = ? order by \"client_id\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "client_scope.byName": {
  "sql": "select \"id\" from \"client_scope\" where \"realm_id\" = ? and \"name\" = ?",
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
  "sql": "select \"id\" from \"role\" where \"realm_id\" = ? and coalesce(client_uuid, '') = ? and \"name\" = ?",
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
  "sql": "select \"id\" from \"role\" where \"client_uuid\" = ?",
  "bind": [
   {
    "slot": "client_uuid"
   }
  ]
 },
 "realm_group.byName": {
  "sql": "select \"id\" from \"realm_group\" where \"realm_id\" = ? and coalesce(parent_id, '') = ? and \"name\" = ?",
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
  "sql": "select \"id\" from \"realm_group\" where \"parent_id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "role.naming": {
  "sql": "select \"id\", \"doc\" from \"role\" where \"realm_id\" = ? and \"doc\" like ?",
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
  "sql": "select \"id\", \"doc\" from \"realm_group\" where \"realm_id\" = ? and \"doc\" like ?",
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
  "sql": "select \"id\", \"doc\" from \"client\" where \"realm_id\" = ? and \"doc\" like ?",
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
  "sql": "select \"id\", \"doc\" from \"client_scope\" where \"realm_id\" = ? and \"doc\" like ?",
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
  "sql": "update \"role\" set \"doc\" = ? where \"id\" = ?",
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
  "sql": "update \"realm_group\" set \"doc\" = ? where \"id\" = ?",
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
  "sql": "update \"client\" set \"doc\" = ? where \"id\" = ?",
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
  "sql": "update \"client_scope\" set \"doc\" = ? where \"id\" = ?",
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
  "sql": "insert into \"meta\" (\"name\", \"value\") values (?, ?) on conflict (\"name\") do update set \"value\" = ?",
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
  "sql": "delete from \"meta\" where \"name\" = ?",
  "bind": [
   {
    "slot": "name"
   }
  ]
 },
 "user.find": {
  "sql": "select \"account\".*, (select json_group_array(\"role_id\") as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select json_group_array(\"group_id\") as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"id\" = ? and \"account\".\"realm_id\" = ?",
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
  "sql": "select \"account\".*, (select json_group_array(\"role_id\") as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select json_group_array(\"group_id\") as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"realm_id\" = ? and \"account\".\"username\" = ?",
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
  "sql": "select \"account\".*, (select json_group_array(\"role_id\") as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select json_group_array(\"group_id\") as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"realm_id\" = ? and \"account\".\"email\" = ? order by \"account\".\"id\" limit ?",
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
  "sql": "select \"account\".*, (select json_group_array(\"role_id\") as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select json_group_array(\"group_id\") as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"service_account_client\" = ? limit ?",
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
  "sql": "select \"account\".*, (select json_group_array(\"role_id\") as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select json_group_array(\"group_id\") as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"username\" > ? and account.id in (select user_id from \"user_role\" where \"role_id\" = ?) order by \"account\".\"username\" limit ? offset ?",
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
  "sql": "select \"account\".*, (select json_group_array(\"role_id\") as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select json_group_array(\"group_id\") as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"username\" > ? and account.realm_id = (select realm_id from \"role\" where id = ?)\n        and exists (select 1 from \"user_role\" where user_id = account.id and \"role_id\" = ?) order by \"account\".\"username\" limit ? offset ?",
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
  "sql": "select case when count(*) >= 10000 then 1 else 0 end as common\nfrom (select 1 from \"user_role\" where \"role_id\" = ? limit 10000) as some_of_them",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "user.inGroup": {
  "sql": "select \"account\".*, (select json_group_array(\"role_id\") as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select json_group_array(\"group_id\") as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"username\" > ? and account.id in (select user_id from \"user_group\" where \"group_id\" = ?) order by \"account\".\"username\" limit ? offset ?",
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
  "sql": "select \"account\".*, (select json_group_array(\"role_id\") as \"ids\" from \"user_role\" where \"user_role\".\"user_id\" = \"account\".\"id\") as \"role_ids\", (select json_group_array(\"group_id\") as \"ids\" from \"user_group\" where \"user_group\".\"user_id\" = \"account\".\"id\") as \"group_ids\" from \"account\" where \"account\".\"username\" > ? and account.realm_id = (select realm_id from \"realm_group\" where id = ?)\n        and exists (select 1 from \"user_group\" where user_id = account.id and \"group_id\" = ?) order by \"account\".\"username\" limit ? offset ?",
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
  "sql": "select case when count(*) >= 10000 then 1 else 0 end as common\nfrom (select 1 from \"user_group\" where \"group_id\" = ? limit 10000) as some_of_them",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "user.requiredActions": {
  "sql": "select json_extract(doc, '$.requiredActions') as \"actions\", count(*) as \"users\" from \"account\" where \"realm_id\" = ? and \"enabled\" = ? and \"doc\" like ? group by json_extract(doc, '$.requiredActions')",
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
  "sql": "select \"id\" from \"account\" where \"realm_id\" = ? and \"username\" = ?",
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
  "sql": "select \"id\" from \"account\" where \"realm_id\" = ? and \"email\" = ? and \"id\" <> ? limit ?",
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
  "sql": "delete from \"account\" where \"service_account_client\" = ?",
  "bind": [
   {
    "slot": "client_uuid"
   }
  ]
 },
 "user_role.add": {
  "sql": "insert into \"user_role\" (\"user_id\", \"role_id\") values (?, ?) on conflict do nothing",
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
  "sql": "delete from \"user_role\" where \"user_id\" = ? and \"role_id\" = ?",
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
  "sql": "delete from \"user_role\" where \"user_id\" = ?",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "user_role.deleteRole": {
  "sql": "delete from \"user_role\" where \"role_id\" = ?",
  "bind": [
   {
    "slot": "role_id"
   }
  ]
 },
 "user_group.add": {
  "sql": "insert into \"user_group\" (\"user_id\", \"group_id\") values (?, ?) on conflict do nothing",
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
  "sql": "delete from \"user_group\" where \"user_id\" = ? and \"group_id\" = ?",
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
  "sql": "delete from \"user_group\" where \"user_id\" = ?",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "user_group.deleteGroup": {
  "sql": "delete from \"user_group\" where \"group_id\" = ?",
  "bind": [
   {
    "slot": "group_id"
   }
  ]
 },
 "credential.ofUser": {
  "sql": "select * from \"credential\" where \"user_id\" = ? order by \"priority\", \"id\"",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "credential.ofSome": {
  "sql": "select \"credential\".* from (select \"next\".\"id\", 0 as \"part\" from (select \"id\" from \"account\" where \"realm_id\" = ? and \"id\" >= ? order by \"id\" limit ?) as \"next\" union all select \"first\".\"id\", 1 as \"part\" from (select \"id\" from \"account\" where \"realm_id\" = ? order by \"id\" limit ?) as \"first\") as \"some\" inner join \"credential\" on \"credential\".\"user_id\" = \"some\".\"id\" order by \"some\".\"part\", \"some\".\"id\"",
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
   }
  ]
 },
 "credential.rehash": {
  "sql": "update \"credential\" set \"priority\" = ?, \"secret_data\" = ?, \"doc\" = ?, \"sealed\" = ? where \"id\" = ? and \"secret_data\" = ?",
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
  "sql": "select * from \"login_failures\" where \"realm_id\" = ? and \"user_id\" = ?",
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
  "sql": "insert into \"login_failures\" (\"realm_id\", \"user_id\", \"revision\", \"doc\") values (?, ?, ?, ?) on conflict do nothing",
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
  "sql": "update \"login_failures\" set \"revision\" = ?, \"doc\" = ? where \"realm_id\" = ? and \"user_id\" = ? and \"revision\" = ?",
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
  "sql": "delete from \"login_failures\" where \"realm_id\" = ? and \"user_id\" = ?",
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
  "sql": "delete from \"login_failures\" where \"user_id\" = ?",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "failures.clear": {
  "sql": "delete from \"login_failures\" where \"realm_id\" = ?",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "session.insert": {
  "sql": "insert into \"user_session\" (\"id\", \"offline\", \"realm_id\", \"user_id\", \"started_at\", \"last_access_at\", \"remember_me\", \"look_again\", \"doc\") values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
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
  "sql": "select \"user_session\".*, (select max(\"last_refresh_at\") as \"at\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\" and \"user_session\".\"last_access_at\" < ?) as \"last_refresh_at\" from \"user_session\" where \"user_session\".\"id\" = ? and \"user_session\".\"offline\" = ?",
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
  "sql": "select \"user_session\".*, (select max(\"last_refresh_at\") as \"at\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\") as \"last_refresh_at\", \"account\".\"username\", (select json_group_array(distinct client_uuid) as \"uuids\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\") as \"client_uuids\" from \"user_session\" inner join \"account\" on \"account\".\"id\" = \"user_session\".\"user_id\" where \"user_session\".\"user_id\" = ? and \"user_session\".\"offline\" = ? order by \"user_session\".\"started_at\", \"user_session\".\"id\"",
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
  "sql": "select \"user_session\".*, (select max(\"last_refresh_at\") as \"at\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\") as \"last_refresh_at\", \"account\".\"username\", (select json_group_array(distinct client_uuid) as \"uuids\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\") as \"client_uuids\" from \"user_session\" inner join \"account\" on \"account\".\"id\" = \"user_session\".\"user_id\" where \"user_session\".\"offline\" = ? and \"user_session\".\"id\" in (select distinct \"session_id\" from \"token_family\" where \"client_uuid\" = ? and \"offline\" = ? and \"session_id\" > ? order by \"session_id\" limit ? offset ?) order by \"user_session\".\"id\"",
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
  "sql": "select distinct \"client_uuid\" from \"token_family\" where \"session_id\" = ? and \"offline\" = ?",
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
  "sql": "select \"client_uuid\", \"offline\", count(distinct session_id) as \"sessions\" from \"token_family\" where \"client_uuid\" in (select \"id\" from \"client\" where \"realm_id\" = ?) group by \"client_uuid\", \"offline\"",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "session.delete": {
  "sql": "delete from \"user_session\" where \"id\" = ? and \"offline\" = ?",
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
  "sql": "delete from \"user_session\" where \"user_id\" = ? and \"offline\" <= ?",
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
  "sql": "delete from \"user_session\" where \"realm_id\" = ? and \"offline\" = ?",
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
  "sql": "select \"user_session\".*, (select max(\"last_refresh_at\") as \"at\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\") as \"last_refresh_at\" from \"user_session\" where \"look_again\" <= ? order by \"look_again\" limit ?",
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
  "sql": "update \"user_session\" set \"look_again\" = ? where \"id\" = ? and \"offline\" = ?",
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
  "sql": "update \"user_session\" set \"last_access_at\" = max(last_access_at, ?) where \"id\" = ? and \"offline\" = ?",
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
  "sql": "insert into \"token_family\" (\"id\", \"session_id\", \"offline\", \"client_uuid\", \"user_id\", \"realm_id\", \"current_hash\", \"parent_hash\", \"parent_uses\", \"scope\", \"started_at\", \"last_refresh_at\", \"notes\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
  "sql": "select \"token_family\".*, \"user_session\".\"started_at\" as \"session_started_at\", \"user_session\".\"last_access_at\", \"user_session\".\"remember_me\", \"user_session\".\"doc\", (select max(\"other\".\"last_refresh_at\") as \"at\" from \"token_family\" as \"other\" where \"other\".\"session_id\" = \"token_family\".\"session_id\" and \"other\".\"offline\" = \"token_family\".\"offline\") as \"session_refresh_at\" from \"token_family\" inner join \"user_session\" on \"user_session\".\"id\" = \"token_family\".\"session_id\" and \"user_session\".\"offline\" = \"token_family\".\"offline\" where \"token_family\".\"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "family.row": {
  "sql": "select * from \"token_family\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "session.touchOfClient": {
  "sql": "update \"user_session\" set \"last_access_at\" = max(last_access_at, (select max(\"last_refresh_at\") as \"at\" from \"token_family\" where \"token_family\".\"session_id\" = \"user_session\".\"id\" and \"token_family\".\"offline\" = \"user_session\".\"offline\" and \"client_uuid\" = ?)) where (id, offline) in (select session_id, offline from token_family where client_uuid = ?)",
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
  "sql": "delete from \"token_family\" where \"client_uuid\" = ?",
  "bind": [
   {
    "slot": "client_uuid"
   }
  ]
 },
 "family.exists": {
  "sql": "select \"id\" from \"token_family\" where \"client_uuid\" = ? and \"offline\" = ? and \"session_id\" = ? and \"started_at\" <= ? limit ?",
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
  "sql": "delete from \"token_family\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "family.deleteIdle": {
  "sql": "delete from \"token_family\" where \"session_id\" = ? and \"offline\" = ? and \"last_refresh_at\" < ?",
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
  "sql": "update \"token_family\" set \"parent_hash\" = ?, \"parent_uses\" = ?, \"current_hash\" = ?, \"last_refresh_at\" = max(last_refresh_at, ?) where \"id\" = ? and \"current_hash\" = ?",
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
  "sql": "update \"token_family\" set \"parent_uses\" = parent_uses + 1, \"current_hash\" = ?, \"last_refresh_at\" = max(last_refresh_at, ?) where \"id\" = ? and \"parent_hash\" = ? and \"parent_uses\" <= ?",
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
  "sql": "update \"token_family\" set \"current_hash\" = ?, \"last_refresh_at\" = max(last_refresh_at, ?) where \"id\" = ?",
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
  "sql": "insert into \"revoked_token\" (\"jti\", \"expires_at\") values (?, ?) on conflict (\"jti\") do update set \"expires_at\" = max(revoked_token.expires_at, excluded.expires_at)",
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
  "sql": "select \"jti\" from \"revoked_token\" where \"jti\" = ? and \"expires_at\" > ?",
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
  "sql": "delete from \"revoked_token\" where \"jti\" in (select \"jti\" from \"revoked_token\" where \"expires_at\" <= ? limit ?)",
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
  "sql": "insert into \"claim\" (\"name\", \"expires_at\") values (?, ?) on conflict (\"name\") do update set \"expires_at\" = ? where \"claim\".\"expires_at\" <= ?",
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
  "sql": "select \"name\" from \"claim\" where \"name\" = ? and \"expires_at\" > ?",
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
  "sql": "delete from \"claim\" where \"name\" in (select \"name\" from \"claim\" where \"expires_at\" <= ? limit ?)",
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
  "sql": "select * from \"authentication_session\" where \"id\" = ? and \"expires_at\" > ?",
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
  "sql": "insert into \"authentication_session\" (\"id\", \"realm_id\", \"client_uuid\", \"user_id\", \"browser_hash\", \"expires_at\", \"doc\", \"revision\") values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
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
  "sql": "update \"authentication_session\" set \"id\" = ?, \"realm_id\" = ?, \"client_uuid\" = ?, \"user_id\" = ?, \"browser_hash\" = ?, \"expires_at\" = ?, \"doc\" = ?, \"revision\" = revision + 1 where \"id\" = ? and \"revision\" = ? and \"expires_at\" > ?",
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
  "sql": "delete from \"authentication_session\" where \"id\" = ?",
  "bind": [
   {
    "slot": "id"
   }
  ]
 },
 "authentication.take": {
  "sql": "delete from \"authentication_session\" where \"id\" = ? and \"revision\" = ? and \"expires_at\" > ?",
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
  "sql": "delete from \"authentication_session\" where \"user_id\" = ?",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "authentication.bound": {
  "sql": "delete from \"authentication_session\" where \"id\" in (select \"oldest\".\"id\" from (select \"id\", \"doc\" from \"authentication_session\" where \"realm_id\" = ? and \"user_id\" is null order by \"expires_at\" desc, \"id\" limit ? offset ?) as \"oldest\" where \"oldest\".\"doc\" not like ?)",
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
  "sql": "delete from \"authentication_session\" where \"id\" = ? and \"user_id\" is null and \"doc\" not like ?",
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
  "sql": "delete from \"authentication_session\" where \"id\" in (select \"id\" from \"authentication_session\" where \"expires_at\" <= ? limit ?)",
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
  "sql": "insert into \"authorization_code\" (\"hash\", \"realm_id\", \"client_uuid\", \"user_id\", \"session_id\", \"family_id\", \"issued_at\", \"expires_at\", \"doc\", \"state\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
  "sql": "select * from \"authorization_code\" where \"hash\" = ?",
  "bind": [
   {
    "slot": "hash"
   }
  ]
 },
 "code.take": {
  "sql": "update \"authorization_code\" set \"state\" = ?, \"doc\" = ? where \"hash\" = ?",
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
  "sql": "delete from \"authorization_code\" where \"user_id\" = ? and \"state\" = ?",
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
  "sql": "delete from \"authorization_code\" where \"hash\" in (select \"hash\" from \"authorization_code\" where \"expires_at\" <= ? limit ?)",
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
  "sql": "insert into \"user_consent\" (\"user_id\", \"client_uuid\", \"scope_ids\", \"created_date\", \"last_updated_date\") values (?, ?, ?, ?, ?) on conflict (\"user_id\", \"client_uuid\") do update set \"scope_ids\" = ?, \"last_updated_date\" = ?",
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
  "sql": "select * from \"user_consent\" where \"user_id\" = ? and \"client_uuid\" = ?",
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
  "sql": "select * from \"user_consent\" where \"user_id\" = ? order by \"created_date\", \"client_uuid\"",
  "bind": [
   {
    "slot": "user_id"
   }
  ]
 },
 "consent.delete": {
  "sql": "delete from \"user_consent\" where \"user_id\" = ? and \"client_uuid\" = ?",
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
  "sql": "select \"id\", \"session_id\", \"offline\", \"last_refresh_at\" from \"token_family\" where \"client_uuid\" = ? and \"session_id\" = ?",
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
  "sql": "select \"token_family\".\"id\", \"session_id\", \"token_family\".\"offline\", \"last_refresh_at\" from \"token_family\" inner join \"user_session\" on \"user_session\".\"id\" = \"token_family\".\"session_id\" and \"user_session\".\"offline\" = \"token_family\".\"offline\" where \"user_session\".\"user_id\" = ? and \"token_family\".\"client_uuid\" = ?",
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
  "sql": "select \"notes\" from \"token_family\" where \"client_uuid\" = ? and \"offline\" = ? and \"session_id\" = ? and \"started_at\" <= ? order by \"started_at\" desc limit ?",
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
  "sql": "select \"id\" from \"token_family\" where \"session_id\" = ? and \"offline\" = ? limit ?",
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
  "sql": "select * from \"user_session\" where \"id\" = ? and \"offline\" = ?",
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
  "sql": "update \"user_session\" set \"doc\" = ? where \"id\" = ? and \"offline\" = ?",
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
  "sql": "insert into \"event\" (\"realm_id\", \"time\", \"type\", \"client_id\", \"user_id\", \"ip_address\", \"doc\") values (?, ?, ?, ?, ?, ?, ?)",
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
  "sql": "delete from \"event\" where \"realm_id\" = ?",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "event.sweep": {
  "sql": "delete from \"event\" where \"seq\" in (select \"seq\" from \"event\" where \"realm_id\" = ? and \"time\" < ? limit ?)",
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
  "sql": "insert into \"admin_event\" (\"realm_id\", \"time\", \"operation_type\", \"resource_type\", \"resource_path\", \"auth_realm_id\", \"auth_client_id\", \"auth_user_id\", \"auth_ip_address\", \"doc\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
  "sql": "delete from \"admin_event\" where \"realm_id\" = ?",
  "bind": [
   {
    "slot": "realm_id"
   }
  ]
 },
 "admin_event.sweep": {
  "sql": "delete from \"admin_event\" where \"seq\" in (select \"seq\" from \"admin_event\" where \"realm_id\" = ? and \"time\" < ? limit ?)",
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
  "sql": "select (select count(*) as \"n\" from \"realm\") as \"realms\", (select count(*) as \"n\" from \"account\") - (select count(*) as \"n\" from \"account\" where \"service_account_client\" is not null) as \"users\", (select count(*) as \"n\" from \"user_session\") as \"sessions\", (select count(*) as \"n\" from \"user_session\" where \"offline\" = ?) as \"offlineSessions\", (select count(*) as \"n\" from \"token_family\") as \"tokenFamilies\", (select count(*) as \"n\" from \"authentication_session\") as \"openLogins\"",
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
  "sql": "select \"id\", \"sealed\" from \"realm\" where \"sealed\" is not null and \"id\" > ? order by \"id\" limit ?",
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
  "sql": "update \"realm\" set \"sealed\" = ? where \"id\" = ? and \"sealed\" = ?",
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
  "sql": "select \"id\", \"sealed\" from \"client\" where \"sealed\" is not null and \"id\" > ? order by \"id\" limit ?",
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
  "sql": "update \"client\" set \"sealed\" = ? where \"id\" = ? and \"sealed\" = ?",
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
  "sql": "select \"id\", \"sealed\" from \"component\" where \"sealed\" is not null and \"id\" > ? order by \"id\" limit ?",
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
  "sql": "update \"component\" set \"sealed\" = ? where \"id\" = ? and \"sealed\" = ?",
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
  "sql": "select \"id\", \"sealed\" from \"credential\" where \"sealed\" is not null and \"id\" > ? order by \"id\" limit ?",
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
  "sql": "update \"credential\" set \"sealed\" = ? where \"id\" = ? and \"sealed\" = ?",
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
  "sql": "insert into \"meta\" (\"name\", \"value\") values (?, ?) on conflict do nothing",
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
  "sql": "delete from \"meta\" where \"name\" like ? and \"name\" <> ?",
  "bind": [
   {
    "slot": "pattern"
   },
   {
    "slot": "name"
   }
  ]
 }
};
