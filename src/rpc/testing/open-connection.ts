import { ExecBuilder, type Executable } from '../../bytecode/index.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { TestDevice } from '../../runtime/testing/test-device.ts';
import { type ConnectOptions, connect, type Remote } from '../connect.ts';
import type { RpcFunction } from '../values/rpc-value.ts';
import { serve, type Served, type ServeOptions } from '../serve.ts';
import { channelPair, type PairOptions, type TestChannel } from './channel-pair.ts';

export const TOKEN = 'a token of more than 16 characters';

interface TestConnection {
  readonly remote: Remote;
  readonly served: Served;
  readonly device: TestDevice;
  readonly clientEnd: TestChannel;
  readonly serverEnd: TestChannel;
}

/** A connection over a pair of channels in memory, with a device of byte arrays. */
export async function openConnection(
  serving: Partial<ServeOptions> = {},
  connecting: Partial<ConnectOptions> & { readonly pair?: PairOptions } = {},
): Promise<TestConnection> {
  const { pair, ...options } = connecting;
  const [clientEnd, serverEnd] = channelPair(pair);
  const device = new TestDevice();
  const served = serve(serverEnd, { devices: [device], token: TOKEN, name: 'desk', ...serving });
  const remote = await connect(clientEnd, { token: TOKEN, ...options });
  return { remote, served, device, clientEnd, serverEnd };
}

/**
 * Functions of all kinds: `same(x)` returns its argument, `copy(x)` a new tensor, `twice(f, x)` calls
 * what it gets, `make(x)` returns a closure over x, `fail()` stops, `outer(x)` calls `local.add`.
 */
export function testProgram(): Executable {
  const b = new ExecBuilder();
  const same = b.function('same', ['x']);
  same.ret(same.param('x'));
  const copy = b.function('copy', ['x']);
  copy.ret(copy.call('vm.builtin.copy', [copy.param('x')]));
  const twice = b.function('twice', ['f', 'x']);
  const once = twice.call('vm.builtin.invoke_closure', [twice.param('f'), twice.param('x')]);
  twice.ret(twice.call('vm.builtin.invoke_closure', [twice.param('f'), once]));
  const first = b.function('first', ['x', 'captured']);
  first.ret(first.param('captured'));
  const make = b.function('make', ['x']);
  const reference = b.functionReference('first');
  make.ret(make.call('vm.builtin.make_closure', [reference, make.param('x')]));
  const fail = b.function('fail');
  fail.call('vm.builtin.fatal', [b.string('no way')]);
  fail.ret(0);
  const outer = b.function('outer', ['x']);
  outer.ret(outer.call('local.add', [outer.vm, outer.param('x'), outer.param('x')]));
  return b.build();
}

/** The functions that {@link testProgram} calls by name. */
export const LOCAL_ADD: RpcFunction = (a, b) => {
  if (!(a instanceof HostTensor) || !(b instanceof HostTensor)) throw new TypeError('no tensors');
  const [x, y] = [Array.from(a.data, Number), Array.from(b.data, Number)];
  const sums = x.map((element, i) => element + (y[i] ?? Number.NaN));
  return HostTensor.from(a.dtype, a.shape, sums);
};
