import type { KernelPart, KernelSource } from '../../core/contracts/kernel-source.ts';
import type {
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import { returnsTensor } from '../../core/contracts/returns-tensor.ts';
import { formatShape } from '../../core/tensor/shape.ts';
import type { OperatorTable } from '../../ops/operator.ts';
import type { Local } from '../../wasm/expression.ts';
import { printFunction } from '../../wasm/print-function.ts';
import { hostSource, printStep } from '../host/kernel-source.ts';
import { sourceShapes } from '../source-shapes.ts';
import type { PlannedKernel } from './planned-kernel.ts';
import type { StepPlan } from './step-plan.ts';

interface Planning {
  readonly latest: PlannedKernel | undefined;
  readonly plan: (types: readonly ConcreteTensorType[]) => PlannedKernel;
  readonly operators: OperatorTable;
}

/** The loop nests of a kernel; of steps without code, which references run. Throws what planning throws. */
export function wasmSource(
  primitive: PrimitiveFunction,
  { latest, plan, operators }: Planning,
): KernelSource {
  if (returnsTensor(primitive)) return hostSource(primitive, undefined, operators);
  const types = [...primitive.params, ...primitive.results.map(({ type }) => type)];
  const { length } = primitive.params;
  const known = latest?.types.map(({ shape }) => shape);
  const { params, results, sizes } = sourceShapes(
    primitive,
    known && { params: known.slice(0, length), results: known.slice(length) },
  );
  const shapes = [...params, ...results];
  const planned = latest ?? plan(types.map(({ dtype }, i) => ({ dtype, shape: shapes[i] ?? [] })));
  const parts = planned.plan.steps.map((step, i): KernelPart => {
    const own = planned.steps[i];
    if (own === undefined) return printStep(step, planned.plan.types);
    return { label: step.label, code: printPlan(own, planned.plan.types) };
  });
  return { kernel: primitive.name, language: 'wasm', shapes, sizes, parts };
}

function printPlan(plan: StepPlan, types: readonly ConcreteTensorType[]): string {
  const { values, packs, scratch, params, units, functions, body } = plan;
  const names = [
    ...values.map((value) => `value${value}`),
    ...packs.map((_, i) => `packed${i}`),
    ...scratch.map((_, i) => `scratch${i}`),
    'first',
    'end',
  ];
  const named = new Map<Local, string>(params.map((param, i) => [param, names[i] ?? `p${i}`]));
  const head = [
    ...values.map((value, i) => {
      const type = types[value];
      return `${names[i]}: ${type?.dtype} ${formatShape(type?.shape ?? [])}`;
    }),
    ...packs.map(
      ({ value, layout, byteLength }, i) =>
        `packed${i}: value${value} as ${layout}, ${byteLength} bytes`,
    ),
    ...scratch.map((byteLength, i) => `scratch${i}: ${byteLength} bytes`),
    `first, end: units of ${units}`,
  ];
  const packing = packs.flatMap((pack) => pack.functions);
  return [
    head.map((line) => `// ${line}\n`).join(''),
    printFunction({ name: 'step', params, body }, named),
    ...[...functions, ...packing].map((fn) => printFunction(fn)),
  ].join('\n');
}
