import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  authorize,
  type BrowserEndpoint,
  restartLogin,
  showLogin,
  showRequiredAction,
  submitConsent,
  submitLogin,
  submitRequiredAction,
} from '../../browser/index.ts';
import { Refusal, type RefusalCase } from '../../protocol/index.ts';
import { sendErrorPage, wantsPage } from '../responses/error-responses.ts';
import { STATUS } from '../responses/statuses.ts';
import type { Route, Services } from '../url-table/route.ts';
import { browserRequest } from './browser-request.ts';
import { sendBrowserAnswer } from './send-answer.ts';

const authorization = '/realms/:realm/protocol/openid-connect/auth';
const actions = '/realms/:realm/login-actions';

/** The routes of the authorization endpoint and of the login's forms. */
export const loginRoutes: readonly Route[] = [
  browserRoute('GET', authorization, authorize),
  browserRoute('POST', authorization, authorize),
  browserRoute('GET', `${actions}/authenticate`, showLogin),
  browserRoute('POST', `${actions}/authenticate`, submitLogin),
  browserRoute('GET', `${actions}/required-action`, showRequiredAction),
  browserRoute('POST', `${actions}/required-action`, submitRequiredAction),
  browserRoute('POST', `${actions}/consent`, submitConsent),
  browserRoute('GET', `${actions}/restart`, restartLogin),
];

/** The status of the error page for each refusal of a form that cannot be parsed. */
const UNREADABLE: ReadonlyMap<RefusalCase, number> = new Map([
  ['malformed-form', STATUS.badRequest],
  ['form-too-large', STATUS.contentTooLarge],
]);

/** Creates a route that passes a browser's request to an endpoint of src/browser and sends the answer. */
export function browserRoute(method: 'GET' | 'POST', url: string, endpoint: BrowserEndpoint): Route {
  return { method, url, handle: (services, request, reply) => answer(endpoint, services, request, reply) };
}

async function answer(
  endpoint: BrowserEndpoint,
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  try {
    const answered = await endpoint(services.protocol, browserRequest(request));
    return await sendBrowserAnswer(services, request, reply, answered);
  } catch (error) {
    if (!(error instanceof Refusal) || !wantsPage(request)) throw error;
    const status = UNREADABLE.get(error.case);
    if (status === undefined) throw error;
    const { description } = error;
    return sendErrorPage(request, reply, status, description === undefined ? {} : { detail: description });
  }
}
