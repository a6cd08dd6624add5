import { AdminRefusal, type AdminRefusalKind, ClientUriFault, RepresentationFault } from '../admin/index.ts';

const STATUS: Readonly<Record<AdminRefusalKind, number>> = {
  'bad-request': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'unsupported-media': 415,
  'not-built': 501,
};

/** What administration refused as status and body; undefined for anything else. */
export function renderAdminError(
  error: unknown,
): { status: number; headers: Record<string, string>; body: unknown } | undefined {
  if (error instanceof AdminRefusal) return { status: STATUS[error.kind], headers: {}, body: error.body };
  if (error instanceof ClientUriFault)
    return {
      status: 400,
      headers: {},
      body: { error: 'invalid_input', error_description: error.what },
    };
  if (error instanceof RepresentationFault)
    return { status: 400, headers: {}, body: { errorMessage: error.message } };
  return undefined;
}
