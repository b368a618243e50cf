import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { RpcTuple } from '../../rpc/values/rpc-value.ts';
import { serveRelay, type ServeRelayOptions } from '../../rpc/serve-relay.ts';
import type { LendAddress } from '../lend/lend-address.ts';
import type { Parcel } from './parcel.ts';
import { ARRIVED, MOVE_LIMITS, TAKE } from './relay-words.ts';

/** How far a move is; that of the relay, or a page has come. */
export type MoveState = Parameters<NonNullable<ServeRelayOptions['onState']>>[0] | 'taken';

export interface HandOverOptions {
  readonly signal: AbortSignal;
  readonly onState: (state: MoveState) => void;
}

/**
 * Gives a parcel to the page that comes to the relay with the token, one at a time. Resolves to whether it goes on there: false when
 * the signal aborts before. Rejects with AccessError where the relay has another credential.
 */
export async function handOver(
  parcel: Parcel,
  { url, place: key, token, auth: relayToken }: LendAddress,
  { signal, onState }: HandOverOptions,
): Promise<boolean> {
  const { note, snapshot } = parcel;
  let hasArrived = false;
  const serving = serveRelay(url, {
    key,
    token,
    relayToken,
    // A relay is somebody else's: it passes on what it cannot read.
    encrypt: true,
    devices: [],
    name: 'the page that hands over',
    maxConnections: 1,
    limits: MOVE_LIMITS,
    offer: {
      [TAKE]: () => new RpcTuple([note, new HostTensor('uint8', [snapshot.byteLength], snapshot)]),
      [ARRIVED]: () => {
        hasArrived = true;
      },
    },
    onState,
    onEvent: ({ kind }) => {
      if (kind === 'connected') onState('taken');
      if (kind === 'closed' && hasArrived) serving.stop();
    },
  });
  signal.addEventListener('abort', () => serving.stop(), { once: true });
  await serving.ended;
  return hasArrived;
}
