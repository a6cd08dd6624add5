// Profile: a realm's user profile, with the attributes of its users, who may see or change them, and the valid values.
// Not decided here: the form on a page (the browser room), administration of users (the admin room).
// Start at user-profile.ts, then profile-form.ts.

export {
  type FieldFault,
  listProfileFields,
  type ProfileChange,
  type ProfileField,
  saveProfile,
} from './profile-form.ts';
export {
  listMissingAttributes,
  listProfileAttributes,
  type ProfileAttribute,
  valuesOf,
} from './user-profile.ts';
