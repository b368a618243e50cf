import type { HostedSession } from '../../worker/host/hosted-session.ts';
import type { HandleId } from '../../worker/protocol/reply.ts';
import type { WireHandle } from '../../worker/protocol/wire-value.ts';
import { isRemoteFunction } from '../values/remote-handles.ts';
import type { RpcFunction, RpcValue, TensorHandle } from '../values/rpc-value.ts';
import { defineTarget } from '../targets.ts';
import { malformed } from '../values/wire-values.ts';
import { callPageBy } from './page-calls.ts';
import type { SessionEnds } from './session-messages.ts';

/** A tensor that a session keeps for the other side. */
class KeptTensor implements TensorHandle {
  readonly kind = 'tensor handle';
  readonly session: HostedSession;
  readonly wire: WireHandle;

  constructor(session: HostedSession, wire: WireHandle) {
    this.session = session;
    this.wire = wire;
  }

  get dtype() {
    return this.wire.dtype;
  }

  get shape() {
    return this.wire.shape;
  }

  release(): void {
    this.session.release(this.wire.handle);
  }
}

/** The tensor of a handle that came back. Throws ProtocolError for that of another session. */
export function keptTensor(session: HostedSession, handle: RpcValue | undefined): WireHandle {
  if (handle instanceof KeptTensor && handle.session === session) return handle.wire;
  throw malformed('a tensor that does not belong to the session');
}

interface KeptFunction {
  readonly session: HostedSession;
  readonly handle: HandleId;
}

const KEPT_FUNCTIONS = new WeakMap<RpcFunction, KeptFunction>();

/** A function of the program, which the other side calls by a run that names it. */
function keptFunction(session: HostedSession, handle: HandleId): RpcFunction {
  const call = async (): Promise<never> => {
    throw malformed('a call of a function outside of its session');
  };
  const callee: RpcFunction = call;
  KEPT_FUNCTIONS.set(callee, { session, handle });
  const release = (): void => session.release(handle);
  return defineTarget(callee, { name: 'function', ownsResults: false, call, release });
}

/** Values of a session on the side of its device. */
export function deviceEnds(session: () => HostedSession): SessionEnds {
  const ends: SessionEnds = {
    toHandle: (wire) => new KeptTensor(session(), wire),
    fromHandle: (handle) => keptTensor(session(), handle),
    toFunction: ({ handle }) => keptFunction(session(), handle),
    toPage: () => {
      throw new Error('internal: a function of the page is among results');
    },
    fromFunction: (callee) => {
      const kept = KEPT_FUNCTIONS.get(callee);
      if (kept?.session === session()) return { kind: 'closure', handle: kept.handle };
      if (!isRemoteFunction(callee)) throw malformed('a function of another session');
      return { kind: 'packed', name: callee.name, call: callPageBy(callee, ends) };
    },
  };
  return ends;
}
