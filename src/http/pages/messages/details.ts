import type { RuleMessageKey } from '../../../browser/index.ts';

/**
 * Messages for administrators, with Keycloak's keys and in Keycloak's words, because scripts look for them. They are not
 * translated. A page shows them only below "Details for the administrator", after a message for the user.
 */
export const details = {
  invalidRequestMessage: 'Invalid Request',
  invalidParameterMessage: 'Invalid parameter: {name}',
  clientNotFoundMessage: 'Client not found.',
  clientDisabledMessage: 'Client disabled.',
  bearerOnlyMessage: 'Bearer-only applications are not allowed to initiate browser login',
  wrongClientProtocolMessage: 'Wrong client protocol.',
  httpsRequiredMessage: 'HTTPS required',
  realmNotEnabledMessage: 'Realm not enabled',
  registrationNotAllowedMessage: 'Registration not allowed',
  missingParametersMessage: 'Missing parameters: {name}',
  invalidRedirectUriMessage: 'Invalid redirect uri',
} as const satisfies Readonly<Partial<Record<RuleMessageKey, string>>>;

/** The name of a message for administrators. */
export type DetailKey = keyof typeof details;
