import type { AuthorizationRequest, Client } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { Parameters } from './parameters.ts';
import {
  defaultResponseMode,
  parseResponseMode,
  parseResponseType,
  type ResponseType,
} from './response-type.ts';

/** What the checks look at, once it is known where the client may be answered. */
export interface RequestFacts {
  configuration: RealmConfiguration;
  client: Client;
  parameters: Parameters;
  /** Undefined: missing, or one that does not exist. */
  type: ResponseType | undefined;
  /** Where an error goes. */
  mode: AuthorizationRequest['responseMode'];
}

/** The facts of a request; where its type or mode cannot be read, errors go into the query. */
export function readFacts(
  configuration: RealmConfiguration,
  client: Client,
  parameters: Parameters,
): RequestFacts {
  const type = parseResponseType(parameters.values.get('response_type') ?? '');
  const usual = defaultResponseMode(type);
  const named = parameters.values.get('response_mode');
  if (named === undefined) return { configuration, client, parameters, type, mode: usual };
  const mode = parseResponseMode(named) ?? 'query';
  // Answers to a request for tokens never go into a query, not even the refusal of that wish.
  const kept = mode === 'query' && parseResponseMode(named) !== undefined ? usual : mode;
  return { configuration, client, parameters, type, mode: kept };
}

/** `openid` is asked for. */
export function isOpenId({ values }: Parameters): boolean {
  return (values.get('scope') ?? '').split(' ').includes('openid');
}
