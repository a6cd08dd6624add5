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
import { sendErrorPage, wantsPage } from '../answers/error-answers.ts';
import type { Route, Services } from '../url-table/route.ts';
import { browserRequest } from './browser-request.ts';
import { sendBrowserAnswer } from './send-answer.ts';

const authorization = '/realms/:realm/protocol/openid-connect/auth';
const actions = '/realms/:realm/login-actions';

/** The authorization endpoint and the forms of the login. */
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

/** Statuses of a form that cannot be read. */
const UNREADABLE: ReadonlyMap<RefusalCase, number> = new Map([
  ['malformed-form', 400],
  ['form-too-large', 413],
]);

/** A row that hands a browser's request to the rules and sends what they answer. */
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
    const status = error instanceof Refusal ? UNREADABLE.get(error.case) : undefined;
    if (status !== undefined && wantsPage(request))
      return sendErrorPage(reply, status, (error as Refusal).description ?? 'Invalid Request');
    throw error;
  }
}
