import { ExecBuilder } from '../../bytecode/index.ts';
import type { Executable } from '../../bytecode/index.ts';
import { storageByteLength } from '../../core/tensor/dtype.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { planOnHost } from '../../device/host/host-plan.ts';
import { bindAttributes } from '../../ops/bind-attributes.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';

/**
 * A program whose function `main` takes the inputs of a kernel and runs its operators one by one, each in a kernel of its
 * own, in their order. It gives a tuple of all their results. `inputs` and `results` tell the sizes. Undefined for a kernel
 * with operators that are not ours.
 */
export function unfuseKernel(
  primitive: PrimitiveFunction,
  inputs: readonly HostTensor[],
  results: readonly Shape[],
): Executable | undefined {
  if (primitive.body.some(({ op }) => CORE_OPERATORS.get(op) === undefined)) return undefined;
  const operators = CORE_OPERATORS;
  const params = inputs.map(({ dtype, shape }) => ({ dtype, shape }));
  const { types } = planOnHost(primitive, params, { operators, results });
  const shapes = { params: params.map(({ shape }) => shape), results };
  const body = bindAttributes(primitive, shapes, operators);
  const b = new ExecBuilder();
  const f = b.function(
    'main',
    params.map((_, i) => `x${i}`),
  );
  const values = params.map((_, i) => f.param(`x${i}`));
  for (const [i, call] of body.entries()) {
    const read = [...new Set(call.inputs.filter((value) => value >= 0))];
    const type = types[params.length + i];
    if (type === undefined) return undefined;
    b.definePrimitive({
      name: nameOf(i),
      params: read.flatMap((value) => types[value] ?? []),
      body: [{ ...call, inputs: call.inputs.map((value) => read.indexOf(value)) }],
      results: [{ value: read.length, type }],
    });
    const byteLength = storageByteLength(type.dtype, elementCount(type.shape));
    const storage = f.call('vm.builtin.alloc_storage', [b.int(byteLength), 0]);
    const tensor = f.call('vm.builtin.alloc_tensor', [
      storage,
      0,
      b.shape(type.shape),
      b.dtype(type.dtype),
    ]);
    f.call(nameOf(i), [...read.flatMap((value) => values[value] ?? []), tensor], { into: f.void });
    values.push(tensor);
  }
  f.ret(f.call('vm.builtin.make_tuple', values.slice(params.length)));
  return b.build();
}

const nameOf = (index: number): string => `operator${index}`;
