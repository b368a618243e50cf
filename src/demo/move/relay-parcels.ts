import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { connect } from '../../rpc/connect.ts';
import { createToken } from '../../rpc/handshake/create-token.ts';
import { ProtocolError } from '../../rpc/errors.ts';
import { serveRelay, type ServeRelayOptions } from '../../rpc/serve-relay.ts';
import { RpcTuple, type RpcValue } from '../../rpc/values/rpc-value.ts';
import { type LendAddress, readFragment, writeFragment } from '../lend/lend-address.ts';
import type { Arrival, GiveOptions, Parcel, WayBack } from './parcel.ts';

/** Functions that a page which hands something over offers: its parcel, and to hear that it goes on there. */
const TAKE = 'move.take';
const ARRIVED = 'move.arrived';

/** Bounds of both sides: a parcel, and the two calls for it. */
const MOVE_LIMITS = {
  messageBytes: 64 * 2 ** 20,
  handles: 16,
  pending: 4,
  callsPerSecond: 10,
  modules: 0,
  executableBytes: 0,
} as const;

/** A key and a token of its own, so that an address which was used or seen is worth nothing later. */
export function newAddress(relay: Pick<LendAddress, 'url' | 'auth'>): LendAddress {
  const who = { place: createToken().slice(0, 12), token: createToken(), name: '' };
  return { way: 'relay', url: relay.url, auth: relay.auth, device: 'auto', ...who };
}

/** The address as the fragment of a page, without `#`. */
export const fragmentOf = (address: LendAddress): string => writeFragment(address).slice(1);

/**
 * Takes the program that a page hands over at a relay. Rejects with RemoteLostError where none
 * does, with AccessError for another token, with ProtocolError for something that is no parcel.
 */
export async function takeFromRelay(address: LendAddress): Promise<Arrival> {
  const { url, place, token, auth } = address;
  const remote = await connect(url, {
    key: place,
    token,
    relayToken: auth === '' ? undefined : auth,
    name: 'the other page',
    // A relay is somebody else's: it passes on what it cannot read.
    encrypt: true,
    limits: MOVE_LIMITS,
  });
  const call = async (name: string, ...args: RpcValue[]): Promise<RpcValue> =>
    (await remote.getFunction(name))(...args);
  const back = newAddress(address);
  try {
    return {
      ...parcelOf(await call(TAKE)),
      confirm: async () => {
        await call(ARRIVED, fragmentOf(back));
        remote.close();
      },
      refuse: () => remote.close(),
      from: 'another device',
      giveBack: (pack, options) => handOver(pack, back, options),
    };
  } catch (error) {
    remote.close();
    throw error;
  }
}

function parcelOf(value: RpcValue): Parcel {
  const [note, snapshot] = value instanceof RpcTuple ? value.fields : [];
  if (typeof note === 'string' && snapshot instanceof HostTensor && snapshot.dtype === 'uint8') {
    return { note, snapshot: snapshot.bytes.slice() };
  }
  throw new ProtocolError({
    where: 'the page that hands over',
    got: 'another value',
    expected: 'a note and a snapshot',
  });
}

/** How far a move is; that of the relay, or a page has come. */
export type MoveState = Parameters<NonNullable<ServeRelayOptions['onState']>>[0] | 'taken';

interface HandOverOptions extends GiveOptions {
  readonly onState?: ((state: MoveState) => void) | undefined;
}

/**
 * Gives a parcel to the page that comes to the relay with the token, one at a time. Resolves to the way back from there, to undefined
 * when the signal aborts before. Rejects with AccessError where the relay has another credential.
 */
export async function handOver(
  pack: () => Promise<Parcel>,
  { url, place: key, token, auth: relayToken }: LendAddress,
  { signal, onState, onLost }: HandOverOptions,
): Promise<WayBack> {
  let isTaken = false;
  let back: WayBack;
  const serving = serveRelay(url, {
    key,
    token,
    relayToken: relayToken === '' ? undefined : relayToken,
    // A relay is somebody else's: it passes on what it cannot read.
    encrypt: true,
    devices: [],
    name: 'the page that hands over',
    maxConnections: 1,
    limits: MOVE_LIMITS,
    offer: {
      [TAKE]: async () => {
        isTaken = true;
        const { note, snapshot } = await pack();
        return new RpcTuple([note, new HostTensor('uint8', [snapshot.byteLength], snapshot)]);
      },
      [ARRIVED]: (fragment) => {
        const told = typeof fragment === 'string' ? readFragment(fragment) : undefined;
        // Its own relay would be another one than the visitor chose.
        back = told && fragmentOf({ ...told, url, auth: relayToken });
      },
    },
    onState,
    onEvent: ({ kind }) => {
      if (kind === 'connected') onState?.('taken');
      if (kind !== 'closed') return;
      if (back !== undefined) serving.stop();
      else if (isTaken) onLost();
      isTaken = false;
    },
  });
  signal.addEventListener('abort', () => serving.stop(), { once: true });
  await serving.ended;
  return back;
}
