import type { AuthorizationRequest, Client } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { Parameters } from './parameters.ts';
import {
  defaultResponseMode,
  parseResponseMode,
  parseResponseType,
  type ResponseType,
} from './response-type.ts';

/** The input of the checks that run after the redirect URI is verified. */
export interface RequestFacts {
  configuration: RealmConfiguration;
  client: Client;
  parameters: Parameters;
  /** Undefined if the response type is missing or unknown. */
  type: ResponseType | undefined;
  /** The response mode of the request. Errors are sent in this mode too. */
  mode: AuthorizationRequest['responseMode'];
}

/** Reads the facts of a request. If the response type or response mode is unknown, errors are sent in the query. */
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
  // A request for tokens never gets a response in the query, not even an error.
  const kept = mode === 'query' && parseResponseMode(named) !== undefined ? usual : mode;
  return { configuration, client, parameters, type, mode: kept };
}

/** Whether the request has the scope `openid`. */
export function isOpenId({ values }: Parameters): boolean {
  return (values.get('scope') ?? '').split(' ').includes('openid');
}
