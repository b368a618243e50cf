// Writes public/models/reaction-diffusion.weft: node scripts/run-ts.mjs scripts/make-reaction-diffusion.ts
//
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
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ExecBuilder } from '../src/bytecode/exec-builder.ts';
import type { FunctionSignature, ValueType } from '../src/bytecode/executable.ts';
import type { FunctionBuilder, RegisterOperand } from '../src/bytecode/function-builder.ts';
import type { Executable } from '../src/bytecode/executable-file.ts';
import { HostTensor } from '../src/core/host-tensor.ts';
import type {
  OperatorCall,
  PrimitiveFunction,
  TensorType,
} from '../src/core/primitive-function.ts';

const SIZE = 192;
const DISH: TensorType = { dtype: 'float32', shape: [1, 1, SIZE, SIZE] };
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

/** A convolution with the reaction as its epilogue: one kernel. */
const REACT_U = primitive({
  name: 'diffuse_and_feed',
  params: [DISH, STENCIL, DISH, RATE],
  result: DISH,
  write: (body) => {
    const [u, stencil, v, feed] = [0, 1, 2, 3] as const;
    const spread = body.op('conv2d', [u, stencil, ABSENT], CONVOLUTION);
    const eaten = body.op('mul', [u, body.op('mul', [v, v])]);
    const fed = body.op('sub', [feed, body.op('mul', [feed, u])]);
    const change = body.op('add', [body.op('sub', [spread, eaten]), fed]);
    return body.op('add', [change, u]);
  },
});

const REACT_V = primitive({
  name: 'diffuse_and_grow',
  params: [DISH, STENCIL, DISH, RATE, RATE],
  result: DISH,
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
const DISPLACE = primitive({
  name: 'displace',
  params: [DISH, DISH],
  result: DISH,
  write: (body) => body.op('sub', [0, body.op('mul', [0, 1])]),
});

const DRIP = primitive({
  name: 'drip',
  params: [DISH, DISH],
  result: DISH,
  write: (body) => body.op('maximum', [0, 1]),
});

const tensor = (type: TensorType): ValueType => ({ kind: 'tensor', ...type });
const dish = tensor(DISH);
const state = [
  { name: 'u', type: dish },
  { name: 'v', type: dish },
];

const MAIN_SIGNATURE: FunctionSignature = {
  params: [dish, dish, tensor(RATE), tensor(RATE), { kind: 'int' }],
  results: state,
};

/** A new dish in a storage of its own. The allocator reuses what earlier runs gave back. */
function allocate(b: ExecBuilder, f: FunctionBuilder): RegisterOperand {
  const shape = DISH.shape.map(Number);
  const storage = f.call('vm.builtin.alloc_storage', [4 * SIZE * SIZE, DEVICE]);
  const made = f.call('vm.builtin.alloc_tensor', [storage, 0, b.shape(shape), b.dtype('float32')]);
  // The tensor holds the storage; the register need not.
  f.call('vm.builtin.kill', [], { into: storage });
  return made;
}

/**
 * `main(u, v, feed, kill, pairs)` takes two steps for each of `pairs`: there and back between
 * two pairs of buffers, so that nothing is allocated or copied inside the loop.
 */
function buildMain(b: ExecBuilder): void {
  const params = ['u', 'v', 'feed', 'kill', 'pairs'];
  const f = b.function('main', params, { signature: MAIN_SIGNATURE });
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
  const there = { u: allocate(b, f), v: allocate(b, f) };
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
function buildDrop(b: ExecBuilder): void {
  const signature = { params: [dish, dish, dish], results: state };
  const f = b.function('drop', ['u', 'v', 'spot'], { signature });
  const u = allocate(b, f);
  const v = allocate(b, f);
  f.call('displace', [f.param('u'), f.param('spot'), u]);
  f.call('drip', [f.param('v'), f.param('spot'), v]);
  f.ret(f.call('vm.builtin.make_tuple', [u, v]));
}

export function buildReactionDiffusion(): Executable {
  const b = new ExecBuilder();
  b.metadata('title', 'Reaction-diffusion (Gray-Scott)');
  for (const fn of [REACT_U, REACT_V, DISPLACE, DRIP]) b.primitive(fn);
  buildMain(b);
  buildDrop(b);
  return b.build();
}

export function main(): Promise<number> {
  const folder = fileURLToPath(new URL('../public/models/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const bytes = buildReactionDiffusion().toBytes();
  writeFileSync(`${folder}reaction-diffusion.weft`, bytes);
  console.log(`public/models/reaction-diffusion.weft: ${bytes.byteLength} bytes`);
  return Promise.resolve(0);
}
