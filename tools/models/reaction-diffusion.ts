// An executable that is no neural network, built by hand. Two chemicals, u and v, live on a dish.
// They diffuse, v eats u and grows by it, u is fed and v is removed:
//
//   u' = u + Du * laplacian(u) - u v v + feed (1 - u)
//   v' = v + Dv * laplacian(v) + u v v - (feed + kill) v
//
// (P. Gray and S. K. Scott 1983; the diffusion rates and the nine-point Laplacian are those of
// K. Sims' tutorial.) Outside the dish is nothing: the convolution pads with zeros.
//
// The loop is bytecode; one run of `main` takes any number of steps without the page, and the dish
// never leaves the device.
import { ExecBuilder } from '../../src/bytecode/build/exec-builder.ts';
import type { FunctionSignature, ValueType } from '../../src/bytecode/executable.ts';
import type {
  FunctionBuilder,
  RegisterOperand,
} from '../../src/bytecode/build/function-builder.ts';
import type { Executable } from '../../src/bytecode/file/executable-file.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import type {
  OperatorCall,
  PrimitiveFunction,
  TensorType,
} from '../../src/core/contracts/primitive-function.ts';

const SIZE = 192;
const dishOf = (size: number): TensorType => ({ dtype: 'float32', shape: [1, 1, size, size] });
const STENCIL: TensorType = { dtype: 'float32', shape: [1, 1, 3, 3] };
const RATE: TensorType = { dtype: 'float32', shape: [] };
const DEVICE = 0;

const DIFFUSION_U = 1;
const DIFFUSION_V = 0.5;
const LAPLACIAN = [0.05, 0.2, 0.05, 0.2, -1, 0.2, 0.05, 0.2, 0.05];

/** Lets the body of a primitive function be written as nested calls. */
class Body {
  readonly calls: OperatorCall[] = [];
  readonly #paramCount: number;

  constructor(paramCount: number) {
    this.#paramCount = paramCount;
  }

  op(op: string, inputs: readonly number[], attributes: OperatorCall['attributes'] = {}): number {
    return this.#paramCount + this.calls.push({ op, inputs, attributes }) - 1;
  }
}

interface PrimitiveDraft {
  readonly name: string;
  readonly params: readonly TensorType[];
  readonly result: TensorType;
  readonly write: (body: Body) => number;
}

function primitive({ name, params, result, write }: PrimitiveDraft): PrimitiveFunction {
  const body = new Body(params.length);
  const value = write(body);
  return { name, params, body: body.calls, results: [{ value, type: result }] };
}

const CONVOLUTION = { strides: [1, 1], pads: [1, 1, 1, 1], dilations: [1, 1], groups: 1 };
const ABSENT = -1;

/** `react` are convolutions with the reaction as their epilogue: one kernel each. */
function primitivesOf(dish: TensorType): PrimitiveFunction[] {
  const reactU = primitive({
    name: 'diffuse_and_feed',
    params: [dish, STENCIL, dish, RATE],
    result: dish,
    write: (body) => {
      const [u, stencil, v, feed] = [0, 1, 2, 3] as const;
      const spread = body.op('conv2d', [u, stencil, ABSENT], CONVOLUTION);
      const eaten = body.op('mul', [u, body.op('mul', [v, v])]);
      const fed = body.op('sub', [feed, body.op('mul', [feed, u])]);
      const change = body.op('add', [body.op('sub', [spread, eaten]), fed]);
      return body.op('add', [change, u]);
    },
  });

  const reactV = primitive({
    name: 'diffuse_and_grow',
    params: [dish, STENCIL, dish, RATE, RATE],
    result: dish,
    write: (body) => {
      const [v, stencil, u, feed, kill] = [0, 1, 2, 3, 4] as const;
      const spread = body.op('conv2d', [v, stencil, ABSENT], CONVOLUTION);
      const grown = body.op('mul', [u, body.op('mul', [v, v])]);
      const removed = body.op('mul', [body.op('add', [feed, kill]), v]);
      const change = body.op('sub', [body.op('add', [spread, grown]), removed]);
      return body.op('add', [change, v]);
    },
  });

  /** u (1 - spot): where the drop falls, u is displaced. */
  const displace = primitive({
    name: 'displace',
    params: [dish, dish],
    result: dish,
    write: (body) => body.op('sub', [0, body.op('mul', [0, 1])]),
  });

  const drip = primitive({
    name: 'drip',
    params: [dish, dish],
    result: dish,
    write: (body) => body.op('maximum', [0, 1]),
  });
  return [reactU, reactV, displace, drip];
}

const INT: ValueType = { kind: 'int' };
const tensor = (type: TensorType): ValueType => ({ kind: 'tensor', ...type });
const stateOf = (dish: ValueType) => [
  { name: 'u', type: dish },
  { name: 'v', type: dish },
];

/** A new dish in a storage of its own. The allocator reuses what earlier runs gave back. */
function allocate(b: ExecBuilder, f: FunctionBuilder, dish: TensorType): RegisterOperand {
  const shape = dish.shape.map(Number);
  const byteLength = shape.reduce((product, dim) => product * dim, 4);
  const storage = f.call('vm.builtin.alloc_storage', [byteLength, DEVICE]);
  const made = f.call('vm.builtin.alloc_tensor', [storage, 0, b.shape(shape), b.dtype('float32')]);
  // The tensor holds the storage; the register need not.
  f.call('vm.builtin.kill', [], { into: storage });
  return made;
}

/**
 * `main(u, v, feed, kill, pairs)` takes two steps for each of `pairs`: there and back between
 * two pairs of buffers, so that nothing is allocated or copied inside the loop.
 */
function buildMain(b: ExecBuilder, dish: TensorType): void {
  const names = ['u', 'v', 'feed', 'kill', 'pairs'];
  const params = [tensor(dish), tensor(dish), tensor(RATE), tensor(RATE), INT];
  const signature: FunctionSignature = { params, results: stateOf(tensor(dish)) };
  const f = b.function('main', names, { signature });
  const [feed, kill, pairs] = [f.param('feed'), f.param('kill'), f.param('pairs')];
  const stencil = (rate: number) =>
    b.tensor(
      HostTensor.from(
        'float32',
        [1, 1, 3, 3],
        LAPLACIAN.map((weight) => rate * weight),
      ),
    );
  // The caller's tensors stay as they are: the loop works on copies.
  const here = {
    u: f.call('vm.builtin.copy', [f.param('u')]),
    v: f.call('vm.builtin.copy', [f.param('v')]),
  };
  const there = { u: allocate(b, f, dish), v: allocate(b, f, dish) };
  const step = (from: typeof here, to: typeof here): void => {
    const { u, v } = from;
    f.call('diffuse_and_feed', [u, stencil(DIFFUSION_U), v, feed, to.u]);
    f.call('diffuse_and_grow', [v, stencil(DIFFUSION_V), u, feed, kill, to.v]);
  };
  const loop = f.label();
  const done = f.label();
  const count = f.call('vm.builtin.int_add', [0, 0]);
  f.place(loop);
  f.if(f.call('vm.builtin.int_lt', [count, pairs]), done);
  step(here, there);
  step(there, here);
  f.call('vm.builtin.int_add', [count, 1], { into: count });
  f.goto(loop);
  f.place(done);
  for (const register of [there.u, there.v]) {
    f.call('vm.builtin.kill', [], { into: register });
  }
  f.ret(f.call('vm.builtin.make_tuple', [here.u, here.v]));
}

/** `drop(u, v, spot)` adds reagent where `spot`, from 0 to 1, is. */
function buildDrop(b: ExecBuilder, dish: TensorType): void {
  const params = [tensor(dish), tensor(dish), tensor(dish)];
  const signature = { params, results: stateOf(tensor(dish)) };
  const f = b.function('drop', ['u', 'v', 'spot'], { signature });
  const u = allocate(b, f, dish);
  const v = allocate(b, f, dish);
  f.call('displace', [f.param('u'), f.param('spot'), u]);
  f.call('drip', [f.param('v'), f.param('spot'), v]);
  f.ret(f.call('vm.builtin.make_tuple', [u, v]));
}

/** For dishes of `size` by `size` cells. */
export function buildReactionDiffusion(size = SIZE): Executable {
  const dish = dishOf(size);
  const b = new ExecBuilder();
  b.metadata('title', 'Reaction-diffusion (Gray-Scott)');
  for (const fn of primitivesOf(dish)) b.primitive(fn);
  buildMain(b, dish);
  buildDrop(b, dish);
  return b.build();
}
