import type { ExecutableData } from '../../bytecode/executable.ts';
import type { HostFunctions } from '../../runtime/host-function.ts';
import type { HostedSession } from '../../worker/host/hosted-session.ts';
import type { CallPage } from '../../worker/protocol/wire-value.ts';
import { objectOf } from '../values/checked-values.ts';
import type { RpcValue } from '../values/rpc-value.ts';
import { malformed } from '../values/wire-values.ts';
import { textsOf } from './checked-requests.ts';
import { callPageBy } from './page-calls.ts';
import type { SessionEnds } from './session-messages.ts';

/** Arguments with which a program is loaded, as they arrive: checked where they are used. */
export interface AskedProgram {
  /** Limits as JSON, which count as far as the server allows them. */
  readonly limits: RpcValue | undefined;
  /** Names of functions of the page that the program may call, as JSON; null without any. */
  readonly functions?: RpcValue | undefined;
  /** The function of the page that calls them. */
  readonly page?: RpcValue | undefined;
}

/** A page on the other side whose functions a program may call. */
export interface RemotePage {
  readonly called: { readonly callPage: CallPage; keeper: HostedSession | undefined };
  readonly functionsFor: (executable: Pick<ExecutableData, 'types'>) => HostFunctions;
}

/** Undefined for a program that brings no functions. Throws ProtocolError for what no page sends. */
export async function calledPage(
  { functions, page }: Omit<AskedProgram, 'limits'>,
  ends: SessionEnds,
): Promise<RemotePage | undefined> {
  if (isNothing(functions) || isNothing(page)) return undefined;
  if (typeof page !== 'function') throw malformed('a page that is no function');
  const { functions: names, nodes } = objectOf(functions);
  const nodeTypes = Object.fromEntries(textsOf(nodes).map((name) => [name, null]));
  const request = { functions: textsOf(names), nodeTypes };
  const called: RemotePage['called'] = { callPage: callPageBy(page, ends), keeper: undefined };
  const { pageFunctions } = await import('../../worker/host/page-functions.ts');
  return { called, functionsFor: ({ types }) => pageFunctions(request, called, types) };
}

function isNothing(value: RpcValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}
