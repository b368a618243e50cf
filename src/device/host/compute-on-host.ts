import { internalError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type {
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import { bindAttributes } from '../../ops/bind-attributes.ts';
import { referenceResult } from '../../ops/compute-reference.ts';
import { inferConcreteCall } from '../../ops/infer-concrete-call.ts';
import { opReference } from '../../ops/tables/references.ts';
import { requireOperator } from './host-plan.ts';
import type { KernelContext } from './kernel-context.ts';

/** The result of a primitive of one call whose shape depends on elements. */
export function computeOnHost(
  primitive: PrimitiveFunction,
  inputs: readonly HostTensor[],
  context: KernelContext,
): HostTensor {
  const { operators, computes } = context;
  const shapes = { params: inputs.map(({ shape }) => shape), results: [] };
  const [call] = bindAttributes(primitive, shapes, operators);
  if (call === undefined) throw internalError(`${primitive.name} has no call`);
  const op = requireOperator(operators, call.op);
  const operands = call.inputs.map((input) => inputs[input]);
  const { attributes, output } = inferConcreteCall(op, operands, call.attributes);
  context.launched();
  const started = performance.now();
  const result = computes
    ? referenceResult(op, opReference(op), { inputs: operands, attributes, output })
    : emptyOf(output);
  context.timings()?.push({
    primitive: primitive.name,
    label: op.name,
    workgroups: [1, 1, 1],
    durationMs: computes ? performance.now() - started : undefined,
    beginMs: started,
  });
  return result;
}

/** Without elements along axes whose size depends on elements. */
function emptyOf({ dtype, shape }: ConcreteTensorType): HostTensor {
  return HostTensor.zeros(
    dtype,
    shape.map((dim) => Math.max(dim, 0)),
  );
}
