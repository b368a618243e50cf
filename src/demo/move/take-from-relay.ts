import { connect } from '../../rpc/connect.ts';
import { ProtocolError } from '../../rpc/errors.ts';
import { RpcTuple, type RpcValue } from '../../rpc/values/rpc-value.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { LendAddress } from '../lend/lend-address.ts';
import type { Arrival, Parcel } from './parcel.ts';
import { ARRIVED, MOVE_LIMITS, TAKE } from './relay-words.ts';

/**
 * Takes the program that a page hands over at a relay. Rejects with RemoteLostError where none
 * does, with AccessError for another token, with ProtocolError for something that is no parcel.
 */
export async function takeFromRelay({ url, place, token, auth }: LendAddress): Promise<Arrival> {
  const remote = await connect(url, {
    key: place,
    token,
    relayToken: auth === '' ? undefined : auth,
    name: 'the other page',
    // A relay is somebody else's: it passes on what it cannot read.
    encrypt: true,
    limits: MOVE_LIMITS,
  });
  const call = async (name: string): Promise<RpcValue> => (await remote.getFunction(name))();
  try {
    return {
      ...parcelOf(await call(TAKE)),
      confirm: async () => {
        await call(ARRIVED);
        remote.close();
      },
      refuse: () => remote.close(),
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
